//! One answer that is larger than what may wait for a reader.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::Process;

use crate::finding::{Figure, Finding, LOST, figure, launch, words};
use crate::server::Outcome;

/// The moves of an empty board.
pub(crate) const FINDING: Finding = Finding {
    lines: &[(
        "`inspect` with `moves` of the empty 25x25 Sudoku board on stdio (96 bytes)",
        "one answer, then `ping`",
    )],
    measure,
};

const QUESTION: &[u8] =
    b"{\"id\":\"i\",\"cmd\":\"inspect\",\"game\":\"sudoku\",\"rules\":{\"m\":5,\"n\":5},\"position\":{},\"want\":[\"moves\"]}\n";

/// How long the answer may take.
const TIME: Duration = Duration::from_secs(30);

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let mut launch = launch(build, &["serve", "--stdio"])?;
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process::spawn(launch)?;
    let mut stdin = process.take_stdin().ok_or("no input")?;
    let stdout = BufReader::new(process.take_stdout().ok_or("no output")?);
    let (read, lines) = mpsc::channel();
    // It ends with the process.
    thread::spawn(move || {
        stdout.split(b'\n').map_while(Result::ok).try_for_each(|line| read.send((Instant::now(), line)))
    });
    let began = Instant::now();
    stdin.write_all(QUESTION)?;
    let Ok((at, answer)) = lines.recv_timeout(TIME) else {
        let text = match process.wait_exit(Instant::now())? {
            Some(status) => format!("no answer, {}", words(status)),
            None => format!("none in {} s", TIME.as_secs()),
        };
        return Ok(vec![figure(text, false)]);
    };
    let is_result = answer.windows(15).any(|part| part == br#""type":"result""#);
    let kind = if is_result { "answered" } else { "refused" };
    let text =
        format!("{kind}: {:.1} MB after {:.1} s", answer.len() as f64 / 1e6, (at - began).as_secs_f64());
    stdin.write_all(b"{\"id\":\"p\",\"cmd\":\"ping\"}\n")?;
    let lives = lines.recv_timeout(LOST).is_ok_and(|(_, pong)| pong.windows(4).any(|part| part == b"ping"));
    Ok(vec![figure(text, lives)])
}
