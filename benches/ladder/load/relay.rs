//! The control: the same hand-over without a ladder. A thread of this process takes lines from one socket and
//! writes them to another one, between threads like those of the bots.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plyd::zobrist::SplitMix64;

/// The pause between two hand-overs: any time below this many milliseconds, and five.
const PAUSE_MS: usize = 10;

/// The hand-overs, while this is there.
pub(crate) struct Relay {
    /// Closed, it ends the threads.
    first: TcpStream,
    threads: Vec<JoinHandle<io::Result<()>>>,
    sent: Receiver<Instant>,
    arrived: Receiver<Instant>,
}

/// Both ends of a connection of TCP.
fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let one = TcpStream::connect(listener.local_addr()?)?;
    let (other, _) = listener.accept()?;
    one.set_nodelay(true)?;
    other.set_nodelay(true)?;
    Ok((one, other))
}

impl Relay {
    /// Begins; `line` is what is handed over.
    pub(crate) fn start(line: &str) -> io::Result<Self> {
        let (first, taken) = pair()?;
        let (given, last) = pair()?;
        let (sends, sent) = mpsc::channel();
        let (arrives, arrived) = mpsc::channel();
        let (asker, line) = (first.try_clone()?, format!("{line}\n"));
        let threads = vec![
            thread::spawn(move || ask(asker, &line, &sends)),
            thread::spawn(move || hand_over(taken, given)),
            thread::spawn(move || read(last, &arrives)),
        ];
        Ok(Self { first, threads, sent, arrived })
    }

    /// The times of the hand-overs that are done and were not taken before.
    pub(crate) fn take(&self) -> Vec<Duration> {
        let arrived: Vec<Instant> = self.arrived.try_iter().collect();
        // One may be under way.
        let sent = self.sent.try_iter().take(arrived.len());
        sent.zip(arrived).map(|(sent, arrived)| arrived.duration_since(sent)).collect()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // The end of the one socket ends each of the threads.
        let _gone = self.first.shutdown(Shutdown::Both);
        for thread in self.threads.drain(..) {
            let _closed = thread.join();
        }
    }
}

fn ask(mut socket: TcpStream, line: &str, sent: &Sender<Instant>) -> io::Result<()> {
    let mut random = SplitMix64::new(1);
    loop {
        thread::sleep(Duration::from_millis(5 + random.below(PAUSE_MS) as u64));
        if sent.send(Instant::now()).is_err() {
            return Ok(());
        }
        socket.write_all(line.as_bytes())?;
    }
}

fn hand_over(from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        line.clear();
    }
    Ok(())
}

fn read(from: TcpStream, arrived: &Sender<Instant>) -> io::Result<()> {
    for line in BufReader::new(from).split(b'\n') {
        line?;
        if arrived.send(Instant::now()).is_err() {
            break;
        }
    }
    Ok(())
}
