//! Mutated lines by the million to the real binary: each that is not blank gets one final message, and none
//! ends anything.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use plyd::cli::columns::{Columns, grouped};
use plyd::zobrist::SplitMix64;
use plyd_protocol::Envelope;

use crate::LoadReport;
use crate::level::Level;
use crate::server::{Outcome, PLYD, Server};

/// Connections at once.
const CONNECTIONS: u64 = 8;
/// Lines that are sent before their answers are waited for; fewer than may be in flight.
const BATCH: usize = 200;
/// The longest wait for the answers to a batch.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Lines that are fine, to be mutated.
const FINE: [&str; 15] = [
    r#"{"id":"a","cmd":"hello","protocol":{"min":1,"max":1},"require":[],"on_eof":"stop"}"#,
    r#"{"id":"b","cmd":"ping","echo":"\ud83c\udfb2 é"}"#,
    r#"{"id":"c","cmd":"describe","what":"game","game":"l-game"}"#,
    r#"{"id":"d","cmd":"newgame","session":"s","game":"isolation","rules":{"width":5,"height":4},"seed":"ff"}"#,
    r#"{"id":"e","cmd":"setoption","session":"s","options":{"depth":3,"player":"alphabeta","hash_mb":1}}"#,
    r#"{"id":"f","cmd":"inspect","game":"l-game","position":{"start":"3 1 W 1 1 4 4 2 4 E 1"},"want":["board","moves"]}"#,
    r#"{"id":"g","cmd":"go","session":"s","position":{"moves":["a1","c3"]},"limit":{"nodes":100},"multipv":2}"#,
    r#"{"id":"h","cmd":"go","game":"l-game","position":{},"clock":{"kind":"increment","me_ms":5,"inc_ms":1}}"#,
    r#"{"id":"i","cmd":"go","game":"isolation","position":{"start":"1../.../..2 1"},"mode":"analyse","info":{"events":["best"]}}"#,
    r#"{"id":"j","cmd":"update","target":"g","limit":{"nodes":5},"mode":"move"}"#,
    r#"{"id":"k","cmd":"stop","all":true,"discard":false}"#,
    r#"{"id":"l","cmd":"close","session":"s"}"#,
    r#"{"id":"m","cmd":"status"}"#,
    r#"{"id":"n","cmd":"inspect","game":"sudoku","rules":{"m":2,"n":2},"position":{"moves":["0 0 1"]},"want":["legal","state"]}"#,
    r#"{"id":"o","cmd":"inspect","game":"ijk","position":{},"want":["chance","text","hash","eval","record"]}"#,
];

/// What was counted.
#[derive(Default)]
struct Counts {
    sent: u64,
    bytes: u64,
    finals: u64,
    results: u64,
    moves: u64,
    errors: u64,
    infos: u64,
}

/// Sends so many lines; a tenth of them before as a warm-up.
pub(crate) fn run(lines: u64, seed: u64) -> Outcome<LoadReport> {
    let server = Server::start(PLYD, &["--hash-mb", "64"])?;
    load(&server, lines / 10, seed)?;
    let before = Level::at_rest(&server)?;
    let began = Instant::now();
    let counts = load(&server, lines, seed.wrapping_add(1))?;
    let seconds = began.elapsed().as_secs_f64();
    let after = Level::settled(&server, &before)?;
    let mut table = Columns::new(["what", "count"]);
    for (name, count) in [
        ("lines sent", counts.sent),
        ("bytes sent", counts.bytes),
        ("final messages", counts.finals),
        ("results", counts.results),
        ("moves", counts.moves),
        ("errors", counts.errors),
        ("infos", counts.infos),
    ] {
        table.row([name.to_owned(), grouped(count)]);
    }
    let mut complaints = after.leaks(&before);
    if counts.finals != counts.sent {
        complaints.push(format!("{} lines, {} final messages", counts.sent, counts.finals));
    }
    Ok(LoadReport {
        heading: format!(
            "{} mutated lines over {CONNECTIONS} connections in {seconds:.1} s",
            grouped(counts.sent)
        ),
        counts: table,
        levels: Level::table(&before, &after),
        complaints,
    })
}

fn load(server: &Server, lines: u64, seed: u64) -> Outcome<Counts> {
    let senders: Vec<_> = (0..CONNECTIONS)
        .map(|index| {
            let stream = TcpStream::connect(server.address());
            let share = lines / CONNECTIONS + u64::from(index < lines % CONNECTIONS);
            let random = SplitMix64::new(seed.wrapping_mul(1_000_003).wrapping_add(index));
            thread::spawn(move || {
                Sender { stream: stream?, random, seq: 0, unread: Vec::new(), counts: Counts::default() }
                    .run(share)
            })
        })
        .collect();
    let mut total = Counts::default();
    for sender in senders {
        let counts = sender.join().map_err(|_| "a connection's thread panicked")??;
        total.sent += counts.sent;
        total.bytes += counts.bytes;
        total.finals += counts.finals;
        total.results += counts.results;
        total.moves += counts.moves;
        total.errors += counts.errors;
        total.infos += counts.infos;
    }
    Ok(total)
}

/// One connection's share.
struct Sender {
    stream: TcpStream,
    random: SplitMix64,
    /// The number of the last message.
    seq: u64,
    /// The beginning of a message whose end has not come.
    unread: Vec<u8>,
    counts: Counts,
}

impl Sender {
    fn run(mut self, share: u64) -> Outcome<Counts> {
        self.stream.set_read_timeout(Some(TIMEOUT))?;
        self.stream.set_nodelay(true)?;
        self.batch(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n", 1)?;
        let mut bytes = Vec::new();
        while self.counts.sent < share {
            bytes.clear();
            let mut owed = 0;
            for _ in 0..BATCH.min((share - self.counts.sent) as usize).max(1) {
                let line = self.line();
                // Blank lines are skipped, without an answer.
                owed += u64::from(line.iter().any(|byte| !b" \t\r".contains(byte)));
                bytes.extend(line);
                bytes.push(b'\n');
            }
            // Whatever was made endless ends.
            bytes.extend(b"{\"id\":\"end\",\"cmd\":\"stop\",\"all\":true}\n");
            self.batch(&bytes, owed + 1)
                .map_err(|error| format!("{error}, after {}", String::from_utf8_lossy(&bytes)))?;
        }
        Ok(self.counts)
    }

    /// Sends lines and waits for as many final messages.
    fn batch(&mut self, bytes: &[u8], owed: u64) -> Outcome<()> {
        self.stream.write_all(bytes)?;
        self.counts.bytes += bytes.len() as u64;
        self.counts.sent += owed;
        let mut chunk = [0; 64 << 10];
        while self.counts.finals < self.counts.sent {
            let count = match self.stream.read(&mut chunk) {
                Ok(0) => return Err("the connection was closed".into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let missing = self.counts.sent - self.counts.finals;
                    return Err(format!("{error}: {missing} final messages are missing").into());
                }
            };
            self.unread.extend_from_slice(&chunk[..count]);
            let unread = std::mem::take(&mut self.unread);
            let end = unread.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            for message in unread[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                self.take(message)?;
            }
            self.unread.extend_from_slice(&unread[end..]);
        }
        if self.counts.finals > self.counts.sent {
            return Err("more final messages than lines".into());
        }
        Ok(())
    }

    /// Counts a message. Only some are read whole, so that the daemon has the cores.
    fn take(&mut self, message: &[u8]) -> Outcome<()> {
        self.seq += 1;
        let mut beginning = String::new();
        write!(beginning, "{{\"seq\":{},\"t_us\":", self.seq)?;
        if !message.starts_with(beginning.as_bytes()) {
            return Err(format!("not number {}: {}", self.seq, String::from_utf8_lossy(message)).into());
        }
        if self.seq.is_multiple_of(16) {
            Envelope::read(message)?;
        }
        let rest = &message[beginning.len()..];
        let comma = rest.iter().position(|byte| *byte == b',').ok_or("a message of two fields")?;
        let kind = rest[comma..].strip_prefix(b",\"type\":\"").unwrap_or_default();
        let counts = &mut self.counts;
        let counter = match kind.split(|byte| *byte == b'"').next() {
            Some(b"info") => &mut counts.infos,
            Some(b"result") => &mut counts.results,
            Some(b"bestmove") => &mut counts.moves,
            Some(b"error") => &mut counts.errors,
            // Notices are about no request.
            Some(b"notice") => return Ok(()),
            _ => return Err(format!("of no type: {}", String::from_utf8_lossy(message)).into()),
        };
        *counter += 1;
        counts.finals = counts.results + counts.moves + counts.errors;
        Ok(())
    }

    /// A line without its end: random bytes, or a fine line with some changes.
    fn line(&mut self) -> Vec<u8> {
        let mut line: Vec<u8> = match self.random.below(16) {
            0 => (0..self.random.below(200)).map(|_| self.random.next() as u8).collect(),
            _ => FINE[self.random.below(FINE.len())].into(),
        };
        for _ in 0..self.random.below(4) {
            self.mutate(&mut line);
        }
        line.retain(|byte| *byte != b'\n');
        line
    }

    fn mutate(&mut self, line: &mut Vec<u8>) {
        const WORDS: [&str; 12] = [
            "{}",
            "[]",
            "null",
            "-1",
            "1e400",
            "9007199254740992",
            "\"\"",
            "\\ud800",
            "\\u0000",
            ",",
            "é",
            "\u{feff}",
        ];
        let at = self.random.below(line.len() + 1);
        match self.random.below(7) {
            0 => line.insert(at, self.random.next() as u8),
            1 if at < line.len() => line[at] = self.random.next() as u8,
            2 if at < line.len() => drop(line.remove(at)),
            3 => line.truncate(at),
            4 => line.extend_from_within(at..),
            5 => {
                let other = FINE[self.random.below(FINE.len())].as_bytes();
                line.truncate(at);
                line.extend(&other[self.random.below(other.len())..]);
            }
            _ => drop(line.splice(at..at, WORDS[self.random.below(WORDS.len())].bytes())),
        }
    }
}
