//! `plyd connect`: lets a bot compete on a ladder, unattended.
//!
//! The bot's processes and their games outlive connections to the ladder, which come and go. One thread waits
//! for all of them at once; nothing that one of them does or leaves undone holds the others up for longer
//! than a write may take.

mod answer;
mod args;
mod backoff;
mod connector;
mod event;
mod lane;
mod link;
mod search;
mod start;

use std::fs::File;
use std::io::Write;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::failure::Failure;
use super::interrupt::Halt;
use super::{own, parse, reaper};
use crate::client::Program;
use answer::Object;
use args::offer;
use connector::Connector;
use lane::{Bot, Lane};

pub(super) use args::Args;
#[cfg(feature = "ladder")]
pub(super) use args::ladder;
pub(super) use link::is_safe;

/// How often the loop looks for an interrupt.
const LOOK: Duration = Duration::from_millis(100);
/// How long the processes may take to end once their input has.
const FAREWELL: Duration = Duration::from_secs(1);
/// What an interrupt does.
const LEAVING: &str =
    "no further game begins; those in progress are played to their end. Interrupt again to abandon them";

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if !is_safe(&args.ladder) && !args.insecure {
        let message =
            "this would send the token unencrypted to another machine: give wss:// or tls://, or --insecure";
        return Err(Failure::Usage(message.into()));
    }
    let mut offer = offer(args)?;
    let record = args.record.as_ref().map(|path| {
        let opened = File::options().create(true).append(true).open(path);
        opened.map_err(|error| Failure::Usage(format!("--record {}: {error}", path.display())))
    });
    let record = record.transpose()?;
    let bot = Rc::new(Bot { program: program(args)?, reaper: reaper::start()?, options: options(args) });
    let lanes = start::start(&bot, &mut offer)?;
    let mut connector = Connector {
        address: args.ladder.clone(),
        lanes,
        retired: Vec::new(),
        offer,
        halt: Halt::on_interrupt(LEAVING)?,
        joined: None,
        record,
        json: args.json,
        out,
    };
    let ended = connector.run();
    let end = Instant::now() + FAREWELL;
    connector.lanes.iter_mut().for_each(Lane::finish);
    let retired = connector.retired.into_iter().map(|(lane, _)| lane);
    connector.lanes.into_iter().chain(retired).for_each(|lane| lane.leave(end));
    ended
}

/// What plays.
fn program(args: &Args) -> Result<Program, Failure> {
    if let Some((path, arguments)) = args.command.split_first() {
        return Ok(Program { path: path.clone(), arguments: arguments.to_vec() });
    }
    let mut plyd = own::server()?;
    // The games at once share the cores.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores / args.concurrency as usize).max(1);
    plyd.arguments.push(format!("--threads={threads}").into());
    Ok(plyd)
}

/// The bot's options.
fn options(args: &Args) -> Object {
    args.options.iter().map(|(name, text)| (name.clone(), json!(parse::setting(text)))).collect()
}
