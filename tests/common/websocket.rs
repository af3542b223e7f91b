//! A WebSocket as a stream of lines, in as few lines as the standard allows: masks of zeros, no fragments.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;

/// Asks for a WebSocket at `/ws` and gives both of its ends as streams of lines.
pub(crate) fn open(mut stream: TcpStream) -> (Lines, Messages) {
    let address = stream.peer_addr().expect("it is connected");
    let request = format!(
        "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("it takes a request");
    let mut input = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let mut byte = [0];
        input.read_exact(&mut byte).expect("an answer");
        head.push(byte[0].into());
    }
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    // The example of RFC 6455, 1.3.
    assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    (Lines { out: stream, line: Vec::new() }, Messages { input, message: Vec::new() })
}

/// A frame of a client.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..=125 => bytes.push(0x80 | short as u8),
        medium @ 126..=0xffff => {
            bytes.push(0x80 | 126);
            bytes.extend((medium as u16).to_be_bytes());
        }
        long => {
            bytes.push(0x80 | 127);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend_from_slice(payload);
    bytes
}

/// Sends each line as a text message.
pub(crate) struct Lines {
    out: TcpStream,
    line: Vec<u8>,
}

impl Lines {
    /// Sends bytes as they are, frames or not.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).expect("the server reads");
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut frames = Vec::new();
        for byte in bytes {
            if *byte == b'\n' {
                frames.extend(frame(0x81, &std::mem::take(&mut self.line)));
            } else {
                self.line.push(*byte);
            }
        }
        self.out.write_all(&frames)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads each text message as a line; ends where the server closes.
pub(crate) struct Messages {
    input: BufReader<TcpStream>,
    message: Vec<u8>,
}

impl Messages {
    /// The next frame's first byte and payload.
    pub(crate) fn next(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.input.read_exact(&mut head)?;
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.input.read_exact(&mut length)?;
                u16::from_be_bytes(length).into()
            }
            127 => {
                let mut length = [0; 8];
                self.input.read_exact(&mut length)?;
                u64::from_be_bytes(length)
            }
            short => u64::from(short),
        };
        let mut payload = Vec::new();
        (&mut self.input).take(length).read_to_end(&mut payload)?;
        if payload.len() as u64 != length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok((head[0], payload))
    }
}

impl Read for Messages {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.message.is_empty() {
            match self.next()? {
                (0x81, text) => {
                    assert!(!text.contains(&b'\n'), "a message is one line");
                    self.message = text;
                    self.message.push(b'\n');
                }
                (0x88, _) => return Ok(0),
                // Pings of an idle server.
                _ => {}
            }
        }
        let count = bytes.len().min(self.message.len());
        bytes[..count].copy_from_slice(&self.message[..count]);
        self.message.drain(..count);
        Ok(count)
    }
}
