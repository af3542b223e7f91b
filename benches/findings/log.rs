//! A log that cannot be written or that nobody reads.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use plyd::client::Client;
use plyd_protocol::Message;

use crate::finding::{Figure, Finding, LOST, broken, figure, full, launch, limited, words};
use crate::server::Outcome;
use crate::strangers::greeted;

/// stderr that is full, closed or unread.
pub(crate) const FINDING: Finding = Finding {
    lines: &[
        ("`-v`, stderr on a full disk: 20 searches", "all answered, exit 0"),
        ("`-v`, stderr a closed pipe: 20 searches", "all answered, exit 0"),
        ("`-vvv`, stderr a pipe that nobody reads: 2,500 searches", "all answered, exit 0"),
        ("stderr a closed pipe, one warning since no file descriptor was left: a new client", "greeted"),
    ],
    measure,
};

/// More than what fills the pipe at -vvv.
const MANY: u32 = 2500;
/// A search is given up after that.
const TIMEOUT: Duration = Duration::from_secs(5);

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    // Its reader stays and does not read.
    let (_unread, writer) = io::pipe()?;
    Ok(vec![
        searches(build, "-v", full()?, 20)?,
        searches(build, "-v", broken()?, 20)?,
        searches(build, "-vvv", writer.into(), MANY)?,
        accepts(build)?,
    ])
}

/// How many short searches are answered, and how the process ends behind them.
fn searches(build: &Path, verbosity: &str, log: Stdio, count: u32) -> Outcome<Figure> {
    let mut launch = launch(build, &["serve", "--stdio", verbosity])?;
    launch.command.stderr(log);
    let mut client = Client::spawn(launch)?;
    let answered = (0..count).take_while(|number| search(&mut client, *number).is_some()).count();
    client.finish_input();
    let end = match client.wait_exit(Instant::now() + TIMEOUT) {
        Ok(status) => status.map_or_else(String::new, words),
        Err(_) => "does not end".to_owned(),
    };
    let is_kept = answered == count as usize && end == "exit 0";
    Ok(figure(format!("{answered} of {count}, {end}"), is_kept))
}

fn search(client: &mut Client, number: u32) -> Option<()> {
    let go = format!(
        "{{\"id\":\"{number}\",\"cmd\":\"go\",\"game\":\"l-game\",\"position\":{{}},\"limit\":{{\"nodes\":1}}}}"
    );
    client.send_line(go.as_bytes()).ok()?;
    let answer = client.wait_final(&number.to_string(), Instant::now() + TIMEOUT).ok()?;
    matches!(answer.last.envelope.message, Message::BestMove(_)).then_some(())
}

/// Whether a daemon whose log is broken still accepts connections behind a warning.
fn accepts(build: &Path) -> Outcome<Figure> {
    let server = limited(build, "-n 40", &[], broken()?)?;
    let crowd: Vec<_> = (0..60).map(|_| TcpStream::connect(server.address())).collect();
    std::thread::sleep(Duration::from_millis(500));
    drop(crowd);
    let deadline = Instant::now() + LOST;
    let began = Instant::now();
    Ok(match greeted(&server, None, deadline) {
        Some(_) => figure(format!("greeted after {} ms", began.elapsed().as_millis()), true),
        None => figure(format!("not greeted in {} s", LOST.as_secs()), false),
    })
}
