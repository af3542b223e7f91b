//! `plyd botzone`: the engine as a bot of Botzone (<https://wiki.botzone.org.cn/index.php?title=Bot/en>) or
//! of a judge of that form.
//!
//! A translator in front of a daemon of its own, in the same process, as `plyd ugi` is: clocks and the
//! promise of a legal move are the daemon's, and time runs from the arrival of a line. `input` is what
//! Botzone says, `bot` what it is answered.

mod bot;
mod input;

use std::io::{self, Read, Write};
use std::time::Duration;

use crate::daemon::{Config, Daemon, Limits};
use crate::framing::{Event, Framing};
use crate::search::clock::now_ns;
use plyd_protocol::MAX_LINE;

use super::failure::Failure;
use super::position::{self, PositionArgs};
use super::{parse, registry};
use bot::{Answer, Bot, Times};

/// What one read takes at most.
const READ_BYTES: usize = 64 << 10;

/// What a bot writes that wants to live on.
const KEEP_RUNNING: &str = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<";

/// A table has this share of the memory, which leaves as much for the process and more for what players keep.
const TABLE_SHARE: u64 = 4;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd botzone {isolation}
  plyd botzone isolation --rules preset=11x9 --keep-running
  plyd botzone {sudoku} --time 600ms --first-time 1s --memory 512 --option level=5

Reads a line {\"requests\":[...],\"responses\":[...]} and answers {\"response\":MOVE,\"debug\":TEXT}. A request is what was \
played since the last answer: a move, an array of moves, or \"\". docs/botzone.md says what else it may hold.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// Options of the player, such as level=5; `plyd describe GAME` lists them
    #[arg(long = "option", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    options: Vec<(String, String)>,
    /// Live on after an answer, and read a request a line
    #[arg(long)]
    keep_running: bool,
    /// Time for an answer
    #[arg(long, default_value = "1s", value_parser = parse::duration)]
    time: Duration,
    /// Time for the first answer of a game; twice `--time` when absent
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    first_time: Option<Duration>,
    /// Time to keep in reserve of each of these; a tenth of it, at most 100ms, when absent
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    margin: Option<Duration>,
    /// Memory that the process may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(16..=1 << 20))]
    memory: u64,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let root = args.position.open()?;
    let entry = root.entry();
    let startpos = args.position.startpos(root.as_ref());
    let rules = position::drawn_alike(entry, args.position.rule_settings()?);
    drop(root);
    position::options(entry, &args.options)?;
    let mut options = position::option_settings(entry, &args.options);
    let table_mib = (args.memory / TABLE_SHARE).max(1);
    if options.get("hash_mb").is_none() {
        options.insert("hash_mb", i64::try_from(table_mib.min(65_536)).unwrap_or(i64::MAX));
    }
    let limits = Limits { hash_bytes: args.memory << 20, ..Limits::default() };
    let daemon = Daemon::start(&Config { limits, ..Config::default() }, registry::games())
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let first = args.first_time.unwrap_or(args.time * 2);
    let times = Times { first, next: args.time, margin: args.margin };
    let mut bot = Bot::new(daemon.connect(), entry.name, rules, startpos, options, times);
    bot.open().map_err(|error| Failure::Usage(error.message))?;
    serve(&mut bot, args.keep_running)
}

/// Answers the lines of standard input: one, or all if it is kept running.
fn serve(bot: &mut Bot, keeps_running: bool) -> Result<(), Failure> {
    let mut framing = Framing::new(MAX_LINE);
    let mut buffer = vec![0; READ_BYTES];
    let mut input = io::stdin().lock();
    let mut answered = false;
    let mut answer = |event: Event<'_>| {
        let answer = match event {
            Event::Line { bytes, .. } => bot.line(&bytes, now_ns()),
            Event::TooLong { limit, .. } => Answer::to_too_long(limit),
        };
        write(&answer, keeps_running)
    };
    loop {
        let count = match input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
            Ok(0) => break,
            Ok(count) => count,
        };
        let mut rest = &buffer[..count];
        while let Some(event) = framing.next(&mut rest) {
            answer(event)?;
            answered = true;
            if !keeps_running {
                return Ok(());
            }
        }
    }
    match framing.finish() {
        Some(event) => answer(event),
        None if answered => Ok(()),
        None => Err(Failure::Failed("the input ended before a line of requests".into())),
    }
}

/// Writes an answer, and the wish to live on. A mistake in the input is part of the answer and no failure of
/// the process: Botzone logs what a bot answers, and not what it says when it fails.
fn write(answer: &Answer, keeps_running: bool) -> Result<(), Failure> {
    let mut text = serde_json::to_string(answer).map_err(io::Error::from)?;
    text.push('\n');
    if keeps_running {
        text += KEEP_RUNNING;
        text.push('\n');
    }
    let mut out = io::stdout().lock();
    Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
}
