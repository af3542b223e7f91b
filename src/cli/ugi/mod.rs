//! `plyd ugi`: the engine for programs that speak UGI, the Universal Game Interface
//! (<https://github.com/kz04px/ugi>).
//!
//! A translator in front of a daemon of its own, in the same process: clocks, stops and the promise of a
//! legal move are the daemon's, and time runs from the arrival of UGI's line. One thread reads commands and
//! asks (`session`), the other reads the daemon's messages and reports searches; `running` is what both
//! know. `command` and `words` are UGI's two directions.

mod command;
mod running;
mod session;
mod words;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crate::daemon::{Config, Connection, Daemon, Limits};
use crate::framing::{Event, Framing};
use crate::search::clock::now_ns;
use plyd_protocol::{Envelope, MAX_LINE, Message};

use super::failure::Failure;
use super::position::{self, PositionArgs};
use super::registry;
use running::Running;
use session::{Requests, Session, Unanswered};

/// What one read takes at most.
const READ_BYTES: usize = 64 << 10;

/// How long a program may leave its input unread: it may be stopped for hours, and goes on then.
const STALLED: Duration = Duration::from_secs(1 << 25);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ugi {isolation}
  plyd ugi isolation --rules preset=11x9
  plyd ugi ijk --rules preset=v2-4x4
  plyd ugi l-game --position \"3 3 E 2 1 3 4 2 4 W 1\"

`startpos` is the position that the arguments name. Options of the player are set by `setoption`; `ugi` lists them. \
Games with chance cannot be played: UGI has no word for a throw of dice.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let root = args.position.open()?;
    let entry = root.entry();
    if root.is_stochastic() {
        return Err(Failure::Usage(format!(
            "{} with chance cannot be played over UGI, which has no word for what chance brings; choose rules without, \
             or use `plyd serve`",
            entry.name
        )));
    }
    let startpos = args.position.startpos(root.as_ref());
    let rules = position::drawn_alike(entry, args.position.rule_settings()?);
    drop(root);

    let limits = Limits {
        // The program on the other side is the one to say how much memory there is, and when it reads.
        hash_bytes: 1 << 40,
        stalled: STALLED,
        ..Limits::default()
    };
    let threads = limits.cores;
    let daemon = Daemon::start(&Config { limits, ..Config::default() }, registry::games())
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let connection = Arc::new(daemon.connect());
    let running = Arc::new(Running::default());
    let (answer, answers) = channel();
    let requests = Requests::new(Arc::clone(&connection), answers);
    let shared = Arc::clone(&running);
    let commands = std::thread::Builder::new().name("ugi".to_owned()).spawn(move || {
        match Session::open(entry, rules, startpos, threads, requests, shared) {
            Ok(session) => obey(session),
            Err(Unanswered::Refused(message)) => return Err(Failure::Failed(message)),
            Err(Unanswered::Gone) => {}
        }
        Ok(())
    })?;
    // Until the connection is over: after `quit`, or when the input ended and all is answered.
    listen(&connection, &running, answer)?;
    commands.join().unwrap_or_else(|_| Err(Failure::Failed("the thread that reads commands broke".into())))
}

/// Carries out what standard input says, until it ends or says `quit`.
fn obey(mut session: Session) {
    let mut framing = Framing::new(MAX_LINE);
    let mut buffer = vec![0; READ_BYTES];
    let mut input = io::stdin().lock();
    loop {
        let count = match input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) | Ok(0) => break,
            Ok(count) => count,
        };
        let (arrived, mut rest) = (now_ns(), &buffer[..count]);
        while let Some(event) = framing.next(&mut rest) {
            match obey_line(&mut session, event, arrived) {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            }
        }
    }
    if framing
        .finish()
        .is_none_or(|event| obey_line(&mut session, event, now_ns()).is_ok_and(|goes_on| goes_on))
    {
        session.finish();
    }
}

fn obey_line(session: &mut Session, event: Event<'_>, arrived_ns: u64) -> Result<bool, Unanswered> {
    match event {
        Event::Line { bytes, .. } => session.line(&String::from_utf8_lossy(&bytes), arrived_ns),
        Event::TooLong { limit, .. } => {
            session.unread(&format!("a line of more than {limit} bytes is not read"));
            Ok(true)
        }
    }
}

/// Reads the daemon's messages to their end: reports searches, and passes all other answers on.
///
/// Its end closes the channel of answers, so that nobody waits for one.
fn listen(connection: &Connection, running: &Running, answers: Sender<Message>) -> Result<(), Failure> {
    while let Some(lines) = connection.receive() {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let envelope = Envelope::read(line).map_err(io::Error::from)?;
            match envelope.message {
                Message::Info(info) => running.info(&info),
                Message::BestMove(best) => running.best(best),
                Message::Notice(notice) => note(&notice.message),
                Message::Error(error) if running.refused(&error) => {}
                answer @ (Message::Result(_) | Message::Error(_)) => {
                    // Nobody waits any more when the input ended.
                    let _unheard = answers.send(answer);
                }
            }
        }
    }
    running.end();
    drop(answers);
    Ok(())
}

/// Writes lines that belong together.
fn print(lines: impl IntoIterator<Item = String>) {
    let mut text: String = lines.into_iter().collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        return;
    }
    text.push('\n');
    let mut out = io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        // Nobody reads what is played: there is nothing left to do for this process, whichever thread sees
        // it.
        std::process::exit(0);
    }
}

/// Writes a remark for people; it is never an answer.
fn note(message: &str) {
    print([format!("info string {}", message.replace(['\n', '\r'], " "))]);
}
