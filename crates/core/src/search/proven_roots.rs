//! Which root moves are decided, and what a search thinks of the others: the lines that follow from both.

use crate::score::{Score, Value};
use crate::search::sort::sort_by_key;
use crate::search::{Bound, SearchParams, SearchResult, Variation};

/// The root moves of one question, decided or not.
#[derive(Clone, Debug)]
pub(super) struct ProvenRootMoves<M> {
    moves: Vec<(M, Option<Value>)>,
    multipv: usize,
    /// What the search found last, about whichever moves it was asked to search.
    found: Vec<Variation<M>>,
    /// The move to play in a lost position, if theory has one.
    best_try: Option<M>,
}

impl<M: Copy + PartialEq> ProvenRootMoves<M> {
    /// A question of which nothing is decided yet.
    pub(super) fn new(params: &SearchParams<M>) -> Self {
        let moves = params.moves.iter().map(|&mv| (mv, None)).collect();
        Self { moves, multipv: params.multipv, found: Vec::new(), best_try: None }
    }

    /// Keeps the decided value of a move.
    pub(super) fn decide(&mut self, mv: M, value: Value) {
        if let Some(known) = self.moves.iter_mut().find(|known| known.0 == mv) {
            known.1 = Some(value);
        }
    }

    /// Keeps that the position is lost, and the move to try.
    pub(super) fn lose(&mut self, value: Value, best_try: Option<M>) {
        for (_, known) in &mut self.moves {
            *known = known.or(Some(value));
        }
        self.best_try = best_try.filter(|&mv| self.moves.iter().any(|known| known.0 == mv));
    }

    /// Keeps what the search found.
    pub(super) fn learn(&mut self, found: &SearchResult<M>) {
        self.found.clone_from(&found.lines);
    }

    /// Whether a move is decided.
    pub(super) fn is_decided(&self, mv: M) -> bool {
        self.value(mv).is_some()
    }

    /// The moves that are not decided, sorted by `order`.
    pub(super) fn undecided(&self, order: impl Fn(M) -> i32) -> Vec<M> {
        let mut moves: Vec<M> =
            self.moves.iter().filter(|known| known.1.is_none()).map(|known| known.0).collect();
        sort_by_key(&mut moves, |&mv| i64::from(order(mv)));
        moves
    }

    /// How many lines are still to be searched for, beside the decided wins.
    pub(super) fn missing(&self) -> usize {
        self.multipv.saturating_sub(self.wins()).max(1)
    }

    /// Whether the lines asked for are decided, and no other move could displace one.
    pub(super) fn is_answered(&self) -> bool {
        self.wins() >= self.multipv || self.moves.iter().all(|known| known.1.is_some())
    }

    /// Whether a losing line has to be given, so that a search should choose which.
    pub(super) fn wants_try(&self) -> bool {
        self.wins() < self.multipv && self.moves.len() > 1 && self.best_try.is_none()
    }

    /// The plies within which the best move is known to win, if it is.
    pub(super) fn best(&self) -> Option<u32> {
        let (value, _) = self.lines().lines.first()?.value?;
        value.score.distance().filter(|_| value.is_decided() && value.score.is_win())
    }

    /// The lines: wins, the quickest first; undecided moves, as the search ranks them; then losses.
    pub(super) fn lines(&self) -> SearchResult<M> {
        let unsearched = |&(mv, value): &(M, Option<Value>)| {
            let is_new = self.found.iter().all(|line| line.pv[0] != mv);
            is_new.then(|| Variation {
                pv: vec![mv],
                depth: 0,
                value: value.map(|value| (value, Bound::Exact)),
            })
        };
        let searched = self.found.iter().cloned().map(|mut line| {
            // What the search decided itself is as sure, and has the better distance.
            let is_decided = line.value.is_some_and(|(value, _)| value.is_decided());
            if let Some(value) = self.value(line.pv[0]).filter(|_| !is_decided) {
                line.value = Some((value, Bound::Exact));
            }
            line
        });
        let mut lines: Vec<Variation<M>> = searched.chain(self.moves.iter().filter_map(unsearched)).collect();
        sort_by_key(&mut lines, |line| {
            let score = line
                .value
                .map_or(Score::DRAW, |(value, _)| if value.is_decided() { value.score } else { Score::DRAW });
            let rank = if score.is_win() { -i64::from(score.raw()) } else { i64::from(score.is_loss()) };
            2 * rank + i64::from(Some(line.pv[0]) != self.best_try)
        });
        lines.truncate(self.multipv);
        SearchResult { lines }
    }

    /// How many moves are known to win.
    pub(super) fn wins(&self) -> usize {
        self.moves.iter().filter(|known| known.1.is_some_and(|value| value.score.is_win())).count()
    }

    /// The decided value of a move.
    pub(super) fn value(&self, mv: M) -> Option<Value> {
        self.moves.iter().find(|known| known.0 == mv)?.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(multipv: usize) -> ProvenRootMoves<char> {
        ProvenRootMoves::new(&SearchParams { moves: vec!['a', 'b', 'c', 'd'], multipv })
    }

    fn moves_and_scores(known: &ProvenRootMoves<char>) -> Vec<(char, Option<Score>)> {
        let line = |line: Variation<char>| (line.pv[0], line.value.map(|(value, _)| value.score));
        known.lines().lines.into_iter().map(line).collect()
    }

    fn searched(mv: char, thousandths: i32) -> Variation<char> {
        let value = Value::guess(Score::eval(thousandths));
        Variation { pv: vec![mv, 'x'], depth: 9, value: Some((value, Bound::Exact)) }
    }

    fn loss(plies: u32) -> Value {
        Value { score: Score::loss_in(plies), at_least: false, at_most: true }
    }

    fn win(plies: u32) -> Value {
        Value { score: Score::win_in(plies), at_least: true, at_most: false }
    }

    #[test]
    fn a_move_that_is_decided_lost_never_stands_before_one_that_is_not() {
        let mut known = known(1);
        known.learn(&SearchResult { lines: vec![searched('b', 500)] });
        assert_eq!(moves_and_scores(&known), [('b', Some(Score::eval(500)))]);
        known.decide('b', loss(20));
        assert_eq!(moves_and_scores(&known), [('a', None)]);
        known.decide('c', win(9));
        assert_eq!(moves_and_scores(&known), [('c', Some(Score::win_in(9)))]);
        assert!(known.is_answered() && known.best() == Some(9));
    }

    #[test]
    fn lines_are_wins_then_what_the_search_found_then_losses() {
        let mut known = known(4);
        known.learn(&SearchResult { lines: vec![searched('d', 700), searched('a', -300)] });
        known.decide('a', loss(8));
        known.decide('b', win(21));
        let scores = [Score::win_in(21), Score::eval(700), Score::loss_in(8)].map(Some);
        assert_eq!(
            moves_and_scores(&known),
            [('b', scores[0]), ('d', scores[1]), ('c', None), ('a', scores[2])]
        );
        assert!(!known.is_answered() && known.missing() == 3);
    }

    #[test]
    fn a_lost_position_plays_its_best_try() {
        let mut known = known(1);
        known.lose(loss(30), Some('c'));
        assert_eq!(moves_and_scores(&known), [('c', Some(Score::loss_in(30)))]);
        assert!(known.is_answered() && !known.wants_try());
    }
}
