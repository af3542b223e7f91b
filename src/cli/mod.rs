//! The command line: one file a command.
//!
//! Commands ask the engine, or the protocol through [`crate::client`]; they know nothing of how a game or a
//! search works. A new command is a file with its arguments and a function `run`, and a line in `Command` and
//! `run`.

mod absent;
mod arena;
mod bench;
mod botzone;
mod build;
mod clock;
mod close;
// The benches print their tables with it.
#[doc(hidden)]
pub mod columns;
mod completions;
mod config;
#[cfg(feature = "fleet")]
mod confined;
mod conform;
mod connect;
mod deferred;
mod describe;
mod disconnect;
mod draw;
mod examples;
mod explain;
mod failure;
#[cfg(feature = "fleet")]
mod fleet;
mod frame;
mod go;
mod gui;
mod health;
mod hints;
mod input;
mod interrupt;
#[cfg(feature = "ladder")]
mod ladder;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "fleet")]
mod nats;
mod nearest;
mod new_game;
mod operator;
mod output;
mod over_tls;
mod overview;
mod own;
mod parse;
mod pencil;
mod perft;
mod picture;
mod play;
mod position;
mod progress;
mod reaper;
mod records;
mod registry;
mod replay;
mod review;
mod serve;
mod show;
#[cfg(any(feature = "fleet", feature = "ladder"))]
mod signed_build;
mod solve;
mod status;
mod styled;
mod system;
mod systemd;
mod terminal;
mod token;
mod token_file;
mod top;
mod train;
mod trials;
mod tune;
mod ugi;
mod verbosity;
mod version;
mod watch;
mod words;
#[cfg(feature = "fleet")]
mod worker;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::daemon::{Handed, log};
use crate::engine::Entry;
use crate::games::REGISTRY;
use deferred::Deferred;
use failure::Failure;

/// A game-engine daemon: abstract games behind one line-based JSON protocol.
#[derive(Debug, Parser)]
#[command(name = "plyd", version, long_version = version::text(), after_help = EXAMPLES, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  plyd                                     serve on standard input and output
  plyd serve --tcp 127.0.0.1:7117          serve over TCP
  plyd gui                                 boards in a browser
  plyd go {isolation} --time 1s              what to play, for people
  plyd go {isolation} --time 1s --json       the same for programs
  plyd play {l-game}                         play against it, in the terminal
  plyd arena isolation --player default --player minimax,depth=3
                                           a match
  plyd describe                            the games
  plyd new-game hex                        a new game, in a clone of plyd
  plyd help go                             one command in full
  plyd explain illegal_move                what an error means and what to do

Exit codes: 0 done, 1 failed (also: replay found a difference, conform a fault), 2 wrong arguments.";

/// Commands with subcommands are not deferred: clap copies them into `help` before a deferred command is
/// described, and scripts would no longer complete `plyd help token new`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the protocol; this is what `plyd` alone does
    Serve(Deferred<serve::Args>),
    /// Print an example of the file that `plyd serve --config` reads
    Config(config::Args),
    /// Print units with which systemd runs a daemon
    Systemd(Deferred<systemd::Args>),
    /// Ask whether a daemon serves: exit code 0 or 1
    Health(Deferred<health::Args>),
    /// Show who is connected to a daemon, what they search and what waits
    Status(Deferred<status::Args>),
    /// Show what `plyd status` shows, on the full screen and always up to date
    Top(Deferred<top::Args>),
    /// Close a session of a client of a daemon
    Close(Deferred<close::Args>),
    /// End connections to a daemon
    Disconnect(Deferred<disconnect::Args>),
    /// Make tokens for the clients of `plyd serve --clients-file`
    Token(token::Args),
    /// Find a move in one position
    Go(Deferred<go::Args>),
    /// Serve a page with boards for people, and open it
    Gui(Deferred<gui::Args>),
    /// Play, watch and analyse a game in the terminal
    Play(Deferred<play::Args>),
    /// Draw a position: a picture of its board, SVG
    Draw(Deferred<draw::Args>),
    /// Count the positions that the rules lead to, depth by depth
    Perft(Deferred<perft::Args>),
    /// Solve a whole game and count its positions by value
    Solve(Deferred<solve::Args>),
    /// Search each game's bench positions and print the signature
    Bench(Deferred<bench::Args>),
    /// List the games, rules, options and players
    Describe(Deferred<describe::Args>),
    /// Play matches between players and measure who is stronger
    Arena(Deferred<Box<arena::Args>>),
    /// Play pairs of games for matches that `plyd arena --nats` queues, on this machine
    #[cfg(feature = "fleet")]
    Worker(Deferred<worker::Args>),
    /// Show the workers and the matches of a fleet
    #[cfg(feature = "fleet")]
    Fleet(Deferred<fleet::Args>),
    /// Tune evaluation weights by self-play (SPSA)
    Tune(Deferred<tune::Args>),
    /// Learn evaluation tables by self-play (TD learning)
    Train(Deferred<train::Args>),
    /// Show games from records: a list, one game, or board by board
    Show(Deferred<show::Args>),
    /// Review recorded games: what each move kept, and what it gave away
    Review(Deferred<review::Args>),
    /// Play a game for a program that speaks UGI, such as cutegames
    Ugi(Deferred<ugi::Args>),
    /// Play a game as a bot of Botzone, or of a judge of that form
    Botzone(Deferred<botzone::Args>),
    /// Give the games to an agent as tools, by the Model Context Protocol
    #[cfg(feature = "mcp")]
    Mcp(Deferred<mcp::Args>),
    /// Send a recorded conversation again and compare the answers
    Replay(Deferred<replay::Args>),
    /// Check a server of the protocol against the specification
    Conform(Deferred<conform::Args>),
    /// Let a bot compete on a ladder
    Connect(Deferred<connect::Args>),
    /// Run a ladder on which bots compete
    #[cfg(feature = "ladder")]
    Ladder(ladder::Args),
    /// Internal; you do not need it. `plyd arena`, `conform`, `replay` and scripts of tests start it, so that
    /// the players and servers that they start end with them even if they are killed
    #[command(hide = true)]
    Reaper(Deferred<reaper::Args>),
    /// Internal; you do not need it. `plyd worker --allow-programs` starts programs by it
    #[cfg(feature = "fleet")]
    #[command(hide = true)]
    Confined(Deferred<confined::Args>),
    /// Write a new game that works, to be changed into another one
    NewGame(Deferred<new_game::Args>),
    /// Explain an error code and what to do about it
    Explain(Deferred<explain::Args>),
    /// Print a completion script for a shell
    Completions(Deferred<completions::Args>),
    /// Write manual pages, one for each command
    Man(Deferred<man::Args>),
}

/// The command `plyd` with plyd's own games.
#[must_use]
pub fn main() -> ExitCode {
    main_with(REGISTRY)
}

/// The command `plyd` with these games: parses the command line, runs the command, and reports what went
/// wrong in a sentence on stderr.
///
/// A program that calls it with games of its own is a plyd with them:
///
/// ```no_run
/// # use plyd::games::isolation::ENTRY as MY_ENTRY;
/// fn main() -> std::process::ExitCode {
///     plyd::cli::main_with(&[&MY_ENTRY])
/// }
/// ```
///
/// and with plyd's games behind them by `main_with(&[&[&MY_ENTRY][..], plyd::games::REGISTRY].concat())`.
///
/// # Panics
/// If there are no games, if two have the same name, or if it is called twice.
#[must_use]
pub fn main_with(games: &[&'static Entry]) -> ExitCode {
    registry::set(games);
    let cli = parse();
    let command = cli.command.unwrap_or_else(|| Command::Serve(Deferred(serve::Args::default())));
    #[cfg(feature = "fleet")]
    if let Command::Confined(Deferred(args)) = &command {
        // Before there are other threads: within the limits they might get no memory, which ends the process.
        return exit_code(confined::run(args), true);
    }
    // Before anything else opens files.
    let handed = match &command {
        Command::Serve(_) => Handed::from_env().map_err(Failure::from),
        _ => Ok(Handed::default()),
    };
    let log = log::start();
    let ended = match &log {
        Ok(_) => handed.and_then(|handed| run(command, handed)),
        Err(error) => Err(Failure::Failed(format!("cannot start a thread: {error}"))),
    };
    // If nobody reads stderr, only the exit code reports a failure: a write there would wait for ever.
    exit_code(ended, log::flush())
}

/// How the process ends; a failure is reported if stderr is read.
fn exit_code(ended: Result<(), Failure>, is_read: bool) -> ExitCode {
    let Err(failure) = ended else { return ExitCode::SUCCESS };
    if is_read {
        failure.report();
    }
    failure.exit_code()
}

/// The command line of this program, with its name and its games.
fn command_line() -> clap::Command {
    examples::of(Cli::command(), &program(), registry::games())
}

/// The name by which this program was called, without its folder.
fn program() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or_else(|| "plyd".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads the arguments; a mistake in them, or what asks for help, ends the process.
fn parse() -> Cli {
    let mut command = command_line();
    let mut matches = command.try_get_matches_from_mut(std::env::args_os()).unwrap_or_else(|error| {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let explained = absent::explained(error, &mut command);
        hints::hinted(explained, &arguments.collect::<Vec<_>>(), registry::games()).exit()
    });
    Cli::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

fn run(command: Command, handed: Handed) -> Result<(), Failure> {
    let verbosity = verbosity::start();
    // Not the lock of stdout: a serving daemon writes there from a thread of its own.
    let mut out = BufWriter::new(io::stdout());
    match command {
        Command::Serve(Deferred(args)) => serve::run(args, handed, verbosity, &mut out),
        Command::Config(args) => config::run(&args, &mut out),
        Command::Systemd(Deferred(args)) => systemd::run(&args, &mut out),
        Command::Health(Deferred(args)) => health::run(&args, &mut out),
        Command::Status(Deferred(args)) => status::run(&args, &mut out),
        Command::Top(Deferred(args)) => top::run(&args, &mut out),
        Command::Close(Deferred(args)) => close::run(&args, &mut out),
        Command::Disconnect(Deferred(args)) => disconnect::run(&args, &mut out),
        Command::Token(args) => token::run(&args, &mut out),
        Command::Go(Deferred(args)) => go::run(&args, &mut out),
        Command::Gui(Deferred(args)) => gui::run(args, &verbosity, &mut out),
        Command::Play(Deferred(args)) => play::run(&args, &mut out),
        Command::Draw(Deferred(args)) => draw::run(&args, &mut out),
        Command::Perft(Deferred(args)) => perft::run(&args, &mut out),
        Command::Solve(Deferred(args)) => solve::run(&args, &mut out),
        Command::Bench(Deferred(args)) => bench::run(&args, &mut out),
        Command::Describe(Deferred(args)) => describe::run(&args, &mut out),
        Command::Arena(Deferred(args)) => arena::run(&args, &mut out),
        #[cfg(feature = "fleet")]
        Command::Worker(Deferred(args)) => worker::run(&args, &verbosity),
        #[cfg(feature = "fleet")]
        Command::Fleet(Deferred(args)) => fleet::run(&args, &mut out),
        Command::Tune(Deferred(args)) => tune::run(&args, &mut out),
        Command::Train(Deferred(args)) => train::run(&args, &mut out),
        Command::Show(Deferred(args)) => show::run(&args, &mut out),
        Command::Review(Deferred(args)) => review::run(&args, &mut out),
        Command::Ugi(Deferred(args)) => ugi::run(&args),
        Command::Botzone(Deferred(args)) => botzone::run(&args),
        #[cfg(feature = "mcp")]
        Command::Mcp(Deferred(args)) => mcp::run(args, &verbosity),
        Command::Replay(Deferred(args)) => replay::run(&args, &mut out),
        Command::Conform(Deferred(args)) => conform::run(&args, &mut out),
        Command::Connect(Deferred(args)) => connect::run(&args, &mut out),
        #[cfg(feature = "ladder")]
        Command::Ladder(args) => ladder::run(args, &verbosity, &mut out),
        Command::Reaper(Deferred(args)) => reaper::run(&args),
        #[cfg(feature = "fleet")]
        Command::Confined(_) => unreachable!("it begins before the log"),
        Command::NewGame(Deferred(args)) => new_game::run(&args, &mut out),
        Command::Explain(Deferred(args)) => explain::run(&args, &mut out),
        Command::Completions(Deferred(args)) => completions::run(&args, &mut out),
        Command::Man(Deferred(args)) => man::run(&args, &mut out),
    }
    // What was printed before a failure is shown before its message.
    .and_then(|()| Ok(out.flush()?))
}

/// Writes a value as one line of JSON.
fn write_json(out: &mut impl Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn each_command_shows_examples() {
        let mut plyd = command_line();
        plyd.build();
        // `help` is clap's own.
        for command in plyd.get_subcommands().filter(|command| command.get_name() != "help") {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let start = format!("{} {}", program(), command.get_name());
            assert!(help.contains(&start), "{start}");
        }
    }
}
