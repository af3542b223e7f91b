//! `plyd status`: what a daemon does, who is connected, what they search and what waits.

use std::io::Write;

use super::failure::Failure;
use super::operator::{self, View};
use super::overview;
use super::styled::{Colours, Text};
use super::watch::WatchArgs;

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
    #[command(flatten)]
    watch: WatchArgs,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut operator = args.daemon.operator("plyd status")?;
    args.watch.show(operator::SHORTEST_PAUSE, out, || operator.look(), show)
}

fn show(view: &View, colours: Colours, out: &mut impl Write) -> Result<(), Failure> {
    let rows = overview::tables(view);
    let tables = rows.iter().map(|row| &row.text);
    let blank = Text::default();
    for text in overview::head(view, None).iter().chain([&blank]).chain(tables) {
        writeln!(out, "{}", text.written(colours))?;
    }
    Ok(())
}
