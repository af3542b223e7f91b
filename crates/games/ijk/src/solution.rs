//! Tiny boards solved completely: every line is searched until a win is found, each position once.
//!
//! Without chance and without the move `S` the mass grows by one a move, until the game ends: no position
//! comes again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::board::{Board, Case, Slide, Tile, places};
use super::planes::Planes;
use super::rules::{Ijk, Move, Position};
use super::variant::{Skip, Variant};
use plyd_core::engine::{Share, Solved};
use plyd_core::game::{Game, OpenError, Rules, Side, Turn};
use plyd_core::score::{Score, Value};
use plyd_core::search::clock::thread_cpu_time;
use plyd_core::zobrist::mix;

/// The largest board that is solved: its positions fit a word, and tens of millions have to be looked at.
const MAX_SIZE: usize = 3;

/// A position as a number: five bits a cell, the case above the letter, and the mover.
type Key = u64;

/// Solves a board of up to 3 by 3 without chance and counts its positions by their value.
pub(super) fn solve(rules: &Rules) -> Result<Solved, OpenError> {
    let variant = Variant::choose(rules, None)?;
    let wrong = |name, message: &str| Err(OpenError::Rule { name, message: message.to_owned() });
    match variant {
        Variant { size, .. } if size > MAX_SIZE => wrong("size", "only boards of 2 and 3 rows are solved"),
        Variant { chance: true, .. } => wrong("mode", "only the game without chance is solved"),
        Variant { skip: Skip::Pass | Skip::Flip, .. } => {
            wrong("skip", "with the move S positions come again")
        }
        Variant { full_ends: false, .. } => wrong("full_ends", "on a full board positions come again"),
        _ => {
            let began = thread_cpu_time();
            let proof = Proof::new(Ijk::new(variant));
            let plies = proof.longest;
            if variant.max_plies > 0 && plies > usize::from(variant.max_plies) {
                return wrong(
                    "max_plies",
                    &format!("games last up to {plies} moves and are solved to their end: give 0 or as many"),
                );
            }
            Ok(Solved { shares: proof.shares(), cpu: thread_cpu_time() - began })
        }
    }
}

/// The positions that were looked at, with their values for the mover, 1, 0 or -1, and whether they end the
/// game.
struct Proof {
    game: Ijk<false>,
    values: HashMap<Key, (i8, bool), BuildHasherDefault<Spread>>,
    /// How many plies the longest game lasted.
    longest: usize,
}

impl Proof {
    /// Solves the start, and every position after one move.
    fn new(game: Ijk<false>) -> Self {
        let mut proof = Self { game, values: HashMap::default(), longest: 0 };
        for first in children(&game, &game.start()) {
            proof.solve(&position(&game, first), 1);
        }
        proof.solve(&game.start(), 0);
        proof
    }

    /// The value of a position for the mover; moves after a winning one are not searched.
    fn solve(&mut self, pos: &Position, ply: usize) -> i8 {
        let game = self.game;
        let key = key(&game, pos);
        if let Some(&(known, _)) = self.values.get(&key) {
            return known;
        }
        self.longest = self.longest.max(ply);
        let (value, is_over) = match game.turn(pos) {
            Turn::Over(outcome) => {
                (outcome.winner.map_or(0, |winner| if winner == pos.mover() { 1 } else { -1 }), true)
            }
            Turn::Move | Turn::Chance => {
                let mut best = -1;
                for slide in Slide::ALL {
                    let mut next = *pos;
                    game.play(&mut next, Move::slide(slide));
                    best = best.max(-self.solve(&next, ply + 1));
                    if best == 1 {
                        break;
                    }
                }
                (best, false)
            }
        };
        self.values.insert(key, (value, is_over));
        value
    }

    /// The positions by their value, the first ones and those that end the game apart.
    fn shares(&self) -> Vec<Share> {
        let start = self.game.start();
        let first: HashSet<Key> = children(&self.game, &start).collect();
        let start = key(&self.game, &start);
        let mut counts: BTreeMap<(usize, i8), u64> = BTreeMap::new();
        for (&key, &(value, is_over)) in &self.values {
            let kind = if key == start {
                0
            } else if first.contains(&key) {
                1
            } else if is_over {
                3
            } else {
                2
            };
            *counts.entry((kind, -value)).or_default() += 1;
        }
        let share = |((kind, value), positions): ((usize, i8), u64)| {
            // The length of the game is not solved: a distance of 0 that is only a bound is not reported.
            let (score, at_most) = match value {
                -1 => (Score::win_in(0), false),
                0 => (Score::DRAW, true),
                _ => (Score::loss_in(0), false),
            };
            let value = Value { score, at_least: true, at_most };
            Share {
                kind: ["the start", "after one move", "later", "over"][kind],
                value,
                positions,
                classes: positions,
            }
        };
        counts.into_iter().map(share).collect()
    }
}

/// Hashes keys by spreading their bits: they are numbers already.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = mix(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = mix(self.0 ^ key);
    }
}

/// The positions after each move; none at the end of the game.
fn children<'a>(game: &'a Ijk<false>, pos: &'a Position) -> impl Iterator<Item = Key> + 'a {
    let mut moves = Vec::new();
    if game.turn(pos) == Turn::Move {
        game.moves(pos, &mut moves);
    }
    moves.into_iter().map(move |mv| {
        let mut next = *pos;
        game.play(&mut next, mv);
        key(game, &next)
    })
}

fn cells(game: &Ijk<false>) -> impl Iterator<Item = u8> + use<> {
    places(game.variant().size).map(|(row, column)| Planes::cell(row, column))
}

fn key(game: &Ijk<false>, pos: &Position) -> Key {
    let digits = |tile: Tile| u64::from(tile.letter) | (tile.case as u64) << 4;
    let mover = pos.mover().index() as u64;
    cells(game).fold(mover, |key, cell| key << 5 | pos.board().tile(cell).map_or(0, digits))
}

fn position(game: &Ijk<false>, mut key: Key) -> Position {
    let mut board = Planes::default();
    let cells: Vec<u8> = cells(game).collect();
    for &cell in cells.iter().rev() {
        let case = if key >> 4 & 1 == 1 { Case::Lower } else { Case::Upper };
        let letter = (key & 15) as u8;
        if letter > 0 {
            board.put(cell, Tile { letter, case });
        }
        key >>= 5;
    }
    let mover = if key == Side::First.index() as u64 { Side::First } else { Side::Second };
    game.position(board, mover, false, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::game::Setting;

    fn solved(size: i64) -> Vec<(&'static str, i32, u64)> {
        let rules = Rules::new(vec![("size", Setting::Int(size))]);
        let shares = solve(&rules).unwrap().shares;
        shares.iter().map(|share| (share.kind, share.value.score.raw().signum(), share.positions)).collect()
    }

    #[test]
    fn the_smallest_board_is_won_by_the_second_player() {
        let shares = solved(2);
        assert_eq!(shares[0], ("the start", -1, 1));
        let rules = Rules::new(vec![("size", Setting::Int(2))]);
        let game = Ijk::<false>::new(Variant::choose(&rules, None).unwrap());
        assert_eq!(value(&game, &game.start()), -1);
        let mut firsts: Vec<(Key, i32)> = Slide::ALL
            .map(|slide| {
                let mut next = game.start();
                game.play(&mut next, Move::slide(slide));
                (key(&game, &next), value(&game, &next))
            })
            .into();
        firsts.sort_unstable();
        firsts.dedup();
        for sign in [-1, 0, 1] {
            let counted = shares.iter().filter(|share| share.0 == "after one move" && share.1 == sign);
            let plain = firsts.iter().filter(|first| first.1 == sign).count() as u64;
            assert_eq!(counted.map(|share| share.2).sum::<u64>(), plain, "{sign}: {shares:?}");
        }
    }

    #[test]
    fn positions_that_end_the_game_are_counted_apart() {
        let rules = Rules::new(vec![("size", Setting::Int(2))]);
        let game = Ijk::<false>::new(Variant::choose(&rules, None).unwrap());
        let proof = Proof::new(game);
        let (mut reached, mut next) = (HashSet::new(), vec![key(&game, &game.start())]);
        while let Some(found) = next.pop() {
            if reached.insert(found) {
                next.extend(children(&game, &position(&game, found)));
            }
        }
        // Nothing is searched after a winning move is found, so these are only some of all positions.
        assert!(proof.values.keys().all(|known| reached.contains(known)));
        let is_last = |key: &&Key| children(&game, &position(&game, **key)).next().is_none();
        let last = proof.values.keys().filter(is_last).count() as u64;
        let over = proof.shares().into_iter().filter(|share| share.kind == "over");
        assert_eq!(over.map(|share| share.positions).sum::<u64>(), last);
        assert!(last > 0);
    }

    /// The value for the mover, by searching every line to its end.
    fn value(game: &Ijk<false>, pos: &Position) -> i32 {
        if let Turn::Over(outcome) = game.turn(pos) {
            return outcome.winner.map_or(0, |winner| if winner == pos.mover() { 1 } else { -1 });
        }
        let after = children(game, pos).map(|key| -value(game, &position(game, key)));
        after.max().unwrap()
    }

    #[test]
    fn positions_are_numbers_and_back() {
        let game =
            Ijk::<false>::new(Variant::choose(&Rules::new(vec![("size", Setting::Int(3))]), None).unwrap());
        for text in ["A../.../... +", "AbC/dEf/GhI -", "..O/o.J/jk. +"] {
            let pos = super::super::notation::Layout::parse(text).unwrap().position(&game).unwrap();
            assert_eq!(position(&game, key(&game, &pos)), pos);
        }
    }

    #[test]
    fn games_that_repeat_are_not_solved() {
        for (name, value) in [
            ("size", Setting::Int(4)),
            ("mode", "nondet".into()),
            ("skip", "pass".into()),
            ("full_ends", Setting::Bool(false)),
            ("max_plies", Setting::Int(3)),
        ] {
            let mut rules = vec![("size", Setting::Int(2))];
            rules.retain(|rule| rule.0 != name);
            rules.push((name, value));
            let Err(OpenError::Rule { name: rule, .. }) = solve(&Rules::new(rules)) else { panic!("{name}") };
            assert_eq!(rule, name);
        }
    }
}
