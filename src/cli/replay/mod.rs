//! `plyd replay`: sends a recorded conversation again and compares the final answers.
//!
//! Lines go out in the order of the recording, each once the finals that were recorded before it on its
//! connection have arrived. It speaks JSON and not the wire types, so that a server that answers nonsense is
//! seen through.

mod compare;
mod connection;
mod transcript;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::client::{Address, LineError, Lines};

use super::failure::Failure;
use super::{own, parse, reaper, words};
use connection::Connection;
use transcript::Event;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd serve --transcript game.jsonl < examples/first-game.jsonl     record
  plyd replay game.jsonl                                             compare with this plyd
  plyd replay game.jsonl -- target/release/plyd serve --threads 2    with another one
  plyd replay game.jsonl --tcp 127.0.0.1:7117                        with one that serves already

Searches that ended by a node or depth limit, with one thread, are compared exactly. Where the clock or a race ended \
a search, its move, lines and stats are not compared. Stamps and times never are. Exit code 1: a difference.

A WebSocket is closed once all answers have arrived, because its input cannot end alone. So what a server answers \
only at the end of the input (`on_eof`) cannot be replayed over it.")]
pub(super) struct Args {
    /// The transcript, as `plyd serve --transcript` writes it
    file: PathBuf,
    /// Connect to a server that runs already, over TCP
    #[arg(long, value_name = "ADDR", conflicts_with = "command")]
    tcp: Option<String>,
    /// The same over WebSocket, TLS or a Unix socket: ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT or unix=PATH
    #[arg(long, value_name = "WHERE", value_parser = Address::read, conflicts_with_all = ["command", "tcp"])]
    connect: Option<Address>,
    /// The longest wait for a final message
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse::duration)]
    timeout: Duration,
    /// The server to start for each connection; this plyd's `serve` when absent
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", args.file.display())))?;
    let records = transcript::read(&text)
        .map_err(|error| Failure::Usage(format!("{}, {error}", args.file.display())))?;

    let last_lines = transcript::last_lines(&records);
    let mut connections: BTreeMap<u64, Connection> = BTreeMap::new();
    for (index, record) in records.into_iter().enumerate() {
        let connection = match connections.entry(record.conn) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Connection::new(open(args)?, args.timeout))
            }
        };
        match record.event {
            Event::Line(line) => {
                connection.send(&line);
                if last_lines.get(&record.conn) == Some(&index) {
                    connection.finish_input();
                }
            }
            Event::End => connection.end(),
            Event::Final(message) => connection.owe(message),
        }
    }
    report(connections, out)
}

fn open(args: &Args) -> Result<Lines, Failure> {
    let failed = |error: LineError| Failure::Failed(error.to_string());
    if let Some(address) = &args.tcp {
        return Lines::connect(address)
            .map_err(|error| Failure::Failed(format!("{error} ({address}); is the server running?")));
    }
    if let Some(address) = &args.connect {
        return address.lines().map_err(|error| Failure::Failed(format!("{error}; is the server running?")));
    }
    let command = match args.command.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        None => own::command()?,
    };
    let program = command.get_program().display().to_string();
    let launch = reaper::start()?.launch(&command);
    Lines::spawn(launch.map_err(|error| failed(LineError::Start { program, error }))?).map_err(failed)
}

fn report(connections: BTreeMap<u64, Connection>, out: &mut impl Write) -> Result<(), Failure> {
    let (mut sent, mut compared, mut differing) = (0, 0, 0);
    for (name, connection) in connections {
        let result = connection.close();
        sent += result.sent;
        compared += result.compared;
        differing += result.differences.len();
        for difference in result.differences {
            writeln!(out, "connection {name}, {difference}")?;
        }
    }
    let count = |number: usize, of| words::count(number as u64, of);
    let (lines, finals, found) =
        (count(sent, "line"), count(compared, "final"), count(differing, "difference"));
    writeln!(out, "{lines} sent, {finals} compared, {found}")?;
    if differing == 0 { Ok(()) } else { Err(Failure::Reported) }
}
