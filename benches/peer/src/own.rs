//! plyd's own search, by the default player with the mobility evaluation.

use plyd::bits::Colours;
use plyd::game::{Game as _, Root};
use plyd::games::isolation::eval::Mobility;
use plyd::games::isolation::rules::Position;
use plyd::options::Options;
use plyd::search::iterate::Iterate;
use plyd::search::{Control, SearchParams, Searcher as _};

use crate::positions::Rules;
use crate::searched::{Searched, timed};

/// Searches a position with an empty table.
pub(crate) fn search(
    game: &Rules,
    pos: &Position<Colours<u64>>,
    depth: u32,
    table_mb: usize,
    threads: usize,
) -> Searched {
    let options = Options { threads, hash_mb: table_mb, deterministic: threads == 1, ..Options::default() };
    let mut searcher = Iterate::new(game, Mobility::new(game), &options);
    let root = Root::new(*pos);
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    let params = SearchParams { moves, multipv: 1 };
    let control = Control::default();
    control.set_limits(None, Some(depth));
    let (cpu, wall, (found, _)) = timed(|| searcher.search(game, &root, &params, &control, &mut |_| ()));
    let (value, _) = found.lines[0].value.expect("a search that ended scores its line");
    Searched { cpu, wall, nodes: control.stats().nodes, value: value.score.raw() / 1000 }
}
