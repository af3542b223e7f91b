//! A server whose WebSocket breaks one rule: our own daemon behind a relay that changes frames on their way.
//!
//! What is changed is data, a row of `mutants.txt` that begins with `ws`. Frames are read and written here,
//! since they break rules that every other codec keeps.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Which part of a direction is changed.
#[derive(Clone, Debug)]
enum Part {
    /// The request for a WebSocket, or its answer.
    Head,
    /// Every frame.
    Frames,
    /// Those with this first byte.
    First(u8),
}

/// What becomes of it.
#[derive(Clone, Debug)]
enum Change {
    /// A part of the head becomes something else.
    Replace(String, String),
    /// The first byte becomes another one.
    First(u8),
    /// The payload is cut to so many bytes.
    Cut(usize),
    /// What is no UTF-8 in the payload is replaced.
    Lossy,
    /// A message for each line of the payload.
    Split,
    /// The frame has a mask.
    Mask,
    /// The length is written in the fewest bytes.
    Fewest,
    Drop,
}

/// A row of `mutants.txt` without its checks.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    is_of_client: bool,
    part: Part,
    change: Change,
}

struct Frame {
    first: u8,
    mask: Option<[u8; 4]>,
    /// How many bytes the length has behind the first one.
    width: usize,
    payload: Vec<u8>,
}

impl Relay {
    /// Reads `wsDIRECTION PART` and the change.
    pub(crate) fn read(part: &str, change: &str) -> Self {
        let (direction, part) = part.split_once(' ').expect("a direction and a part");
        let byte = |text: &str| u8::from_str_radix(text, 16).expect("two hex digits");
        let part = match part {
            "head" => Part::Head,
            "*" => Part::Frames,
            first => Part::First(byte(first)),
        };
        let (verb, rest) = change.split_once(' ').unwrap_or((change, ""));
        let change = match verb {
            "replace" => {
                let (old, new) = rest.split_once(' ').expect("two words");
                Change::Replace(old.to_owned(), new.to_owned())
            }
            "first" => Change::First(byte(rest)),
            "cut" => Change::Cut(rest.parse().expect("a length")),
            "lossy" => Change::Lossy,
            "split" => Change::Split,
            "mask" => Change::Mask,
            "fewest" => Change::Fewest,
            "drop" => Change::Drop,
            _ => panic!("{change}"),
        };
        Self { is_of_client: direction == "ws>", part, change }
    }

    /// Serves in front of the daemon that listens there: its own address. The threads end with the process.
    pub(crate) fn listen(self, daemon: SocketAddr) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(self);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(daemon).expect("the daemon listens");
                for (input, output, is_of_client) in [(&client, &server, true), (&server, &client, false)] {
                    let [input, output] = [input, output].map(|stream| {
                        stream.set_nodelay(true).expect("a TCP option");
                        stream.try_clone().expect("a second handle")
                    });
                    let relay = Arc::clone(&shared);
                    thread::spawn(move || {
                        let _gone = relay.pass(is_of_client, &input, &output);
                        let end = if is_of_client { Shutdown::Write } else { Shutdown::Both };
                        let _closed_already = output.shutdown(end);
                    });
                }
            }
        });
        address
    }

    /// Passes a direction on until it ends or breaks.
    fn pass(&self, is_of_client: bool, input: &TcpStream, mut output: &TcpStream) -> io::Result<()> {
        let is_ours = is_of_client == self.is_of_client;
        let mut input = BufReader::new(input);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            input.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        if let (true, Change::Replace(old, new)) = (is_ours, &self.change) {
            head = String::from_utf8_lossy(&head).replace(&**old, new).into_bytes();
        }
        output.write_all(&head)?;
        loop {
            let frame = Frame::read(&mut input)?;
            let is_it = is_ours
                && match self.part {
                    Part::Head => false,
                    Part::Frames => true,
                    Part::First(first) => frame.first == first,
                };
            let frames = if is_it { self.changed(frame) } else { vec![frame] };
            let bytes: Vec<u8> = frames.iter().flat_map(Frame::bytes).collect();
            output.write_all(&bytes)?;
        }
    }

    fn changed(&self, mut frame: Frame) -> Vec<Frame> {
        match &self.change {
            Change::First(first) => frame.first = *first,
            Change::Cut(length) => {
                frame.payload.truncate(*length);
                frame.width = 0;
            }
            Change::Lossy => {
                frame.payload = String::from_utf8_lossy(&frame.payload).into_owned().into_bytes()
            }
            Change::Mask => frame.mask = frame.mask.or(Some([1, 2, 3, 4])),
            Change::Fewest => frame.width = 0,
            Change::Drop => return Vec::new(),
            Change::Split => {
                let lines = frame.payload.split(|&byte| byte == b'\n');
                let of = |line: &[u8]| Frame { payload: line.to_vec(), ..frame };
                return lines.map(of).collect();
            }
            Change::Replace(..) => {}
        }
        vec![frame]
    }
}

impl Frame {
    fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 2];
        input.read_exact(&mut head)?;
        let mut length = [0; 8];
        let width = match head[1] & 0x7f {
            126 => 2,
            127 => 8,
            short => {
                length[7] = short;
                0
            }
        };
        input.read_exact(&mut length[8 - width..])?;
        let mut mask = (head[1] & 0x80 != 0).then_some([0; 4]);
        if let Some(mask) = &mut mask {
            input.read_exact(mask)?;
        }
        let mut payload = vec![0; usize::try_from(u64::from_be_bytes(length)).expect("64 bits")];
        input.read_exact(&mut payload)?;
        Ok(Self { first: head[0], mask, width, payload: masked(&payload, mask) })
    }

    /// The frame with a length in as many bytes as before, or in more where those are too few.
    fn bytes(&self) -> Vec<u8> {
        let length = (self.payload.len() as u64).to_be_bytes();
        let fewest = match self.payload.len() {
            0..=125 => 0,
            126..=0xffff => 2,
            _ => 8,
        };
        let width = self.width.max(fewest);
        let second = match width {
            0 => length[7],
            2 => 126,
            _ => 127,
        };
        let mut bytes = vec![self.first, second | if self.mask.is_some() { 0x80 } else { 0 }];
        bytes.extend(&length[8 - width..]);
        bytes.extend(self.mask.iter().flatten());
        bytes.extend(masked(&self.payload, self.mask));
        bytes
    }
}

fn masked(payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let mask = mask.unwrap_or_default();
    payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}
