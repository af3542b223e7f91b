//! Owners of bots.

use std::io::Write;

use super::place::{Place, failed};
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::write_json;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder owner list
  plyd ladder owner list --json | jq '.[] | select(.disabled)'
  plyd ladder owner disable ann --why 'her bots play one another for points'
  plyd ladder owner enable ann --why 'it was a mistake'      then invite ann once more")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all owners
    List {
        /// Print JSON: an array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Disable an owner: logins and links of invitation end, and the owner's bots play no more
    Disable {
        /// The owner
        name: String,
        /// Why: the owner's bots are told this
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
    /// Let an owner be invited again, and the bots that were disabled with the owner play
    Enable {
        /// The owner
        name: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::List { json, place } => list(*json, place, out),
        Command::Disable { name, why, place } => {
            place.open()?.disable_owner(name, why, &place.by()).map_err(failed)
        }
        Command::Enable { name, why, place } => {
            place.open()?.enable_owner(name, why, &place.by()).map_err(failed)
        }
    }
}

fn list(json: bool, place: &Place, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = place.open()?;
    let owners = store.accounts().map_err(failed)?;
    if json {
        return write_json(out, &owners);
    }
    let bots = store.bots().map_err(failed)?;
    let mut table = Columns::new(["owner", "bots", "has logged in", "disabled"]);
    for owner in owners {
        let own = bots.iter().filter(|bot| bot.owner == Some(owner.id)).count();
        let joined = if owner.joined_ms.is_some() { "yes" } else { "no" };
        let why = owner.disabled.map(|disabled| disabled.why).unwrap_or_default();
        table.row([owner.name, own.to_string(), joined.to_owned(), why]);
    }
    Ok(write!(out, "{table}")?)
}
