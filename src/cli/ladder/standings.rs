//! The table of a pool.

use std::collections::BTreeMap;
use std::io::Write;

use plyd_ladder::ratings::table::{Place as Standing, Row, table};
use plyd_ladder::store::Store;
use plyd_ladder::{BotId, SeasonId};
use serde::Serialize;

use super::place::{Place, failed};
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::write_json;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder standings quick                    all games of the season
  plyd ladder standings quick --season all
  plyd ladder standings quick --season 1 --json  for programs

Ratings are in Elo, by Bradley-Terry over all pairs of games, with 95 % intervals; anchors are house bots, whose \
ratings are fixed.")]
pub(super) struct Args {
    /// The pool
    pool: String,
    /// A season by its name, or `all` [default: the latest]
    #[arg(long, value_name = "NAME")]
    season: Option<String>,
    /// Print JSON: an array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// A row as programs read it.
#[derive(Debug, Serialize)]
struct Standings {
    bot: String,
    games: u64,
    points: f64,
    /// The rating, or the distance from the mean of its group if nothing connects that with an anchor.
    elo: f64,
    /// The 95 % interval; null: unbounded on that side.
    interval: [Option<f64>; 2],
    /// Whether the rating is fixed.
    anchor: bool,
    /// The group, if nothing connects it with an anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<usize>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = args.place.open()?;
    let pool = store.pool(&args.pool).map_err(failed)?;
    let season = season(&mut store, args.season.as_deref())?;
    let results = store.results(pool.id, season).map_err(failed)?;
    let anchors: BTreeMap<BotId, f64> = pool.anchors.iter().copied().collect();
    let bots = store.bots().map_err(failed)?;
    let name = |id| bots.iter().find(|bot| bot.id == id).map_or_else(String::new, |bot| bot.name.clone());
    let rows: Vec<Standings> =
        table(&results, &anchors).iter().map(|row| standings(row, name(row.bot))).collect();
    if args.json {
        return write_json(out, &rows);
    }
    let mut shown = Columns::new(["", "bot", "Elo", "95 % interval", "games", "points", ""]);
    for (rank, row) in (1..).zip(&rows) {
        let bound = |bound: Option<f64>| bound.map_or_else(String::new, |bound| format!("{bound:.0}"));
        let interval = format!("{} to {}", bound(row.interval[0]), bound(row.interval[1]));
        let note = match (row.anchor, row.group) {
            (true, _) => "anchor".to_owned(),
            (false, Some(group)) => format!("group {}: no games connect it with an anchor", group + 1),
            (false, None) => String::new(),
        };
        shown.row([
            format!("{rank}."),
            row.bot.clone(),
            format!("{:.0}", row.elo),
            if row.anchor { String::new() } else { interval },
            row.games.to_string(),
            format!("{:.1}", row.points),
            note,
        ]);
    }
    Ok(write!(out, "{shown}")?)
}

/// The season of that name; none: all of them.
fn season(store: &mut Store, name: Option<&str>) -> Result<Option<SeasonId>, Failure> {
    let seasons = store.seasons().map_err(failed)?;
    match name {
        Some("all") => Ok(None),
        None => Ok(seasons.last().map(|season| season.id)),
        Some(name) => {
            let found = seasons.iter().find(|season| season.name.eq_ignore_ascii_case(name));
            let none = || Failure::Usage(format!("there is no season {name}; `plyd ladder season list`"));
            found.map(|season| Some(season.id)).ok_or_else(none)
        }
    }
}

fn standings(row: &Row, bot: String) -> Standings {
    let interval = row.interval();
    let bound = |bound: f64| bound.is_finite().then_some(bound);
    let (elo, anchor, group) = match row.place {
        Standing::Anchor(elo) => (elo, true, None),
        Standing::Rated(elo) => (elo.value, false, None),
        Standing::Apart { group, from_mean } => (from_mean.value, false, Some(group)),
    };
    Standings {
        bot,
        games: row.games,
        points: row.points,
        elo,
        interval: [bound(*interval.start()), bound(*interval.end())],
        anchor,
        group,
    }
}
