//! Games, and whether what is kept of them agrees with itself.

use std::io::Write;

use plyd_ladder::{GameId, utc};

use super::place::{Place, failed};
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::{words, write_json};

/// How many entries of the audit log are read at once.
const PAGE: u64 = 1000;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder games list --bot kari                     its latest games
  plyd ladder games list --bot kari --forfeits --most 5 its latest forfeits
  plyd ladder games void 81 82 --why 'the machine was out of memory'
  plyd ladder games drop-logs --days 90                 keep only the logs of the last 90 days")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the latest games of a bot
    List {
        /// The bot
        #[arg(long, value_name = "NAME")]
        bot: String,
        /// Its forfeits alone
        #[arg(long)]
        forfeits: bool,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 20)]
        most: u64,
        /// Print JSON: an array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Make games void, even such as are being played: they count for nobody, and ratings are computed anew
    Void {
        /// The games
        #[arg(required = true, value_name = "GAME")]
        games: Vec<u64>,
        /// Why: the bots' owners read this
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
    /// Delete the logs of old games, that is what bots and ladder said; records and results stay
    DropLogs {
        /// How many days ago the games ended, at least
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: u32,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder check                    exit code 0: all agrees
  plyd ladder check --db backup.db --json")]
pub(super) struct Check {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder audit
  plyd ladder audit --after 120 --json       the entries from number 121 on, one a line")]
pub(super) struct Audit {
    /// The entries after this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: u64,
    /// Print JSON, an entry a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::List { bot, forfeits, most, json, place } => {
            let mut store = place.open()?;
            let bots = store.bots().map_err(failed)?;
            let own = store.bot_named(bot).map_err(failed)?;
            let games = store.games_of(own.id, None, *forfeits, *most).map_err(failed)?;
            if *json {
                return write_json(out, &games);
            }
            let name = |id| bots.iter().find(|bot| bot.id == id).map_or("?", |bot| bot.name.as_str());
            let mut table = Columns::new(["game", "p1", "p2", "state", "points of p1", "ended by", "void"]);
            for game in games {
                let points = game.half_points.map(|points| format!("{:.1}", points as f64 / 2.0));
                table.row([
                    game.id.to_string(),
                    name(game.players[0]).to_owned(),
                    name(game.players[1]).to_owned(),
                    game.state,
                    points.unwrap_or_default(),
                    game.ended_by.unwrap_or_default(),
                    game.void_why.unwrap_or_default(),
                ]);
            }
            Ok(write!(out, "{table}")?)
        }
        Command::Void { games, why, place } => {
            let games: Vec<GameId> = games.iter().copied().map(GameId).collect();
            let voided = place.open()?.void_games(&games, why, &place.by()).map_err(failed)?;
            let all = games.len() as u64;
            Ok(writeln!(out, "made void: {voided} of {all}; void before: {}", all - voided)?)
        }
        Command::DropLogs { days, place } => {
            let by = place.by();
            let before_ms = by.at_ms.saturating_sub(i64::from(*days) * 24 * 3600 * 1000);
            let dropped = place.open()?.drop_logs(before_ms, &by).map_err(failed)?;
            Ok(writeln!(out, "dropped the logs of {}", words::count(dropped, "game"))?)
        }
    }
}

pub(super) fn check(args: &Check, out: &mut impl Write) -> Result<(), Failure> {
    let checked = args.place.open()?.check().map_err(failed)?;
    if args.json {
        write_json(out, &checked)?;
    } else {
        let plyd_ladder::store::Checked { games, open, void, encounters, ratings, faults } = &checked;
        writeln!(out, "games: {games} over, {open} open, {void} void")?;
        writeln!(out, "encounters that moved ratings: {encounters}; ratings compared: {ratings}")?;
        faults.iter().try_for_each(|fault| writeln!(out, "{fault}"))?;
    }
    match checked.faults.len() {
        0 => Ok(()),
        count => Err(Failure::Failed(format!("{count} faults: restore a backup"))),
    }
}

pub(super) fn audit(args: &Audit, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = args.place.open()?;
    let mut table = Columns::new(["entry", "when", "who", "what", "about", "why"]);
    let mut after = args.after;
    loop {
        let entries = store.audit(after, PAGE).map_err(failed)?;
        let Some(last) = entries.last() else { break };
        after = last.id;
        for entry in entries {
            if args.json {
                write_json(out, &entry)?;
            } else {
                let [id, when] = [entry.id.to_string(), utc(entry.at_ms)];
                table.row([id, when, entry.who, entry.what, entry.about, entry.why]);
            }
        }
    }
    if args.json { Ok(()) } else { Ok(write!(out, "{table}")?) }
}
