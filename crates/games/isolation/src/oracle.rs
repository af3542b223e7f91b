//! A slow second opinion for tests: the rules on sets of coordinates, and the published Python formulas
//! written down line by line. Shares no code with the game.

use std::collections::{BTreeSet, HashMap};

use super::published_eval::Formula;
use plyd_core::zobrist::SplitMix64;

/// A cell as (row, column) from the top left.
pub(super) type Place = (i32, i32);

/// A position as sets of coordinates; players are 0 and 1.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) open: BTreeSet<Place>,
    pub(super) tokens: [Option<Place>; 2],
    pub(super) active: usize,
}

impl Oracle {
    pub(super) fn new(width: i32, height: i32) -> Self {
        let open = (0..height).flat_map(|row| (0..width).map(move |column| (row, column))).collect();
        Self { width, height, open, tokens: [None; 2], active: 0 }
    }

    /// The published `get_legal_moves(player)`, in ascending order.
    pub(super) fn legal_moves(&self, player: usize) -> Vec<Place> {
        let reached = |place: &Place| match self.tokens[player] {
            None => true,
            Some((row, column)) => {
                let (rows, columns) = ((place.0 - row).abs(), (place.1 - column).abs());
                (rows, columns) == (1, 2) || (rows, columns) == (2, 1)
            }
        };
        self.open.iter().copied().filter(reached).collect()
    }

    pub(super) fn play(&mut self, place: Place) {
        assert!(self.open.remove(&place));
        self.tokens[self.active] = Some(place);
        self.active = 1 - self.active;
    }

    pub(super) fn after(&self, place: Place) -> Self {
        let mut next = self.clone();
        next.play(place);
        next
    }

    /// The cells that the active player reaches no later than the other, and those that the other reaches no
    /// later, breadth first, not through cells that the other reached sooner.
    pub(super) fn first_reached(&self) -> [BTreeSet<Place>; 2] {
        let mut reached: [HashMap<Place, u32>; 2] = Default::default();
        for step in 1..=self.open.len() as u32 {
            let mut new = [0, 1].map(|player| {
                let mut probe = self.clone();
                let mut targets = Vec::new();
                let from: Vec<Option<Place>> = match step {
                    1 => vec![self.tokens[player]],
                    _ => {
                        reached[player].iter().filter(|at| *at.1 == step - 1).map(|at| Some(*at.0)).collect()
                    }
                };
                for place in from {
                    probe.tokens[player] = place;
                    targets.extend(probe.legal_moves(player));
                }
                targets
            });
            for targets in &mut new {
                targets.retain(|place| reached.iter().all(|known| !known.contains_key(place)));
            }
            for (known, targets) in reached.iter_mut().zip(new) {
                known.extend(targets.into_iter().map(|place| (place, step)));
            }
        }
        [self.active, 1 - self.active].map(|player| reached[player].keys().copied().collect())
    }

    /// How many open cells are a knight's move from a cell.
    pub(super) fn exits(&self, place: Place) -> usize {
        let mut probe = self.clone();
        probe.tokens[0] = Some(place);
        probe.legal_moves(0).len()
    }

    /// The length of the longest path of a player who moves alone.
    pub(super) fn longest_path(&self, player: usize) -> u32 {
        let moves = self.legal_moves(player).into_iter().map(|place| {
            let mut next = self.clone();
            next.open.remove(&place);
            next.tokens[player] = Some(place);
            1 + next.longest_path(player)
        });
        moves.max().unwrap_or(0)
    }

    pub(super) fn text(&self) -> String {
        let cell = |place: Place| match self.tokens.iter().position(|&token| token == Some(place)) {
            Some(player) => ['1', '2'][player],
            None if self.open.contains(&place) => '.',
            None => 'x',
        };
        let row = |row: i32| (0..self.width).map(|column| cell((row, column))).collect::<String>();
        format!("{} {}", (0..self.height).map(row).collect::<Vec<_>>().join("/"), self.active + 1)
    }

    /// How many more moves the game lasts, and whether the mover wins, with the best play of both.
    pub(super) fn solve(&self) -> (bool, u32) {
        let replies = self.legal_moves(self.active).into_iter().map(|place| self.after(place).solve());
        let (wins, losses): (Vec<_>, Vec<_>) = replies.partition(|reply| !reply.0);
        match wins.iter().map(|reply| reply.1 + 1).min() {
            Some(plies) => (true, plies),
            None => (false, losses.iter().map(|reply| reply.1 + 1).max().unwrap_or(0)),
        }
    }
}

/// Shows every position of random games, each with its ply, from before the first placement to the end.
pub(super) fn random_games(width: i32, height: i32, games: u64, mut visit: impl FnMut(u32, &Oracle)) {
    for seed in 0..games {
        let mut random = SplitMix64::new(seed);
        let mut oracle = Oracle::new(width, height);
        for ply in 0.. {
            visit(ply, &oracle);
            let legal = oracle.legal_moves(oracle.active);
            if legal.is_empty() {
                break;
            }
            oracle.play(legal[random.below(legal.len())]);
        }
    }
}

/// The published score functions of a position that is not over, for `player`; the comments are their code.
pub(super) fn published(formula: Formula, game: &Oracle, player: usize) -> f64 {
    // own_moves = game.get_legal_moves(player)
    let own_moves = game.legal_moves(player);
    // opp_moves = game.get_legal_moves(game.get_opponent(player))
    let opp_moves = game.legal_moves(1 - player);
    let (own_count, opp_count) = (own_moves.len() as f64, opp_moves.len() as f64);
    let active = player == game.active;
    match formula {
        // return 0.
        Formula::WinLose => 0.0,
        // score += float(len(game.get_legal_moves(player)))
        Formula::OpenMove => own_count,
        // score += float(own_moves - opp_moves)
        Formula::Improved => own_count - opp_count,
        // if game.active_player == player: score += float(len(own_moves) - len(opp_moves))
        Formula::NetAdvantage if active => own_count - opp_count,
        // else: score += float(len([x for x in own_moves if x not in opp_moves]) - len(opp_moves))
        Formula::NetAdvantage => {
            own_moves.iter().filter(|x| !opp_moves.contains(x)).count() as f64 - opp_count
        }
        // if player == game.active_player: if own_moves > opp_moves: score += 2
        Formula::NetMobility if active && own_count > opp_count => 2.0,
        // elif own_moves < opp_moves: score -= 1
        Formula::NetMobility if active && own_count < opp_count => -1.0,
        // else: if own_moves > opp_moves: score += 1
        Formula::NetMobility if !active && own_count > opp_count => 1.0,
        // elif own_moves < opp_moves: score -= 2
        Formula::NetMobility if !active && own_count < opp_count => -2.0,
        Formula::NetMobility => 0.0,
        Formula::Accessibility => {
            // center = (round(game.height / 2), round(game.width / 2))
            let round = |x: f64| x.round_ties_even();
            let center = (round(f64::from(game.height) / 2.0), round(f64::from(game.width) / 2.0));
            let Some(own_location) = game.tokens[player] else {
                return 0.0;
            };
            // delta = gethopdistance(own_location, center)
            let delta = hop_distance(own_location, (center.0 as i32, center.1 as i32));
            // if delta < round(center[0]/2): score += 1
            if delta < round(center.0 / 2.0) {
                1.0
            // elif delta > round(center[0]/2): score += -1
            } else if delta > round(center.0 / 2.0) {
                -1.0
            } else {
                0.0
            }
        }
        Formula::Offensive => {
            // current_overlap = [x for x in own_moves if x in opp_moves]
            let overlap = own_moves.iter().any(|x| opp_moves.contains(x));
            // if player == game.active_player: if len(current_overlap) > 0: score += 1
            // else: if len(current_overlap) > 0: score -= 1
            match (overlap, active) {
                (false, _) => 0.0,
                (true, true) => 1.0,
                (true, false) => -1.0,
            }
        }
        Formula::Proximity => {
            let (Some(own_location), Some(opp_location)) = (game.tokens[player], game.tokens[1 - player])
            else {
                return 0.0;
            };
            // score -= delta
            -hop_distance(own_location, opp_location)
        }
        // score += offensive_score(game, player); score += proximity_score(game, player)
        Formula::OffensiveNear => {
            published(Formula::Offensive, game, player) + published(Formula::Proximity, game, player)
        }
        // score += net_advantage_score(game, player); score += offensive_score(game, player)
        Formula::NetAdvantageNear => {
            published(Formula::NetAdvantage, game, player) + published(Formula::Offensive, game, player)
        }
    }
}

/// The published `gethopdistance`.
fn hop_distance(x: Place, y: Place) -> f64 {
    // dx = abs(x[0] - y[0]); dy = abs(x[1] - y[1]); delta = max(dx, dy)//2
    f64::from((x.0 - y.0).abs().max((x.1 - y.1).abs()) / 2)
}

/// The published `alphabeta`: the score for `player` and the move.
pub(super) fn published_alphabeta(
    formula: Formula,
    game: &Oracle,
    player: usize,
    depth: u32,
    (mut floor, mut ceiling): (f64, f64),
) -> (f64, Option<Place>) {
    let legal_moves = game.legal_moves(game.active);
    let maximizing = game.active == player;
    if legal_moves.is_empty() {
        return (if maximizing { f64::NEG_INFINITY } else { f64::INFINITY }, None);
    }
    if depth == 0 {
        return (published(formula, game, player), None);
    }
    let mut best: Option<(f64, Place)> = None;
    for m in legal_moves {
        let (newscore, _) = published_alphabeta(formula, &game.after(m), player, depth - 1, (floor, ceiling));
        if best.is_none_or(|(score, _)| if maximizing { newscore > score } else { newscore < score }) {
            best = Some((newscore, m));
        }
        let score = best.unwrap().0;
        if maximizing {
            floor = floor.max(score);
        } else {
            ceiling = ceiling.min(score);
        }
        if if maximizing { score >= ceiling } else { score <= floor } {
            break;
        }
    }
    best.map(|(score, m)| (score, Some(m))).unwrap()
}

/// The published `get_move` without a clock: iterative deepening from the tournament's depth until three
/// depths in a row return one move, or the game is decided. Also the last depth and its score.
pub(super) fn published_move(formula: Formula, game: &Oracle) -> (Place, u32, f64) {
    let mut results: Vec<(f64, Option<Place>)> = Vec::new();
    for depth in 3..25 {
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        results.push(published_alphabeta(formula, game, game.active, depth, unbounded));
        let (score, mv) = *results.last().unwrap();
        let agreed = results.len() >= 3 && results.iter().rev().take(3).all(|result| result.1 == mv);
        if depth == 24 || agreed || score.is_infinite() {
            return (mv.unwrap(), depth, score);
        }
    }
    unreachable!("the last depth returns")
}
