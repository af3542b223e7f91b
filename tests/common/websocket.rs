//! A WebSocket as a stream of lines, for peers that read and write streams. The frames are made and read by
//! the codec of the crate's own client. Frames that break a rule are made by the conformance suite, which
//! judges what becomes of them, and by its mutants in `tests/programs/conform/relay.rs`.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use plyd::client::websocket::{ControlFrame, Decoder, Encoder, Opening};

/// Asks for a WebSocket at `/ws` and gives both of its ends as streams of lines.
pub(crate) fn open(mut stream: TcpStream) -> (Lines, Messages) {
    let address = stream.peer_addr().expect("it is connected");
    let opening = Opening::default();
    stream.write_all(&opening.request(&address.to_string())).expect("it takes a request");
    let mut input = stream.try_clone().expect("a second handle");
    let mut head = Vec::new();
    while opening.answered(&head).expect("a WebSocket").is_none() {
        let mut byte = [0];
        input.read_exact(&mut byte).expect("an answer");
        head.push(byte[0]);
    }
    let messages = Messages { input, decoder: Decoder::default(), text: Vec::new(), is_closed: false };
    (Lines { out: stream, encoder: Encoder::default() }, messages)
}

/// Sends each line as a text message.
pub(crate) struct Lines {
    out: TcpStream,
    encoder: Encoder,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut frames = Vec::new();
        self.encoder.lines(bytes, &mut frames);
        self.out.write_all(&frames)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads each text message as a line; ends where the server closes.
pub(crate) struct Messages {
    input: TcpStream,
    decoder: Decoder,
    text: Vec<u8>,
    is_closed: bool,
}

impl Read for Messages {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut chunk = [0; 16 << 10];
        while self.text.is_empty() && !self.is_closed {
            let count = self.input.read(&mut chunk)?;
            // Pings stay unanswered: no test is silent for so long that the server would mind.
            let controls =
                self.decoder.take(&mut chunk[..count], &mut self.text).expect("frames by the rules");
            let is_close = |control: &ControlFrame| matches!(control, ControlFrame::Close(_));
            self.is_closed = count == 0 || controls.iter().any(is_close);
        }
        let count = bytes.len().min(self.text.len());
        bytes[..count].copy_from_slice(&self.text[..count]);
        self.text.drain(..count);
        Ok(count)
    }
}
