//! `plyd close`: closes a session of any client.

use std::io::Write;

use super::failure::Failure;
use super::operator::{self, Order};
use super::styled::line;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd close tcp=127.0.0.1:7117 12 table-4         the session `table-4` of connection 12
  plyd close unix=/run/plyd/socket 12 table-4 --token-file ops.token

`plyd status` has the numbers of the connections and the names of their sessions. The searches of the session answer with \
the best move so far (reason `closed`), and its client gets a warning. It may open the session again.")]
pub(super) struct Args {
    #[command(flatten)]
    daemon: operator::Daemon,
    /// The number of the connection
    #[arg(value_parser = clap::value_parser!(u64).range(1..=plyd_protocol::MAX_INT as u64))]
    connection: u64,
    /// The name of the session
    session: String,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut operator = args.daemon.operator("plyd close")?;
    operator.ask(Order::Close { connection: args.connection, session: args.session.clone() })?;
    Ok(writeln!(out, "closed the session {} of connection {}", line(&args.session), args.connection)?)
}
