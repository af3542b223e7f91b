//! Peers that mean no good. Each does one thing to the daemon and leaves; whatever happens to it is right.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use plyd::zobrist::SplitMix64;

use crate::server::Outcome;

const HELLO: &[u8] = b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n";
const ENDLESS: &[u8] = b"{\"id\":\"g\",\"cmd\":\"go\",\"game\":\"isolation\",\"rules\":{\"preset\":\"11x9\"},\"position\":{},\
    \"clock\":{\"kind\":\"none\"},\"options\":{\"hash_mb\":1},\"info\":{\"events\":[\"best\",\"progress\"]}}\n";
const SHORT: &[u8] =
    b"{\"id\":\"s\",\"cmd\":\"go\",\"game\":\"l-game\",\"position\":{},\"limit\":{\"nodes\":2000}}\n";

/// What hostile peers do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Deed {
    /// Asks for an endless search and resets the connection.
    Reset,
    /// Asks for many answers and reads none.
    Stall,
    /// Sends long lines as fast as they are taken.
    Flood,
    /// Ends its input and reads on: what is owed to it must come, then the end.
    HalfClose,
    /// Connects many times and says nothing.
    Silence,
    /// Sends random bytes.
    Noise,
    /// Sends a request byte by byte.
    Drip,
    /// Sends one line of more than is allowed.
    Long,
    /// Asks for more than a connection may.
    Greed,
    /// Speaks HTTP.
    Http,
}

impl Deed {
    /// All of them.
    pub(crate) const ALL: [Self; 10] = [
        Self::Reset,
        Self::Stall,
        Self::Flood,
        Self::HalfClose,
        Self::Silence,
        Self::Noise,
        Self::Drip,
        Self::Long,
        Self::Greed,
        Self::Http,
    ];

    /// Does it for a second or two. Only what it owes itself to notice is an error: a half-closed connection
    /// without its answer. Everything else that can go wrong is the daemon's right, or the daemon is gone.
    pub(crate) fn run(self, address: SocketAddr, random: &mut SplitMix64) -> Outcome<()> {
        let Ok(mut stream) = TcpStream::connect(address) else {
            thread::sleep(Duration::from_millis(50));
            return Ok(());
        };
        let time = Duration::from_millis(100 + random.below(1500) as u64);
        let end = Instant::now() + time;
        for result in [stream.set_read_timeout(Some(time)), stream.set_write_timeout(Some(time))] {
            result?;
        }
        // What a deed's own connection comes to is nobody's concern.
        let _whatever_came = match self {
            Self::HalfClose => return half_close(stream),
            Self::Reset => stream.write_all(&[HELLO, ENDLESS].concat()).and_then(|()| {
                // Closing with unread bytes resets.
                stream.read_exact(&mut [0; 1])
            }),
            Self::Stall => {
                let wanted = [
                    HELLO,
                    ENDLESS,
                    &br#"{"id":"d","cmd":"describe","what":"schema"}
"#
                    .repeat(200),
                ]
                .concat();
                let written = stream.write_all(&wanted);
                thread::sleep(time);
                written
            }
            Self::Flood => {
                let line =
                    format!("{{\"id\":\"p\",\"cmd\":\"ping\",\"x_padding\":\"{}\"}}\n", "x".repeat(14 << 10));
                pour(&mut stream, line.as_bytes(), end)
            }
            Self::Silence => {
                let _others: Vec<_> = (0..random.below(100)).map(|_| TcpStream::connect(address)).collect();
                thread::sleep(time);
                Ok(())
            }
            Self::Noise => {
                let bytes: Vec<u8> = (0..4096).map(|_| random.next() as u8).collect();
                pour(&mut stream, &bytes, end)
            }
            Self::Drip => HELLO.iter().chain(SHORT).try_for_each(|byte| {
                thread::sleep(Duration::from_millis(random.below(20) as u64));
                stream.write_all(&[*byte])
            }),
            Self::Long => stream.write_all(HELLO).and_then(|()| stream.write_all(&vec![b'x'; 3 << 20])),
            Self::Greed => {
                let gos: Vec<u8> = (0..400)
                    .flat_map(|n| {
                        format!(
                            "{{\"id\":\"g{n}\",\"cmd\":\"go\",\"game\":\"isolation\",\"position\":{{}},\"clock\":{{\"kind\":\
                             \"none\"}},\"options\":{{\"hash_mb\":1,\"threads\":2}}}}\n"
                        )
                        .into_bytes()
                    })
                    .collect();
                let written = stream.write_all(&[HELLO, &gos].concat());
                thread::sleep(time);
                written
            }
            Self::Http => stream
                .write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .and_then(|()| stream.write_all(SHORT)),
        };
        Ok(())
    }
}

/// Writes again and again until the end, and reads what comes meanwhile so that it is no slow reader.
fn pour(stream: &mut TcpStream, bytes: &[u8], end: Instant) -> std::io::Result<()> {
    stream.write_all(HELLO)?;
    let mut reading = stream.try_clone()?;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut chunk = [0; 64 << 10];
            while reading.read(&mut chunk).is_ok_and(|count| count > 0) {}
        });
        let mut written = Ok(());
        while written.is_ok() && Instant::now() < end {
            written = stream.write_all(bytes);
        }
        let _closed_already = stream.shutdown(Shutdown::Both);
        written
    })
}

/// Asks for a move, ends the input, and reads the answer.
fn half_close(mut stream: TcpStream) -> Outcome<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut text = String::new();
    let came = stream
        .write_all(&[HELLO, SHORT].concat())
        .and_then(|()| stream.shutdown(Shutdown::Write))
        .and_then(|()| stream.read_to_string(&mut text));
    // A daemon that was killed resets, or closes in the middle; one that has no place for the connection does
    // not let it in.
    let is_let_in = text.contains("\"of\":\"hello\"");
    let is_answered =
        ["bestmove", "error"].iter().any(|kind| text.contains(&format!("\"type\":\"{kind}\",\"id\":\"s\"")));
    let last = text.lines().last().unwrap_or_default();
    match came {
        Ok(_) if is_let_in && !is_answered => {
            Err(format!("a half-closed connection ended without its answer, behind {last}").into())
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(format!("a half-closed connection has no end after 30 s, behind {last}").into())
        }
        Err(_) => Ok(()),
    }
}
