//! Owners and their bots.

use std::io::{self, Write};

use plyd_ladder::BotId;
use plyd_ladder::store::{LINK_MS, Secret};

use super::place::{Place, failed};
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::write_json;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder invite ann --url https://ladder.example   a link that works once, within 7 days
  plyd ladder invite ann                                another one, instead of the link before")]
pub(super) struct Invite {
    /// The owner's name: 1 to 40 of A-Z a-z 0-9 . - _, the first a letter or a digit
    name: String,
    /// Where browsers find the ladder
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7128", value_parser = url)]
    url: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder bot list
  plyd ladder bot list --json | jq '.[] | select(.disabled)'
  plyd ladder bot new kari --owner ann > kari.token     its token, and an owner if there is none
  plyd ladder bot token kari > kari.token               another token, instead of the one before
  plyd ladder bot disable kari --why 'plays under two names'
  plyd ladder bot enable kari --why 'mended'")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all bots
    List {
        /// Print JSON: an array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Register a bot and print its token, this once: the ladder keeps only its hash
    New {
        /// The bot's name: 1 to 40 of A-Z a-z 0-9 . - _, the first a letter or a digit
        name: String,
        /// Its owner's name; bots of one owner never meet
        #[arg(long, value_name = "NAME")]
        owner: String,
        #[command(flatten)]
        place: Place,
    },
    /// Make another token for a bot and print it
    Token {
        /// The bot
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// Let a bot play no more: it is disconnected, and loses the games that it is playing
    Disable {
        /// The bot
        name: String,
        /// Why: its owner reads this
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
    /// Let a bot play again
    Enable {
        /// The bot
        name: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
}

/// An address to which a path can be added.
fn url(text: &str) -> Result<String, String> {
    let rest = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_plain = |rest: &str| !rest.contains(|c: char| c.is_whitespace() || "?#".contains(c));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') && is_plain(rest) => Ok(text.to_owned()),
        _ => Err("give what browsers open, such as https://ladder.example".into()),
    }
}

pub(super) fn invite(args: &Invite, out: &mut impl Write) -> Result<(), Failure> {
    let link = args.place.open()?.invite(&args.name, &args.place.by()).map_err(failed)?;
    print(out, &format!("{}/join?link={}", args.url.trim_end_matches('/'), link.text()))?;
    // Beside the link, which a script may take from stdout.
    let days = LINK_MS / (24 * 3600 * 1000);
    let _nobody_reads = writeln!(io::stderr(), "The link works once, within {days} days.");
    Ok(())
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::List { json, place } => list(*json, place, out),
        Command::New { name, owner, place } => new(name, owner, place, out),
        Command::Token { name, place } => {
            let mut store = place.open()?;
            let bot = store.bot_named(name).map_err(failed)?;
            show(out, &store.new_token(bot.id, &place.by()).map_err(failed)?)
        }
        Command::Disable { name, why, place } => {
            place.open()?.disable(name, why, &place.by()).map_err(failed)
        }
        Command::Enable { name, why, place } => place.open()?.enable(name, why, &place.by()).map_err(failed),
    }
}

fn list(json: bool, place: &Place, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = place.open()?;
    let bots = store.bots().map_err(failed)?;
    if json {
        return write_json(out, &bots);
    }
    let owners = store.accounts().map_err(failed)?;
    let mut table = Columns::new(["bot", "owner", "forfeits in a row", "disabled"]);
    for bot in bots {
        let owner = bot.owner.and_then(|id| owners.iter().find(|owner| owner.id == id));
        let owner = owner.map_or("the house", |owner| owner.name.as_str()).to_owned();
        let why = bot.disabled.map(|disabled| disabled.why).unwrap_or_default();
        table.row([bot.name, owner, bot.forfeits.to_string(), why]);
    }
    Ok(write!(out, "{table}")?)
}

fn new(name: &str, owner: &str, place: &Place, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = place.open()?;
    let known = |store: &mut plyd_ladder::store::Store| {
        let accounts = store.accounts().map_err(failed)?;
        Ok::<_, Failure>(accounts.into_iter().find(|account| account.name.eq_ignore_ascii_case(owner)))
    };
    let account = match known(&mut store)? {
        Some(account) => account,
        None => {
            // An owner is made by an invitation; nobody follows this one.
            store.invite(owner, &place.by()).map_err(failed)?;
            known(&mut store)?.ok_or_else(|| Failure::Failed(format!("there is no owner {owner}")))?
        }
    };
    let bot: BotId = store.new_bot(account.id, name, &place.by()).map_err(failed)?;
    show(out, &store.new_token(bot, &place.by()).map_err(failed)?)
}

fn show(out: &mut impl Write, token: &Secret) -> Result<(), Failure> {
    print(out, token.text())
}

/// Prints a secret, which is lost if nobody reads it.
fn print(out: &mut impl Write, secret: &str) -> Result<(), Failure> {
    let printed = writeln!(out, "{secret}").and_then(|()| out.flush());
    printed.map_err(|error| {
        Failure::Failed(format!("this cannot be printed and is lost ({error}): make another one"))
    })
}
