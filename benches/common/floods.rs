//! Four connections that send long lines as fast as they are taken, beside one that asks for signs of life.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::zobrist::SplitMix64;
use plyd_protocol::{Command, Ping};

use crate::control::Control;
use crate::samples::Samples;
use crate::server::{Outcome, Server};

const FLOODS: usize = 4;

/// Asks for signs of life for so long beside floods of that line; the answers' times, the control's, and the
/// bytes that the floods sent.
pub(crate) fn pings_beside(server: &Server, time: Duration, line: &[u8]) -> Outcome<(Samples, Samples, u64)> {
    let sent = AtomicU64::new(0);
    let streams = (0..FLOODS).map(|_| greeted(server)).collect::<Outcome<Vec<_>>>()?;
    let beside = thread::scope(|scope| {
        for stream in &streams {
            scope.spawn(|| flood(stream, line, &sent));
            scope.spawn(|| drain(stream));
        }
        thread::sleep(Duration::from_millis(500));
        let beside = pings(server, time);
        for stream in &streams {
            let _closed_already = stream.shutdown(Shutdown::Both);
        }
        beside
    })?;
    Ok((beside.0, beside.1, sent.into_inner()))
}

/// Asks for signs of life for so long: the answers' times and the control's.
pub(crate) fn pings(server: &Server, time: Duration) -> Outcome<(Samples, Samples)> {
    let mut peer = server.connect()?;
    let mut control = Control::start();
    let mut random = SplitMix64::new(3);
    let mut times = Samples::default();
    let end = Instant::now() + time;
    while Instant::now() < end {
        let due = Instant::now() + Duration::from_micros(1000 + random.below(9000) as u64);
        control.sleep_to(due);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        let id = peer.send(Command::Ping(Ping::default()))?;
        times.add(sent, peer.wait(&id)?.last.at);
    }
    Ok((times, control.take()))
}

/// A connection after its handshake, as a plain stream.
fn greeted(server: &Server) -> Outcome<TcpStream> {
    let mut stream = TcpStream::connect(server.address())?;
    stream.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n")?;
    Ok(stream)
}

/// Sends until the connection is closed.
fn flood(mut stream: &TcpStream, line: &[u8], sent: &AtomicU64) {
    while stream.write_all(line).is_ok() {
        sent.fetch_add(line.len() as u64, Ordering::Relaxed);
    }
}

/// Reads until the connection is closed.
fn drain(mut stream: &TcpStream) {
    let mut chunk = [0; 64 << 10];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
