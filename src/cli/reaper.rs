//! `plyd reaper`: what `plyd arena`, `plyd conform` and `plyd replay` start to end their players and servers
//! if they are killed; and what scripts run within, for the same reason.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::client::{self, Process, Reaper, Starter};
use plyd_protocol::signals::Signals;

use super::failure::Failure;
use super::own;
use super::system::{exit_code, interrupt_group};

/// The variable by which a script finds that it runs within a reaper already.
const WITHIN: &str = "PLYD_REAPED";
/// The interval at which the end of the command is looked for.
const POLL: Duration = Duration::from_millis(10);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  echo +4711 | plyd reaper     kill the process group 4711 when the input ends; -4711 takes it back
  plyd reaper --run -- tests   run `tests`; whatever ends it or this command, nothing that it started is left")]
pub(super) struct Args {
    /// Make this process known to the reaper of the process that started it, and become the command
    #[arg(long, value_name = "PROCESS:PIPE", requires = "command")]
    join: Option<Starter>,
    /// Run the command in a process group of its own, with PLYD_REAPED=1 in its environment. When it ends, or
    /// this process does, even by `kill -9`, all that is left of the group is killed
    #[arg(long, requires = "command", conflicts_with = "join")]
    run: bool,
    /// What to become, or to run
    #[arg(last = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match (args.join, args.command.split_first()) {
        (Some(starter), Some((program, arguments))) => {
            let error = client::join(starter, Command::new(program).args(arguments));
            Err(cannot_start(program, &error))
        }
        (None, Some((program, arguments))) if args.run => passed(run_within(program, arguments)?),
        (None, Some(_)) => Err(Failure::Usage("what is to be done with the command? Give --run".to_owned())),
        (_, None) => Ok(client::reap(io::stdin().lock())?),
    }
}

/// The process that ends those that are started if this one is killed.
pub(super) fn start() -> io::Result<Arc<Reaper>> {
    Reaper::start(own::path()?)
}

/// Runs a command to its end and kills what it leaves behind. The first signal asks it to end, as Ctrl-C
/// does, and the second ends it.
fn run_within(program: &OsStr, arguments: &[OsString]) -> Result<ExitStatus, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    let mut signals = Signals::install()?;
    let command = start()?.launch(Command::new(program).args(arguments).env(WITHIN, "1"));
    let mut process = command.and_then(Process::spawn).map_err(|error| cannot_start(program, &error))?;
    let status = runtime.block_on(async {
        let mut is_asked = false;
        loop {
            tokio::select! {
                () = signals.next() => {
                    if std::mem::replace(&mut is_asked, true) || !interrupt_group(process.id()) {
                        return process.end();
                    }
                }
                () = tokio::time::sleep(POLL) => {
                    if let Some(status) = process.wait_exit(Instant::now())? {
                        return Ok(status);
                    }
                }
            }
        }
    });
    Ok(status?)
}

fn cannot_start(program: &OsStr, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot start `{}`: {error}", program.display()))
}

/// The end of a command as one's own, with the exit codes that shells give to signals.
fn passed(status: ExitStatus) -> Result<(), Failure> {
    let code = exit_code(status);
    if code == 0 { Ok(()) } else { Err(Failure::Passed(u8::try_from(code).unwrap_or(1))) }
}
