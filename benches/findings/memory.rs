//! Requests that wait, and the memory that they take.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::boards::{Board, SLOW};
use crate::finding::{Figure, Finding, figure, limited, words};
use crate::server::{Outcome, Server};

/// Two clients that send long lines behind slow questions.
pub(crate) const FINDING: Finding = Finding {
    lines: &[(
        "two clients send 60 lines of 1 MB each behind slow questions (`ulimit -v 2000000`): resident at most",
        "400 MiB, all answered",
    )],
    measure,
};

/// Those that keep the lines waiting: some seconds of work, if they are bounded.
const QUESTIONS: usize = 40;
const LINES: usize = 60;
/// Within this all is answered, or the daemon is gone.
const TIME: Duration = Duration::from_secs(60);
/// What the shell limits: address space in KiB.
const LIMIT: &str = "-v 2000000";

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let mut server = limited(build, LIMIT, &[], Stdio::null())?;
    let clients = [(); 2].map(|()| TcpStream::connect(server.address()));
    let clients = clients.into_iter().collect::<io::Result<Vec<_>>>()?;
    let (peak, answered) = thread::scope(|scope| {
        let threads: Vec<_> = clients
            .iter()
            .map(|stream| {
                scope.spawn(|| send(stream));
                scope.spawn(|| answers(stream))
            })
            .collect();
        let end = Instant::now() + TIME;
        let mut peak = 0;
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < end {
            // A process that was aborted has none.
            peak = peak.max(peak_mib(&server).unwrap_or(0));
            thread::sleep(Duration::from_millis(10));
        }
        for stream in &clients {
            let _closed_already = stream.shutdown(Shutdown::Both);
        }
        (peak, threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<usize>())
    });
    let all = 2 * (QUESTIONS + LINES);
    let grace = Duration::from_secs(if answered == all { 0 } else { 5 });
    let ended = server.wait_exit(Instant::now() + grace)?;
    let end = ended.map_or_else(String::new, |status| format!(", then {}", words(status)));
    let text = format!("{peak} MiB, {answered} of {all} answered{end}");
    Ok(vec![figure(text, peak < 400 && answered == all && ended.is_none())])
}

fn peak_mib(server: &Server) -> Outcome<u64> {
    Ok(server.proc_status("VmHWM:")? / 1024)
}

/// Sends all, unless the connection ends.
fn send(mut stream: &TcpStream) {
    let texts = "\"a\",".repeat(262_000);
    let texts = texts.trim_end_matches(',');
    let hello = "{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n";
    // Without a session they are answered one after the other.
    let slow = (0..QUESTIONS).map(|number| {
        let board = Board::new(SLOW[number % SLOW.len()]);
        format!(
            "{{\"id\":\"q{number}\",\"cmd\":\"inspect\",\"game\":\"sudoku\",\"rules\":{{\"m\":5,\"n\":5}},\
             \"position\":{{\"start\":\"{}\"}},\"want\":[\"moves\"]}}\n",
            board.start()
        )
    });
    let heavy = (0..LINES).map(|number| {
        format!("{{\"id\":\"i{number}\",\"cmd\":\"inspect\",\"game\":\"l-game\",\"position\":{{\"moves\":[{texts}]}}}}\n")
    });
    for line in [hello.to_owned()].into_iter().chain(slow).chain(heavy) {
        if stream.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// The answers that come behind that to `hello`, until all are there or the connection ends.
fn answers(stream: &TcpStream) -> usize {
    let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
    lines.skip(1).take(QUESTIONS + LINES).count()
}
