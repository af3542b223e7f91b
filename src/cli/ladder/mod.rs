//! `plyd ladder`: a ladder on which bots compete, from its first day to its backups. One file a group of
//! commands; what they do is [`plyd_ladder`]'s.

mod bots;
mod calibrate;
mod games;
mod owners;
mod place;
mod pools;
mod serve;
mod standings;
mod transfer;

use std::io::Write;

use plyd_ladder::store::Store;

use super::failure::Failure;
use super::verbosity::Verbosity;
use place::{Place, failed};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder init                                     a ladder in ladder.db, SQLite
  plyd ladder init --db postgres://plyd@localhost/ladder
  plyd ladder pool add quick --game isolation --rules preset=7x7 --clock tc=10s+0.1s
  plyd ladder calibrate quick                          house bots that anchor the ratings
  plyd ladder invite ann --url https://ladder.example  a link with which ann registers bots
  plyd ladder bot new kari --owner ann > kari.token    or a bot without the pages
  plyd ladder serve --tcp 127.0.0.1:7127 --http 127.0.0.1:7128
  plyd connect tcp=127.0.0.1:7127 --token-file kari.token
  plyd ladder standings quick
  plyd ladder backup /backup/ladder-$(date +%F).db     while it runs

docs/ladder.md explains how to run one for a year.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a ladder in a database, or bring that of an older plyd up to date
    Init(Init),
    /// Let bots dial in, pair them, referee and rate their games; show the pages
    Serve(serve::Args),
    /// Invite an owner of bots: print a link that works once, within 7 days
    Invite(bots::Invite),
    /// List, disable and enable owners
    Owner(owners::Args),
    /// List, register, disable and enable bots, and give them tokens
    Bot(bots::Args),
    /// List games, make some void, and delete old logs
    Games(games::Args),
    /// Add, list, close and open pools
    Pool(pools::Args),
    /// Begin a season, or list them
    Season(pools::SeasonArgs),
    /// Show the table of a pool
    Standings(standings::Args),
    /// Play house bots against each other, and make them the anchors of a pool
    Calibrate(calibrate::Args),
    /// Compute all ratings anew and compare each game with its record
    Check(games::Check),
    /// Show who changed what, and why
    Audit(games::Audit),
    /// Write all games as records, a line of JSON each
    Export(transfer::Export),
    /// Read the games that another ladder exported into a new one
    Import(transfer::Import),
    /// Copy the database to a new file, while the ladder runs
    Backup(transfer::Backup),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder init
  plyd ladder init --db /var/lib/plyd/ladder.db     also after an upgrade, while no server runs")]
struct Init {
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: Args, verbosity: &Verbosity, out: &mut impl Write) -> Result<(), Failure> {
    match args.command {
        Command::Init(args) => init(&args, out),
        Command::Serve(args) => serve::run(args, verbosity),
        Command::Invite(args) => bots::invite(&args, out),
        Command::Owner(args) => owners::run(&args, out),
        Command::Bot(args) => bots::run(&args, out),
        Command::Games(args) => games::run(&args, out),
        Command::Pool(args) => pools::run(&args, out),
        Command::Season(args) => pools::season(&args, out),
        Command::Standings(args) => standings::run(&args, out),
        Command::Calibrate(args) => calibrate::run(&args, out),
        Command::Check(args) => games::check(&args, out),
        Command::Audit(args) => games::audit(&args, out),
        Command::Export(args) => transfer::export(&args, out),
        Command::Import(args) => transfer::import(&args, out),
        Command::Backup(args) => transfer::backup(&args, out),
    }
}

fn init(args: &Init, out: &mut impl Write) -> Result<(), Failure> {
    let is_new = Store::init(&args.place.db, &args.place.by()).map_err(failed)?;
    let done = if is_new { "a new ladder, in season 1" } else { "up to date" };
    Ok(writeln!(out, "{}: {done}", args.place.db)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[derive(Debug, clap::Parser)]
    struct Ladder {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn each_command_shows_examples() {
        let ladder = Ladder::command();
        for command in ladder.get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let name = format!("plyd ladder {}", command.get_name());
            assert!(help.contains(&name), "{name}");
        }
    }
}
