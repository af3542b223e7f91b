//! The table of a pool.

use std::collections::BTreeMap;
use std::io::Write;

use plyd_ladder::ratings::table::{Place as Standing, RANKED_GAMES, Row, table};
use plyd_ladder::store::{Bot, Pool, Store};
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
    /// The pool; may be left out if there is only one
    pool: Option<String>,
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
    /// Whether it has played enough games, and not lost all of them.
    ranked: bool,
    /// Whether it may not play at present.
    disabled: bool,
    /// The group, if nothing connects it with an anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<usize>,
}

impl Standings {
    /// Whether no games connect it with the others: without an anchor those are the largest group.
    fn is_apart(&self, has_anchor: bool) -> bool {
        self.group.is_some_and(|group| has_anchor || group != 0)
    }
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = args.place.open()?;
    let pool = match &args.pool {
        Some(name) => store.pool(name).map_err(failed)?,
        None => only_pool(&mut store)?,
    };
    let season = season(&mut store, args.season.as_deref())?;
    let results = store.results(pool.id, season).map_err(failed)?;
    let anchors: BTreeMap<BotId, f64> = pool.anchors.iter().copied().collect();
    let bots = store.bots().map_err(failed)?;
    let bot = |id| bots.iter().find(|bot| bot.id == id);
    let mut rows: Vec<Standings> =
        table(&results, &anchors).iter().map(|row| standings(row, bot(row.bot))).collect();
    rows.sort_by_key(|row| row.disabled);
    if args.json {
        return write_json(out, &rows);
    }
    if rows.is_empty() {
        return Ok(writeln!(out, "no bot has played in {} yet", pool.name)?);
    }
    let has_anchor = has_anchor(&rows);
    let mut shown = Columns::new(["", "bot", "Elo", "95 % interval", "games", "points", ""]);
    for (row, rank) in rows.iter().zip(ranks(&rows)) {
        let note = if row.disabled {
            "disabled".to_owned()
        } else if !row.ranked {
            format!("not yet rated: fewer than {RANKED_GAMES} games, or all lost")
        } else if row.anchor {
            "anchor".to_owned()
        } else if !row.is_apart(has_anchor) {
            String::new()
        } else if has_anchor {
            "apart: no games connect it with an anchor".to_owned()
        } else {
            "apart: no games connect it with the others".to_owned()
        };
        shown.row([
            rank.map_or_else(String::new, |rank| format!("{rank}.")),
            row.bot.clone(),
            if row.ranked { whole(row.elo) } else { String::new() },
            if row.anchor || !row.ranked { String::new() } else { interval(row.interval) },
            row.games.to_string(),
            format!("{:.1}", row.points),
            note,
        ]);
    }
    write!(out, "{shown}")?;
    if !has_anchor {
        writeln!(
            out,
            "{0} has no anchors, so its ratings are distances from their mean; `plyd ladder calibrate {0}` makes anchors",
            pool.name
        )?;
    }
    Ok(())
}

fn has_anchor(rows: &[Standings]) -> bool {
    rows.iter().any(|row| row.anchor)
}

/// The rank of each row. Where a bot stands that no games connect with the others nobody knows.
fn ranks(rows: &[Standings]) -> impl Iterator<Item = Option<u32>> {
    let has_anchor = has_anchor(rows);
    let mut ranks = 1..;
    rows.iter().map(move |row| {
        let has_rank = row.ranked && !row.disabled && !row.is_apart(has_anchor);
        if has_rank { ranks.next() } else { None }
    })
}

/// The one pool of a ladder.
fn only_pool(store: &mut Store) -> Result<Pool, Failure> {
    let mut pools = store.pools().map_err(failed)?;
    match (pools.pop(), &pools[..]) {
        (Some(pool), []) => Ok(pool),
        (None, _) => Err(Failure::Usage("there is no pool yet: `plyd ladder pool add` makes one".into())),
        (Some(last), others) => {
            let names: Vec<&str> = others.iter().chain([&last]).map(|pool| &*pool.name).collect();
            Err(Failure::Usage(format!("name a pool: {}", names.join(", "))))
        }
    }
}

/// A whole number, without a minus before 0.
fn whole(value: f64) -> String {
    format!("{:.0}", value.round() + 0.0)
}

/// An interval for people. Whoever won or lost all games may be any stronger or weaker.
fn interval(bounds: [Option<f64>; 2]) -> String {
    match bounds {
        [Some(low), Some(high)] => format!("{} to {}", whole(low), whole(high)),
        [Some(low), None] => format!("{} or more", whole(low)),
        [None, Some(high)] => format!("{} or less", whole(high)),
        [None, None] => "unknown".to_owned(),
    }
}

/// The season of that name; none: all of them.
fn season(store: &mut Store, name: Option<&str>) -> Result<Option<SeasonId>, Failure> {
    let seasons = store.seasons().map_err(failed)?;
    match name {
        Some("all") => Ok(None),
        None => Ok(seasons.last().map(|season| season.id)),
        Some(name) => {
            let found = seasons.iter().find(|season| season.name.eq_ignore_ascii_case(name));
            let none =
                || Failure::Usage(format!("there is no season {name}; `plyd ladder season list` lists them"));
            found.map(|season| Some(season.id)).ok_or_else(none)
        }
    }
}

fn standings(row: &Row, bot: Option<&Bot>) -> Standings {
    let interval = row.interval();
    let bound = |bound: f64| bound.is_finite().then_some(bound);
    let (elo, anchor, group) = match row.place {
        Standing::Anchor(elo) => (elo, true, None),
        Standing::Rated(elo) => (elo.value, false, None),
        Standing::Apart { group, from_mean } => (from_mean.value, false, Some(group)),
    };
    Standings {
        bot: bot.map_or_else(String::new, |bot| bot.name.clone()),
        games: row.games,
        points: row.points,
        elo,
        interval: [bound(*interval.start()), bound(*interval.end())],
        anchor,
        ranked: row.is_ranked(),
        disabled: bot.is_some_and(|bot| bot.disabled.is_some()),
        group,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_have_ranks_in_the_group_that_has_anchors_or_in_the_largest() {
        let standings = |(anchor, group): (bool, Option<usize>)| Standings {
            bot: "kari".into(),
            games: 4,
            points: 2.0,
            elo: 0.0,
            interval: [None, None],
            anchor,
            ranked: true,
            disabled: false,
            group,
        };
        for (rows, expected) in [
            (&[(true, None), (false, None)][..], &[Some(1), Some(2)][..]),
            (&[(true, None), (false, Some(0)), (false, Some(0))], &[Some(1), None, None]),
            (&[(false, Some(0)), (false, Some(1)), (false, Some(0))], &[Some(1), None, Some(2)]),
            (&[], &[]),
        ] {
            let rows: Vec<Standings> = rows.iter().copied().map(standings).collect();
            assert_eq!(ranks(&rows).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn an_interval_without_a_bound_says_so() {
        let shown =
            [[Some(1.4), Some(9.6)], [Some(-1.4), None], [None, Some(9.6)], [None, None]].map(interval);
        assert_eq!(shown, ["1 to 10", "-1 or more", "10 or less", "unknown"]);
    }
}
