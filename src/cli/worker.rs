//! `plyd worker`: plays pairs of games for matches that others queue.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use plyd_fleet::{Left, Permit, Programs, Trusted, WorkerSettings, is_name, work};

use tracing::level_filters::LevelFilter;

use super::failure::Failure;
use super::nats::NatsArgs;
use super::system::{CONFINES, machine_name};
use super::verbosity::{Directives, Filter, Verbosity};
use super::{bench, own, parse, reaper, registry, signed_build};
use crate::client::Program;

/// The exit code of a process that SIGINT ended, as shells have it.
const INTERRUPTED: u8 = 130;

/// The longest part of a machine's name in that of a worker.
const MACHINE_LETTERS: usize = 40;

/// For how long each position of a game's bench is searched to measure the speed of the machine.
const BENCH: Duration = Duration::from_millis(20);

/// What the log says besides warnings: that the server is there, and that the worker leaves.
const SAID: &str = "plyd_fleet=info";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd worker --nats nats://10.0.0.1:4222                        a pair at a time
  plyd worker --nats tls://nats.example:4222 --nats-creds worker.creds --concurrency 8
  plyd worker --nats nats://10.0.0.1 --allow-address             players may be servers that this machine calls
  plyd worker --nats nats://10.0.0.1 --allow-programs --trust UDXU...
                                                                 or programs that this key signed

It waits for pairs of games, plays --concurrency of them at a time as `plyd arena` would, and stores the results. If the \
server is away, it waits for it. After SIGTERM or Ctrl-C it ends once the pairs that it is playing are over; a second \
signal gives them back and ends at once. \
docs/fleet.md says how to set a fleet up.")]
pub(super) struct Args {
    #[command(flatten)]
    nats: NatsArgs,
    /// What `plyd fleet` and results call this worker: letters, digits, - and _ [default: the machine's name
    /// and a number]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Pairs played at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Let matches name players that this worker calls, such as tcp=HOST:PORT
    #[arg(long)]
    allow_address: bool,
    /// Run programs that are sent along with matches, if a key signed them that --trust names. They run as
    /// this user, within limits, but in no sandbox
    #[arg(long, alias = "allow-builds", requires = "trust")]
    allow_programs: bool,
    /// A public nkey whose programs may run here
    #[arg(long, value_name = "KEY", requires = "allow_programs")]
    trust: Vec<String>,
    /// Where such programs are kept [default: plyd/programs in the user's cache]
    #[arg(long, value_name = "FOLDER", requires = "allow_programs")]
    programs: Option<PathBuf>,
    /// The largest program that is taken, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    max_program: u32,
    /// The memory of such a program, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(16..))]
    max_memory: u32,
    /// Give back a pair that was played with clocks if a core of this machine was stalled for more than this
    /// share of the time
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = |text: &str| parse::share(text, 100.0))]
    max_noise: f64,
    /// The largest table that a player may want, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    max_hash: u32,
    /// The most threads that a player may want [default: the cores, shared out to the pairs played at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_threads: Option<u32>,
}

pub(super) fn run(args: &Args, verbosity: &Verbosity) -> Result<(), Failure> {
    verbosity.set(&Filter::from(LevelFilter::WARN).with(&Directives::read(SAID).expect("it is a filter")));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let concurrency = usize::from(args.concurrency);
    let threads = args.max_threads.map_or((cores / concurrency).max(1), |threads| threads as usize);
    let settings = WorkerSettings {
        name: args.name.clone().unwrap_or_else(own_name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        concurrency,
        cores,
        bench: Box::new(|entry| bench::speed_of(entry, BENCH).map_err(|failure| failure.to_string())),
        max_noise: args.max_noise,
        permit: Permit {
            games: registry::games().to_vec(),
            own: own::server()?,
            build: Box::new(own_builds()),
            addresses: args.allow_address,
            programs: programs(args)?,
            confined: Box::new(confined(args.max_memory)?),
            threads,
            hash_mb: args.max_hash as usize,
            reaper: Some(reaper::start()?),
        },
    };
    match work(&args.nats.server(), settings)? {
        Left::Done => Ok(()),
        // The players see their input end.
        Left::AtOnce => Err(Failure::Passed(INTERRUPTED)),
    }
}

/// The programs that may run here, if any may.
fn programs(args: &Args) -> Result<Option<Programs>, Failure> {
    if !args.allow_programs {
        return Ok(None);
    }
    if !CONFINES {
        let message = "--allow-programs: this system starts no program within limits";
        return Err(Failure::Usage(message.to_owned()));
    }
    let trusted = args.trust.iter().map(|key| {
        let wrong = |why| Failure::Usage(format!("--trust {key}: {why}; give a public nkey, such as U..."));
        Trusted::read(key).map_err(wrong)
    });
    let cache = || {
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        Some(env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home)?.join("plyd").join("programs"))
    };
    let folder = args.programs.clone().or_else(cache);
    let folder =
        folder.ok_or_else(|| Failure::Usage("give --programs FOLDER: there is no HOME".to_owned()))?;
    let place = folder.display().to_string();
    let programs =
        Programs::new(folder, trusted.collect::<Result<_, _>>()?, u64::from(args.max_program) << 20);
    programs.map(Some).map_err(|error| Failure::Usage(format!("--programs {place}: {error}")))
}

/// What starts a program of a match: this one, which limits itself and becomes it.
fn confined(memory_mib: u32) -> Result<impl Fn(&Path, &[String]) -> Program + Send + Sync, Failure> {
    let own = own::path()?;
    Ok(move |path: &Path, given: &[String]| {
        let memory = memory_mib.to_string();
        let mut arguments: Vec<OsString> = ["confined", "--memory", &memory, "--"].map(Into::into).to_vec();
        arguments.push(path.into());
        arguments.extend(given.iter().map(Into::into));
        Program { path: own.clone(), arguments }
    })
}

/// Gives the build of this program for a game; one that is computed is remembered.
fn own_builds() -> impl Fn(&'static crate::engine::Entry) -> Result<String, String> + Send + Sync {
    let known = Mutex::new(HashMap::new());
    move |entry| {
        let mut known = known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(build) = known.get(entry.name) {
            return Ok(String::clone(build));
        }
        let build = signed_build::build(entry).map_err(|failure| failure.to_string())?;
        known.insert(entry.name, build.clone());
        Ok(build)
    }
}

fn name(text: &str) -> Result<String, String> {
    if is_name(text) {
        Ok(text.to_owned())
    } else {
        Err("give at most 64 letters, digits, - and _".to_owned())
    }
}

/// The machine's name, and the number of this process.
fn own_name() -> String {
    let machine = machine_name();
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let machine: String = machine.chars().take(MACHINE_LETTERS).map(fits).collect();
    let worker = if machine.is_empty() { "worker" } else { &machine };
    format!("{worker}-{}", process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_a_name_that_fits_a_subject() {
        assert!(is_name(&own_name()), "{}", own_name());
        assert!(name("lab.7").is_err() && name("lab-7").is_ok());
    }
}
