//! House bots for a pool, with the ratings that a round robin between them gives.

use std::collections::BTreeMap;
use std::io::Write;
use std::thread;

use plyd_ladder::BotId;
use plyd_ladder::ratings::table::{Place as Standing, table};
use plyd_ladder::serve::{Contestant, contestants, round_robin};
use plyd_ladder::store::{House, Store};
use plyd_protocol::{Seed, Settings};

use super::place::{Place, failed};
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::{parse, registry};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder calibrate quick                        random, the published player, plyd's ten levels
  plyd ladder calibrate quick --games 40 --threads 2
  plyd ladder calibrate quick --player level=2 --player level=5 --player player=greedy
  plyd ladder calibrate quick --again --suffix -2    others, beside those of an older plyd

House bots are limited by nodes, so that they are as strong on any machine, and pinned to this version of plyd and to \
the signature of the game's search (`plyd bench`): a plyd with another one does not play them. The first one has the rating of --elo.")]
pub(super) struct Args {
    /// The pool
    pool: String,
    /// Games between any two
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    games: u64,
    /// The nodes that each searches for a move
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// A house bot by its options, with commas between them, such as level=3; give several [default: random,
    /// published if the game has it, and the levels 1 to 10]
    #[arg(long = "player", value_name = "OPTIONS")]
    players: Vec<String>,
    /// The rating of the first house bot; those of the others follow from the games
    #[arg(long, value_name = "ELO", default_value_t = 1000.0, allow_hyphen_values = true)]
    elo: f64,
    /// What the names of the house bots end with
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    suffix: String,
    /// How many games are played at once [default: the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// The seed of openings and chance
    #[arg(long, value_name = "HEX", default_value = "1", value_parser = parse::seed)]
    seed: Seed,
    /// Move the anchors although games were played: all ratings of the pool change
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = args.place.open()?;
    let pool = store.pool(&args.pool).map_err(failed)?;
    let ratings = store.ratings(pool.id).map_err(failed)?;
    if !args.again && ratings.values().any(|rated| rated.encounters > 0) {
        let message = format!("{} has ratings already, which this would move: give --again", pool.name);
        return Err(Failure::Usage(message));
    }
    let entry = registry::game(&pool.terms.game)?;
    let build = crate::cli::signed_build::build(entry)?;
    let all = match &args.players[..] {
        [] => contestants(entry, args.nodes, &build),
        players => {
            players.iter().map(|text| contestant(text, args.nodes, &build)).collect::<Result<_, _>>()?
        }
    };
    if all.len() < 2 {
        return Err(Failure::Usage("--player: give at least two".into()));
    }
    if let Some((_, twice)) =
        all.iter().enumerate().find(|(at, one)| all[..*at].iter().any(|other| other.name == one.name))
    {
        let message = format!("--player: {} is there twice: each plays under its own name", twice.name);
        return Err(Failure::Usage(message));
    }
    let name = |one: &Contestant| format!("{}-{}{}", entry.name, one.name, args.suffix);
    // Before hours of games: whether they can be registered.
    for one in &all {
        expect(&mut store, &name(one), &one.house)?;
    }
    let threads = args.threads.map(usize::from);
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let pairs = args.games.div_ceil(2);
    let count = all.len() as u64;
    let mut progress = Progress::new(args.games.div_ceil(2) * count * (count - 1), 0);
    let played = runtime.block_on(round_robin(
        registry::games(),
        &pool.terms,
        &all,
        pairs,
        threads,
        args.seed.0,
        |done, _| progress.show(2 * done, ""),
    ));
    drop(progress);
    let results = played.map_err(Failure::Failed)?;
    let rows = table(&results, &BTreeMap::from([(BotId(1), args.elo)]));
    let mut anchors = Vec::new();
    let mut shown = Columns::new(["house bot", "Elo", "95 %"]);
    for row in &rows {
        let one = &all[row.bot.0 as usize - 1];
        let (elo, error) = match row.place {
            Standing::Anchor(elo) => (elo, 0.0),
            Standing::Rated(elo) => (elo.value, elo.error),
            Standing::Apart { .. } => {
                return Err(Failure::Failed("games connect not all of them: give more --games".into()));
            }
        };
        // Whole Elo: what stands in the table is what is kept.
        let elo = elo.round();
        anchors.push((name(one), one.house.clone(), elo));
        shown.row([name(one), format!("{elo:.0}"), format!("± {error:.0}")]);
    }
    store.calibrate(&pool.name, &anchors, &args.place.by()).map_err(failed)?;
    Ok(write!(out, "{shown}")?)
}

/// Refuses the name of a house bot that another bot has.
fn expect(store: &mut Store, name: &str, house: &House) -> Result<(), Failure> {
    let bots = store.bots().map_err(failed)?;
    match bots.into_iter().find(|bot| bot.name.eq_ignore_ascii_case(name)) {
        None => Ok(()),
        Some(bot) if bot.house.as_ref() == Some(house) => Ok(()),
        Some(_) => {
            Err(Failure::Usage(format!("there is another bot {name}: give these other names by --suffix")))
        }
    }
}

/// A house bot by its options.
fn contestant(text: &str, nodes: u64, build: &str) -> Result<Contestant, Failure> {
    let wrong = |message: String| Failure::Usage(format!("--player {text}: {message}"));
    let given = text.split(',').map(parse::assignment).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let words = given.iter().map(|(name, value)| match name.as_str() {
        "player" => value.clone(),
        name => format!("{name}-{value}"),
    });
    let name = words.collect::<Vec<_>>().join("-");
    let options = Settings(given.iter().map(|(name, text)| (name.clone(), parse::setting(text))).collect());
    Ok(Contestant { name, house: House { options, nodes, version: build.to_owned() } })
}
