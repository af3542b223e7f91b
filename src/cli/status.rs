//! `plyd status`: what a daemon does, who is connected, what they search and what waits.

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use crossterm::cursor::MoveTo;
use crossterm::queue;
use crossterm::terminal::{Clear, ClearType};

use super::failure::Failure;
use super::operator::{self, Operator, View};
use super::overview;
use super::parse;
use super::styled::{Colours, Text};
use super::write_json;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd status tcp=127.0.0.1:7117                   also ws=, tls=, wss=HOST:PORT and unix=PATH
  plyd status unix=/run/plyd/socket --watch        again every 2 s, until Ctrl-C
  plyd status tcp=127.0.0.1:7117 --token-file ops.token --json | jq .connections
  plyd status tcp=127.0.0.1:7117 --watch=1m --json >> load.jsonl
                                                   an object a minute

A daemon that knows clients by name shows this to those with the role `operate` alone. `plyd top` shows the same on the \
full screen; `plyd close` and `plyd disconnect` end what is seen here.")]
pub(super) struct Args {
    #[command(flatten)]
    daemon: operator::Daemon,
    /// Show it again and again, with so much time between
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2s",
        value_parser = parse::duration
    )]
    watch: Option<Duration>,
    /// Write JSON: an object, with --watch one a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut operator = args.daemon.operator("plyd status")?;
    let first = operator.look()?;
    show(&first, args, out)?;
    match args.watch {
        Some(pause) => watch(&mut operator, args, pause.max(operator::SHORTEST_PAUSE), out),
        None => Ok(()),
    }
}

/// Shows it again and again. A daemon that does not answer may do so again.
fn watch(operator: &mut Operator, args: &Args, pause: Duration, out: &mut impl Write) -> Result<(), Failure> {
    loop {
        out.flush()?;
        thread::sleep(pause);
        match operator.look() {
            Ok(view) => show(&view, args, out)?,
            Err(failure) => failure.report(),
        }
    }
}

fn show(view: &View, args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.json {
        return write_json(out, view);
    }
    let is_terminal = io::stdout().is_terminal();
    let colours = if is_terminal { Colours::of_terminal() } else { Colours::Never };
    if args.watch.is_some() && colours != Colours::Never {
        queue!(out, MoveTo(0, 0), Clear(ClearType::All))?;
    }
    let rows = overview::tables(view);
    let tables = rows.iter().map(|row| &row.text);
    let blank = Text::default();
    for text in overview::head(view, None).iter().chain([&blank]).chain(tables) {
        writeln!(out, "{}", text.written(colours))?;
    }
    if args.watch.is_some() && colours == Colours::Never {
        writeln!(out)?;
    }
    Ok(())
}
