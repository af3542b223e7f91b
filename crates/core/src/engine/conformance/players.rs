//! Whether players play a win in one and carry out what they announce, in positions of random games.

use std::cmp::Ordering;
use std::sync::Arc;

use super::samples::next;
use crate::engine::settings::{self, Caps, Settings};
use crate::engine::{AnyRoot, Engine, Line, Proof, ToMove};
use crate::game::Side;
use crate::search::Control;
use crate::zobrist::SplitMix64;

/// The nodes of the first search of a position.
const NODES: u64 = 10_000;
/// The nodes of a search that has to find an announced distance again.
const NODES_AGAIN: u64 = 2_000_000;
/// Plies after which a random game is given up.
const LONG: usize = 300;
/// How many plies before a game's end results are looked for.
const NEAR: usize = 8;
/// How many of a game's last positions are searched for a win in one, by trying all moves.
const LATE: usize = 4;
/// A result within this many plies is checked against all replies and all outcomes.
const SHORT: u32 = 3;
/// For any other result, this many games are played, the first against the player itself.
const GAMES: usize = 3;

/// Asks a player for its move in late positions of `games` random games in which some move wins at once;
/// gives the number of these positions.
///
/// In games that score, where the widest margin counts, any move that is proven to win is accepted.
///
/// ```
/// use plyd_core::engine::conformance::wins_in_one;
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// // Each game ends with such a move, and in some nobody made it when it could be made before.
/// let found = wins_in_one(Position::start(&nim::ENTRY).root(), "default", 1, 20);
/// assert!(found.is_ok_and(|found| found > 20));
/// ```
///
/// # Errors
/// The first win that is missed, with the game's name, the player and the position.
pub fn wins_in_one(start: &Arc<dyn AnyRoot>, player: &str, seed: u64, games: usize) -> Result<usize, String> {
    let mut tested = Tested::new(start, player)?;
    let mut random = SplitMix64::new(seed);
    let mut found = 0;
    for _ in 0..games {
        let game = random_game(start, &mut random)?;
        let end = game.last().and_then(|end| end.outcome());
        let is_scored = end.is_some_and(|outcome| outcome.scores.is_some());
        for root in game.iter().rev().skip(1).take(LATE) {
            let ToMove::Player(me) = root.to_move() else { continue };
            let Some(win) = win_in_one(root.as_ref(), me)? else { continue };
            found += 1;
            let line = tested.ask(root.as_ref(), NODES);
            let proves = proof(&line).is_some_and(|proof| proof.result == Ordering::Greater);
            let is_enough = is_scored && proves;
            if !is_enough && !is_won(after(root.as_ref(), line.mv())?.as_ref(), me)? {
                let what = format!("it plays {} and not {win}, which wins", line.mv());
                return Err(tested.failed(root.as_ref(), &what));
            }
        }
    }
    Ok(found)
}

/// The first move that wins at once, if there is one.
fn win_in_one(root: &dyn AnyRoot, me: Side) -> Result<Option<String>, String> {
    for mv in root.legal() {
        if is_won(after(root, &mv)?.as_ref(), me)? {
            return Ok(Some(mv));
        }
    }
    Ok(None)
}

/// Whether any of `games` random games ends with a move that wins it.
///
/// # Errors
/// A move that is listed cannot be played.
pub(super) fn ends_with_win(start: &Arc<dyn AnyRoot>, seed: u64, games: usize) -> Result<bool, String> {
    let mut random = SplitMix64::new(seed);
    for _ in 0..games {
        if let [.., root, end] = &random_game(start, &mut random)?[..]
            && let (ToMove::Player(me), Some(outcome)) = (root.to_move(), end.outcome())
            && outcome.winner == Some(me)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asks a player for its move in positions of `games` random games, most of them near the end, and plays out
/// each win and each loss that it announces; gives the number of announcements.
///
/// The player itself plays the winning side, and has to find the win again, within the plies that are left,
/// whatever the replies and whatever chance does.
///
/// ```
/// use plyd_core::engine::conformance::announced;
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let found = announced(Position::start(&nim::ENTRY).root(), "default", 1, 5);
/// assert!(found.is_ok_and(|found| found > 0));
/// ```
///
/// # Errors
/// The first announcement that is not kept, with the game's name, the player, the position and the moves.
pub fn announced(start: &Arc<dyn AnyRoot>, player: &str, seed: u64, games: usize) -> Result<usize, String> {
    let mut tested = Tested::new(start, player)?;
    let mut random = SplitMix64::new(seed);
    let mut found = 0;
    for _ in 0..games {
        let game = random_game(start, &mut random)?;
        let root = &game[game.len() - 1 - random.below(game.len().min(NEAR))];
        let (ToMove::Player(me), None) = (root.to_move(), root.outcome()) else { continue };
        tested.engine.clear();
        let Some(proof) = proof(&tested.ask(root.as_ref(), NODES)) else { continue };
        let winner = match proof.result {
            Ordering::Greater => me,
            Ordering::Less => me.other(),
            Ordering::Equal => continue,
        };
        found += 1;
        let left = proof.plies.or(proof.plies_max);
        let games = if left.is_some_and(|left| left <= SHORT) { 1 } else { GAMES };
        for game in 0..games {
            let mut game = Game { tested: &mut tested, winner, resists: game == 0, random: &mut random };
            game.play(root, left, LONG).map_err(|what| {
                let within = left.map(|left| format!(" within {left} plies")).unwrap_or_default();
                tested.failed(root.as_ref(), &format!("{winner:?} is announced to win{within}, and {what}"))
            })?;
        }
    }
    Ok(found)
}

/// The positions of a random game, from its start to its end or to where it is given up.
fn random_game(start: &Arc<dyn AnyRoot>, random: &mut SplitMix64) -> Result<Vec<Arc<dyn AnyRoot>>, String> {
    let mut game = vec![Arc::clone(start)];
    while game.len() <= LONG {
        let root = game[game.len() - 1].as_ref();
        let moves = next(root);
        if moves.is_empty() {
            break;
        }
        let root = after(root, &moves[random.below(moves.len())])?;
        game.push(root);
    }
    Ok(game)
}

/// Whether the game is over and won, or will be whatever chance does next.
fn is_won(root: &dyn AnyRoot, me: Side) -> Result<bool, String> {
    if root.to_move() == ToMove::Chance {
        let outcomes = next(root).into_iter();
        return outcomes
            .map(|mv| is_won(after(root, &mv)?.as_ref(), me))
            .try_fold(true, |all, won| Ok(all & won?));
    }
    Ok(root.outcome().is_some_and(|outcome| outcome.winner == Some(me)))
}

fn after(root: &dyn AnyRoot, mv: &str) -> Result<Arc<dyn AnyRoot>, String> {
    root.extend(&[mv.to_owned()])
        .map_err(|fault| format!("{mv} after {:?}: {}", root.played(), fault.message))
}

fn proof(line: &Line) -> Option<Proof> {
    line.value.and_then(|value| value.proof)
}

/// A player under test.
struct Tested {
    game: String,
    engine: Box<dyn Engine>,
}

impl Tested {
    fn new(start: &Arc<dyn AnyRoot>, player: &str) -> Result<Self, String> {
        let entry = start.entry();
        let rules: Vec<String> =
            start.rules().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let game = format!("{} {}, player {player}", entry.name, rules.join(","));
        let given: Settings = [("player", player)].into_iter().collect();
        let engine = settings::options(entry, &given, 0, Caps { threads: 1, hash_mb: 1 })
            .and_then(|options| start.engine(&options))
            .map_err(|fault| format!("{game}: {}", fault.message))?;
        Ok(Self { game, engine })
    }

    fn ask(&mut self, root: &dyn AnyRoot, nodes: u64) -> Line {
        let candidates = root.candidates(&[], &[]).expect("a player is to move");
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        let (lines, _) = self.engine.search(root, &candidates, 1, &control, &mut |_| ());
        lines.into_iter().next().expect("a search answers a move")
    }

    fn failed(&self, root: &dyn AnyRoot, what: &str) -> String {
        format!("{}: {}: {what}", self.game, root.text())
    }
}

/// A game that one side is announced to win.
struct Game<'a> {
    tested: &'a mut Tested,
    winner: Side,
    /// Whether the player plays the side that loses, too.
    resists: bool,
    random: &'a mut SplitMix64,
}

impl Game<'_> {
    /// Plays to the end, which must come within `left` plies, if that is known.
    fn play(&mut self, root: &Arc<dyn AnyRoot>, left: Option<u32>, most: usize) -> Result<(), String> {
        let failed = |what: &str| Err(format!("after {:?} {what}", root.played()));
        if let Some(outcome) = root.outcome() {
            return if outcome.winner == Some(self.winner) { Ok(()) } else { failed("it is not won") };
        }
        let is_chance = root.to_move() == ToMove::Chance;
        if (left == Some(0) && !is_chance) || most == 0 {
            return failed("it is not over");
        }
        let mut moves = next(root.as_ref());
        if root.to_move() == ToMove::Player(self.winner) {
            let nodes = if left.is_some() { NODES_AGAIN } else { NODES };
            let line = self.tested.ask(root.as_ref(), nodes);
            let claim = proof(&line).filter(|proof| proof.result == Ordering::Greater);
            let within = claim.and_then(|proof| proof.plies.or(proof.plies_max));
            if left.is_some_and(|left| within.is_none_or(|within| within > left)) {
                return failed(&format!("{} is announced to win within {within:?} plies", line.mv()));
            }
            moves = vec![line.mv().to_owned()];
        } else if left.is_none_or(|left| left > SHORT) {
            let mv = if self.resists && !is_chance {
                self.tested.ask(root.as_ref(), NODES).mv().to_owned()
            } else {
                moves.swap_remove(self.random.below(moves.len()))
            };
            moves = vec![mv];
        }
        for mv in moves {
            let left = if is_chance { left } else { left.map(|left| left - 1) };
            self.play(&after(root.as_ref(), &mv)?, left, most - 1)?;
        }
        Ok(())
    }
}
