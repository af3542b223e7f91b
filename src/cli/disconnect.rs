//! `plyd disconnect`: ends connections, those of a client by its name.

use std::io::Write;

use plyd_protocol::DisconnectTarget;

use super::failure::Failure;
use super::operator::{self, OperatorReply, Order};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd disconnect tcp=127.0.0.1:7117 12            connection 12
  plyd disconnect tcp=127.0.0.1:7117 12 15 --token-file ops.token
                                                   one that is not there is an error, and the other ends
  plyd disconnect unix=/run/plyd/socket --client alice
                                                   all connections of a client that the daemon knows by name

`plyd status` has the numbers of the connections. Searches in flight answer with the best move so far; then the client \
hears `disconnected`. It may connect again: to keep it out, take it off the file of clients and send the daemon SIGHUP.")]
pub(super) struct Args {
    #[command(flatten)]
    daemon: operator::Daemon,
    /// The numbers of the connections
    #[arg(
        value_name = "CONNECTION",
        required_unless_present = "client",
        value_parser = clap::value_parser!(u64).range(1..=plyd_protocol::MAX_INT as u64)
    )]
    connections: Vec<u64>,
    /// All connections of the client of this name
    #[arg(long, value_name = "NAME", conflicts_with = "connections")]
    client: Option<String>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut operator = args.daemon.operator("plyd disconnect")?;
    let of_client = args.client.clone().map(DisconnectTarget::Client);
    let targets = args.connections.iter().copied().map(DisconnectTarget::Connection).chain(of_client);
    let mut failed = None;
    for target in targets {
        let of = match &target {
            DisconnectTarget::Connection(connection) => format!("connection {connection}"),
            DisconnectTarget::Client(name) => format!("client {name}"),
        };
        match operator.ask(Order::Disconnect(target)) {
            Ok(OperatorReply::Disconnected(connections)) => {
                for connection in connections {
                    writeln!(out, "ended connection {connection}")?;
                }
            }
            Ok(_) => {}
            // Those behind it are ended all the same.
            Err(failure) => {
                Failure::Failed(format!("{of}: {failure}")).report();
                failed = Some(Failure::Reported);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}
