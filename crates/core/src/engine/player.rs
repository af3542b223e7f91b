//! [`Engine`] for any game: a searcher behind one object.

use super::typed::Typed;
use super::{AnyRoot, Candidates, Engine, Evaluation, Fault, Line, Playable};
use crate::effort::Effort;
use crate::game::{Root, Turn};
use crate::options::{FULL_LEVEL, Options};
use crate::score::Value;
use crate::search::{self, Control, End, SearchParams, SearchResult, Searcher, strength};

/// A searcher with the game that it was made for.
pub(super) struct TypedEngine<G: Playable> {
    game: G,
    searcher: Box<dyn Searcher<G>>,
}

impl<G: Playable> TypedEngine<G> {
    pub(super) fn new(game: &G, options: &Options) -> Result<Self, Fault> {
        let weakening = (options.level < FULL_LEVEL).then(|| {
            let levels = G::entry().levels();
            levels.weakening(options.level).zip(levels.weakening(1))
        });
        let searcher = strength::build(options, weakening.flatten(), |options| game.searcher(options))?;
        Ok(Self { game: game.clone(), searcher })
    }
}

impl<G: Playable> Engine for TypedEngine<G> {
    fn fits(&self, root: &dyn AnyRoot) -> bool {
        root.as_any().downcast_ref::<Typed<G>>().is_some_and(|typed| typed.game == self.game)
    }

    fn search(
        &mut self,
        root: &dyn AnyRoot,
        candidates: &Candidates,
        multipv: usize,
        control: &Control,
        publish: &mut dyn FnMut(Vec<Line>),
    ) -> (Vec<Line>, End) {
        let typed = root.as_any().downcast_ref::<Typed<G>>().expect("the engine fits the root");
        let effort = Effort::of_search(control.interrupt().clone());
        let heeding = typed.game.heeding(&effort);
        let (game, root) = (heeding.as_ref().unwrap_or(&typed.game), &typed.root);
        let mut legal = Vec::new();
        game.moves(&root.pos, &mut legal);
        let moves: Vec<G::Move> = candidates.indexes.iter().map(|&index| legal[index]).collect();
        let multipv = multipv.clamp(1, moves.len());

        let first = legal[candidates.first];
        publish(lines(game, root, &SearchResult::one(first, 0, None), false));

        let params = SearchParams { moves, multipv };
        // If the rules left something undecided, nothing that rests on them is a proof.
        let is_sure = || !game.is_undecided(&root.pos) && !effort.has_undecided();
        let mut report = |found: &SearchResult<G::Move>| publish(lines(game, root, found, is_sure()));
        let (found, end) = self.searcher.search(game, root, &params, control, &mut report);
        if is_sure() {
            return (lines(game, root, &found, true), end);
        }
        // Nor is what was learned on the way.
        self.searcher.clear();
        (lines(game, root, &found, false), if end == End::Proven { End::Limit } else { end })
    }

    fn clear(&mut self) {
        self.searcher.clear();
    }
}

/// What a search found, for a reader who does not know the game.
fn lines<G: Playable>(game: &G, root: &Root<G>, found: &SearchResult<G::Move>, is_sure: bool) -> Vec<Line> {
    found.lines.iter().map(|found| line(game, root, found, is_sure)).collect()
}

/// A line; it ends with a move whose effect the rules did not find out, because the next one may not be legal
/// after it.
fn line<G: Playable>(game: &G, root: &Root<G>, found: &search::Variation<G::Move>, is_sure: bool) -> Line {
    let mut pos = root.pos.clone();
    let mut pv = Vec::with_capacity(found.pv.len());
    for &mv in &found.pv {
        debug_assert!(!matches!(game.turn(&pos), Turn::Over(_)), "a line runs past the end of the game");
        pv.push(game.move_text(&pos, mv));
        game.play(&mut pos, mv);
        if game.is_undecided(&pos) {
            break;
        }
    }
    let sure = |value: Value| if is_sure { value } else { Value::guess(value.score) };
    let value = found.value.map(|(value, bound)| Evaluation::of::<G>(sure(value), bound));
    Line { pv, depth: found.depth, value }
}
