//! Four connections that send lines of 14 KB as fast as they are taken, beside one that asks for signs of life.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::zobrist::SplitMix64;
use plyd_protocol::{Command, Ping};

use crate::Promises;
use crate::control::Control;
use crate::markdown::{Table, ms};
use crate::samples::Samples;
use crate::server::{Outcome, Server};

const FLOODS: usize = 4;
const LINE_BYTES: usize = 14 << 10;

/// Measures alone and beside the floods, on one daemon.
pub(crate) fn measure(daemon: &Path, time: Duration) -> Outcome<(Table, Promises)> {
    let server = Server::start(daemon, &[])?;
    let alone = pings(&server, time)?;
    let sent = AtomicU64::new(0);
    let streams = (0..FLOODS).map(|_| greeted(&server)).collect::<Outcome<Vec<_>>>()?;
    let beside = thread::scope(|scope| {
        for stream in &streams {
            scope.spawn(|| flood(stream, &sent));
            scope.spawn(|| drain(stream));
        }
        thread::sleep(Duration::from_millis(500));
        let beside = pings(&server, time);
        for stream in &streams {
            let _closed_already = stream.shutdown(Shutdown::Both);
        }
        beside
    })?;
    let mut table = Table::new(["ping", "n", "p50, ms", "p99", "max", "control p50", "control p99"]);
    for (name, (times, control)) in [("alone", &alone), ("beside four floods", &beside)] {
        let (own, control) = (times.percentiles(), control.percentiles());
        table.row([
            name.to_owned(),
            times.len().to_string(),
            ms(own.map(|it| it.p50)),
            ms(own.map(|it| it.p99)),
            ms(own.map(|it| it.max)),
            ms(control.map(|it| it.p50)),
            ms(control.map(|it| it.p99)),
        ]);
    }
    let mut promises = Promises::new();
    let p50 = beside.0.percentiles().map_or(i64::MAX, |it| it.p50);
    promises.add("ping p50 under 1 ms", format!("{} ms", ms(Some(p50))), p50 < 1000);
    let mb = sent.into_inner() / 1_000_000;
    promises.add("flooded meanwhile", format!("{mb} MB"), true);
    Ok((table, promises))
}

fn pings(server: &Server, time: Duration) -> Outcome<(Samples, Samples)> {
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
fn flood(mut stream: &TcpStream, sent: &AtomicU64) {
    let mut line = br#"{"id":"p","cmd":"ping","x_padding":""#.to_vec();
    line.resize(LINE_BYTES - 3, b'x');
    line.extend(b"\"}\n");
    while stream.write_all(&line).is_ok() {
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
