//! Pools and seasons.

use std::io::Write;
use std::time::Duration;

use plyd_ladder::serve::draw;
use plyd_ladder::terms::{NetworkTime, PoolClock, PoolTerms, whole_ms};
use plyd_ladder::utc;
use plyd_protocol::{Seed, Settings};

use super::place::{Place, failed};
use crate::arena::{Strictness, TimeControl};
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::{clock, parse, registry, write_json};
use crate::engine::Entry;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder pool add quick --game isolation --rules preset=7x7 --clock tc=10s+0.1s
  plyd ladder pool add slow --game l-game --clock tc=5m+3s --opening-plies 2 --period 30
  plyd ladder pool list
  plyd ladder pool close quick --why 'too many draws'")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add a pool. Its game, rules and clock never change, because a rating means strength under them
    Add(Box<Add>),
    /// List the pools
    List {
        /// Print JSON: an array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Let no further game begin in a pool
    Close {
        /// The pool
        name: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
    /// Let games begin in a pool again
    Open {
        /// The pool
        name: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// The pool's name: 1 to 40 of A-Z a-z 0-9 . - _, the first a letter or a digit
    name: String,
    /// The game
    #[arg(long, value_name = "GAME", value_parser = registry::parser())]
    game: &'static Entry,
    /// A rule of the game, such as preset=7x7
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::assignment)]
    rules: Vec<(String, String)>,
    /// Both bots' clock: tc=10s+0.1s, time=100ms, delay=5m+3s or bank=10s+5m
    #[arg(long, value_name = "CLOCK", value_parser = clock::read)]
    clock: TimeControl,
    /// How many random moves begin each game
    #[arg(long, value_name = "N", default_value_t = 4)]
    opening_plies: usize,
    /// How late an answer may be without a forfeit
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse::duration)]
    margin: Duration,
    /// How long to wait for an answer once its time is over
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::duration)]
    timeout: Duration,
    /// A game of so many moves is a draw
    #[arg(long, value_name = "N", default_value_t = 500)]
    max_moves: usize,
    /// The most that is subtracted from a move's time for the network [default: a tenth of a move's time,
    /// counting 40 moves a game, but at most 100ms]
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    network: Option<Duration>,
    /// The most that is subtracted for a bot in a whole game [default: a twentieth of its time for 40 moves,
    /// 5s at most]
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    network_game: Option<Duration>,
    /// A rating period: for each that passes without games, a rating grows more uncertain
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=3650))]
    period: u64,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder season start spring-2027      a new table; ratings are kept
  plyd ladder season list")]
pub(super) struct SeasonArgs {
    #[command(subcommand)]
    command: SeasonCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SeasonCommand {
    /// Begin a season
    Start {
        /// Its name
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// List the seasons
    List {
        /// Print JSON: an array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::Add(args) => add(args, out),
        Command::List { json, place } => list(*json, place, out),
        Command::Close { name, why, place } => {
            place.open()?.close_pool(name, true, why, &place.by()).map_err(failed)
        }
        Command::Open { name, why, place } => {
            place.open()?.close_pool(name, false, why, &place.by()).map_err(failed)
        }
    }
}

fn add(args: &Add, out: &mut impl Write) -> Result<(), Failure> {
    let clock = PoolClock::of(args.clock).filter(|clock| clock.control() == args.clock);
    let clock = clock.ok_or_else(|| Failure::Usage("--clock: give whole milliseconds".into()))?;
    let rules = args.rules.iter().map(|(name, text)| (name.clone(), parse::setting(text)));
    let usual = NetworkTime::of(clock);
    let terms = PoolTerms {
        rules: Settings(rules.collect()),
        opening_plies: args.opening_plies,
        strictness: Strictness {
            margin: args.margin,
            timeout: args.timeout,
            max_moves: args.max_moves,
            ..Strictness::default()
        },
        network: NetworkTime {
            move_ms: args.network.map_or(usual.move_ms, whole_ms),
            game_ms: args.network_game.map_or(usual.game_ms, whole_ms),
        },
        period_ms: args.period * 24 * 3600 * 1000,
        ..PoolTerms::new(args.game.name, clock)
    };
    // Rules and opening are those of games that can be played.
    draw(registry::games(), &terms, Seed(1)).map_err(Failure::Usage)?;
    args.place.open()?.add_pool(&args.name, &terms, &[], &args.place.by()).map_err(failed)?;
    let next = format!("`plyd ladder calibrate {}` gives it house bots", args.name);
    Ok(writeln!(out, "{}: a pool without house bots; {next}", args.name)?)
}

fn list(json: bool, place: &Place, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = place.open()?;
    let pools = store.pools().map_err(failed)?;
    if json {
        return write_json(out, &pools);
    }
    let mut table = Columns::new(["pool", "game", "rules", "clock", "house bots", "state"]);
    for pool in pools {
        let rules = pool.terms.rules.iter().map(|(name, value)| {
            let value = serde_json::to_value(value).unwrap_or_default();
            format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
        let rules = rules.collect::<Vec<_>>().join(" ");
        let clock = clock::text(pool.terms.clock.control()).unwrap_or_default();
        let state = if pool.closed_ms.is_some() { "closed" } else { "open" };
        table.row([pool.name, pool.terms.game, rules, clock, pool.anchors.len().to_string(), state.into()]);
    }
    Ok(write!(out, "{table}")?)
}

pub(super) fn season(args: &SeasonArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        SeasonCommand::Start { name, place } => {
            place.open()?.start_season(name, &place.by()).map(drop).map_err(failed)
        }
        SeasonCommand::List { json, place } => {
            let seasons = place.open()?.seasons().map_err(failed)?;
            if *json {
                return write_json(out, &seasons);
            }
            let mut table = Columns::new(["season", "begun"]);
            seasons.into_iter().for_each(|season| table.row([season.name, utc(season.begun_ms)]));
            Ok(write!(out, "{table}")?)
        }
    }
}
