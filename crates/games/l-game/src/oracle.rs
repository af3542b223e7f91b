//! A second, slow program for the rules and texts, written from the rules alone with sets of coordinates, and
//! the plain game-tree search that the exact values are held against.

use std::collections::{BTreeMap, BTreeSet};

use super::board::State;
use super::notation::parse_position;
use super::{LGame, Move, Neutrals, Position};
use plyd_core::game::{Game, Notation, Side, Turn};
use plyd_core::score::Score;
use plyd_core::zobrist::SplitMix64;

type Place = (i32, i32);

/// Where the two Ls and the tokens are, with the name of each L's place.
#[derive(Clone)]
struct Pieces {
    ls: [BTreeSet<Place>; 2],
    tokens: BTreeSet<Place>,
    mover: usize,
}

/// Every way to lay an L: its cells and its name.
fn every_l() -> Vec<(BTreeSet<Place>, String)> {
    let mut ls = Vec::new();
    let short_ends: [(Place, char); 4] = [((0, -1), 'N'), ((1, 0), 'E'), ((0, 1), 'S'), ((-1, 0), 'W')];
    for x in 1..=4 {
        for y in 1..=4 {
            for ((dx, dy), letter) in short_ends {
                for sign in [-1, 1] {
                    let (lx, ly) = (sign * dy.abs(), sign * dx.abs());
                    let cells = [(x, y), (x + dx, y + dy), (x + lx, y + ly), (x + 2 * lx, y + 2 * ly)];
                    if cells.iter().all(|(x, y)| (1..=4).contains(x) && (1..=4).contains(y)) {
                        ls.push((cells.into(), format!("{x} {y} {letter}")));
                    }
                }
            }
        }
    }
    ls
}

fn read(text: &str, ls: &[(BTreeSet<Place>, String)]) -> Pieces {
    let words: Vec<&str> = text.split(' ').collect();
    let l = |at: usize| {
        let name = words[at..at + 3].join(" ");
        ls.iter().find(|(_, known)| *known == name).expect("a placement").0.clone()
    };
    let token = |at: usize| (words[at].parse().expect("x"), words[at + 1].parse().expect("y"));
    Pieces {
        ls: [l(0), l(7)],
        tokens: [token(3), token(5)].into(),
        mover: words[10].parse::<usize>().expect("a player") - 1,
    }
}

fn write(pieces: &Pieces, ls: &[(BTreeSet<Place>, String)]) -> String {
    let name = |cells: &BTreeSet<Place>| &ls.iter().find(|(known, _)| known == cells).expect("a placement").1;
    let tokens: Vec<String> = pieces.tokens.iter().map(|(x, y)| format!("{x} {y}")).collect();
    format!("{} {} {} {}", name(&pieces.ls[0]), tokens.join(" "), name(&pieces.ls[1]), pieces.mover + 1)
}

/// The ways to move a number of tokens: the text and where they then stand.
fn token_moves(
    tokens: &BTreeSet<Place>,
    free: &BTreeSet<Place>,
    count: usize,
) -> Vec<(String, BTreeSet<Place>)> {
    let text = |(fx, fy): Place, (tx, ty): Place| format!(" {fx} {fy} {tx} {ty}");
    let mut found = Vec::new();
    let both: Vec<Place> = tokens.iter().copied().collect();
    match count {
        0 => found.push((String::new(), tokens.clone())),
        1 => {
            for (moved, kept) in [(both[0], both[1]), (both[1], both[0])] {
                found.extend(free.iter().map(|&to| (text(moved, to), [to, kept].into())));
            }
        }
        _ => {
            for &first in free {
                let later = free.iter().filter(|second| **second > first);
                found.extend(
                    later.map(|&second| {
                        (text(both[0], first) + &text(both[1], second), [first, second].into())
                    }),
                );
            }
        }
    }
    found
}

/// The texts of all moves with the texts of the positions after them.
fn moves(text: &str, neutrals: Neutrals, ls: &[(BTreeSet<Place>, String)]) -> BTreeMap<String, String> {
    let pieces = read(text, ls);
    let counts: &[usize] = match neutrals {
        Neutrals::One => &[0, 1],
        Neutrals::Both => &[0, 1, 2],
        Neutrals::Compulsory => &[1],
        Neutrals::None => &[0],
    };
    let mut found = BTreeMap::new();
    let other = &pieces.ls[1 - pieces.mover];
    for (cells, name) in ls {
        if *cells == pieces.ls[pieces.mover]
            || !cells.is_disjoint(other)
            || !cells.is_disjoint(&pieces.tokens)
        {
            continue;
        }
        let all = (1..=4).flat_map(|x| (1..=4).map(move |y| (x, y)));
        let free: BTreeSet<Place> = all
            .filter(|cell| !cells.contains(cell) && !other.contains(cell) && !pieces.tokens.contains(cell))
            .collect();
        for count in counts {
            for (tokens_text, tokens) in token_moves(&pieces.tokens, &free, *count) {
                let mut after = Pieces { tokens, mover: 1 - pieces.mover, ..pieces.clone() };
                after.ls[pieces.mover] = cells.clone();
                found.insert(format!("{name}{tokens_text}"), write(&after, ls));
            }
        }
    }
    found
}

/// The value from the mover's view, by searching every line to its end.
pub(super) fn game_tree_value(game: &LGame, pos: &mut Position) -> Score {
    match game.turn(pos) {
        Turn::Over(outcome) => match outcome.winner {
            None => Score::DRAW,
            Some(winner) if winner == pos.mover => Score::win_in(0),
            Some(_) => Score::loss_in(0),
        },
        Turn::Chance | Turn::Move => {
            let mut moves: Vec<Move> = Vec::new();
            game.moves(pos, &mut moves);
            let value_after = |mv: &Move| {
                let undo = game.play(pos, *mv);
                let value = -game_tree_value(game, pos);
                game.undo(pos, *mv, undo);
                value.earlier(1)
            };
            moves.iter().map(value_after).max().expect("the game is not over")
        }
    }
}

/// Some states, drawn from a seed.
pub(super) fn random_states(seed: u64, count: usize) -> Vec<State> {
    let states: Vec<State> = State::all().collect();
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| states[random.below(states.len())]).collect()
}

#[test]
fn moves_and_texts_agree_with_a_second_program() {
    let ls = every_l();
    assert_eq!(ls.len(), 48);
    // Every class with one token; samples of the other variants.
    let samples = [(Neutrals::One, 1), (Neutrals::Both, 29), (Neutrals::Compulsory, 13), (Neutrals::None, 3)];
    let classes: Vec<State> = State::all().filter(|state| *state == state.class()).collect();
    for (neutrals, step) in samples {
        let game = LGame::new(neutrals, 0, 0);
        for (number, class) in classes.iter().enumerate().step_by(step) {
            let mover = if number % 3 == 0 { Side::Second } else { Side::First };
            let pos = game.position(class.image(number % 8), mover);
            let text = game.position_text(&pos);
            assert_eq!(parse_position(&game, &text).as_ref(), Ok(&pos), "{text}");
            let expected = moves(&text, neutrals, &ls);
            let mut list = Vec::new();
            game.moves(&pos, &mut list);
            let mut found = BTreeMap::new();
            for mv in list {
                let mut after = pos.clone();
                game.play(&mut after, mv);
                let move_text = game.move_text(&pos, mv);
                assert_eq!(game.parse_move(&pos, &move_text), Ok(mv), "{text}: {move_text}");
                assert!(game.is_legal(&pos, mv), "{text}: {move_text}");
                assert_eq!(
                    found.insert(move_text, game.position_text(&after)),
                    None,
                    "{text}: a move comes twice"
                );
            }
            assert_eq!(found, expected, "{text}");
        }
    }
}
