//! A model of the opponent: which kind of player it may be, judged by its replies so far, and the chance of a
//! win that follows for each drawn class.
//!
//! The candidates are shallow searchers (1 and 2 plies) with the published heuristics and parts of them, each
//! with several rates of blunders, a player that only keeps the value, and a random one. Bayes' rule over the
//! replies of this game gives their weights; value iteration over the classes of states then gives the chance
//! of a win from each. It chooses among moves that keep the draw: see [`perfect`](super::perfect).
//!
//! All arithmetic is addition, multiplication and division, so that it is equal on every machine.

use std::sync::OnceLock;

use super::board::State;
use super::class_graph::{CLASSES_BETWEEN_LOOKS, ClassGraph, Fate, Lists};
use super::eval::{INFINITE, STATE, Weights, action_value};
use super::neutrals::Neutrals;
use super::{LGame, Position};
use plyd_core::game::{Game, Root};

/// Judgements of states that a candidate may have.
const JUDGEMENTS: [Weights; 8] = [
    STATE,
    Weights { knows_lost: false, ..STATE },
    Weights { moves: 1, other_moves: 0, ..NOTHING },
    Weights { moves: 0, other_moves: -1, ..NOTHING },
    Weights { moves: 1, other_moves: -1, ..NOTHING },
    Weights { core: 25, ..NOTHING },
    Weights { corners: -40, ..NOTHING },
    Weights { core: 25, corners: -40, ..NOTHING },
];

const NOTHING: Weights = Weights { moves: 0, other_moves: 0, core: 0, corners: 0, knows_lost: false };

/// How often a candidate plays any move instead of its best.
const BLUNDER_RATES: [f64; 3] = [0.01, 0.1, 0.3];
/// The prior for repeating the last reply in the same class of states: as if a class had come again
/// `HABIT_PRIOR.1` times, with the same reply `HABIT_PRIOR.0` times.
const HABIT_PRIOR: (f64, f64) = (1.5, 2.0);
/// The discount of a win that comes one move later.
const DISCOUNT: f64 = 0.98;
/// How many moves of each side value iteration looks ahead.
const HORIZON: u32 = 30;
/// The change below which value iteration has settled.
const SETTLED: f64 = 1e-4;

/// The candidates for the opponent in one variant.
pub(super) struct Opponent {
    graph: ClassGraph,
    /// For each candidate, the replies that it holds for best in each class.
    favourites: Vec<Lists>,
}

/// The chances to win against the opponent, by the class that it is to move in.
pub(super) struct Prospects<'a> {
    graph: &'a ClassGraph,
    chances: Vec<f64>,
}

/// What the replies seen so far say: weights of the candidates' favourites, of random moves, and habits.
struct Belief {
    favourites: Vec<f64>,
    random: f64,
    /// The class that the opponent last left each class for.
    habits: Vec<Option<u16>>,
    /// How likely it is to do so again.
    habit: f64,
}

/// A class in which neither side can force a win, and what the opponent does there.
struct Drawn {
    class: usize,
    /// How likely a reply loses.
    mistakes: f64,
    /// The drawn classes that moves lead to, and how likely the opponent goes there: never 0, as it may move
    /// at random.
    replies: Vec<(u16, f64)>,
}

impl Opponent {
    /// The candidates of a variant, made when they are first asked for, or none if `is_over` says that there
    /// is no time to make them: it takes some 25 ms.
    pub(super) fn of(neutrals: Neutrals, is_over: &mut dyn FnMut() -> bool) -> Option<&'static Self> {
        static OPPONENTS: [OnceLock<Opponent>; 4] = [const { OnceLock::new() }; 4];
        let place = &OPPONENTS[neutrals as usize];
        if let Some(opponent) = place.get() {
            return Some(opponent);
        }
        let opponent = Self::new(neutrals, is_over)?;
        Some(place.get_or_init(|| opponent))
    }

    /// The chances after each move, or none if `is_over` says that there is no time to find them.
    pub(super) fn prospects(
        &self,
        game: &LGame,
        root: &Root<LGame>,
        plies_left: u32,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Option<Prospects<'_>> {
        let belief = self.belief(&self.replies(game, root));
        let mut shares = vec![0.0; self.graph.len()];
        let drawn: Vec<Drawn> = (0..self.graph.len())
            .filter(|class| self.graph.fate(*class) == Fate::Drawn)
            .map(|class| self.drawn(&belief, class, &mut shares))
            .collect();
        // The chance to win when we, and when the opponent is to move in a class.
        let mut ours = vec![0.0; self.graph.len()];
        let mut theirs = vec![0.0; self.graph.len()];
        for _ in 0..HORIZON.min(plies_left.div_ceil(2)) {
            if is_over() {
                return None;
            }
            for at in &drawn {
                let later = at.replies.iter().map(|&(next, share)| share * ours[usize::from(next)]);
                theirs[at.class] = at.mistakes + later.sum::<f64>();
            }
            let mut change: f64 = 0.0;
            for at in &drawn {
                let after = at.replies.iter().map(|&(next, _)| theirs[usize::from(next)]);
                let chance = DISCOUNT * after.fold(0.0, f64::max);
                change = change.max((chance - ours[at.class]).abs());
                ours[at.class] = chance;
            }
            if change < SETTLED {
                break;
            }
        }
        Some(Prospects { graph: &self.graph, chances: theirs })
    }

    fn new(neutrals: Neutrals, is_over: &mut dyn FnMut() -> bool) -> Option<Self> {
        let graph = ClassGraph::new(neutrals, is_over)?;
        let mut favourites = Vec::new();
        for judgement in JUDGEMENTS {
            if is_over() {
                return None;
            }
            let values: Vec<i32> =
                (0..graph.len()).map(|class| judgement.value(neutrals, graph.state(class))).collect();
            favourites.push(best_successors(&graph, &values));
            favourites.push(best_successors(&graph, &one_ply_deeper(&graph, &values)));
        }
        let keeps_value: Vec<i32> = (0..graph.len())
            .map(|class| match graph.fate(class) {
                Fate::Won => 1,
                Fate::Drawn => 0,
                Fate::Lost => -1,
            })
            .collect();
        favourites.push(best_successors(&graph, &keeps_value));
        favourites.extend(action_favourites(neutrals, &graph, is_over)?);
        Some(Self { graph, favourites })
    }

    /// The replies of the opponent in this game, as pairs of classes.
    fn replies(&self, game: &LGame, root: &Root<LGame>) -> Vec<(usize, u16)> {
        let mut pos: Position = root.start.clone();
        let mut replies = Vec::new();
        for &mv in &root.plies {
            let before = (pos.mover != root.pos.mover).then(|| self.graph.number(pos.state));
            game.play(&mut pos, mv);
            replies.extend(before.map(|class| (class, self.graph.number(pos.state) as u16)));
        }
        replies
    }

    /// Bayes' rule over all candidates and rates, from even odds.
    fn belief(&self, replies: &[(usize, u16)]) -> Belief {
        let rates = BLUNDER_RATES.len();
        // Every candidate with every rate, then the random player.
        let mut odds = vec![1.0; self.favourites.len() * rates + 1];
        let mut habits = vec![None; self.graph.len()];
        let (mut same, mut seen) = HABIT_PRIOR;
        for &(class, reply) in replies {
            let random = share(self.graph.successors(class), reply);
            for (candidate, favourites) in self.favourites.iter().enumerate() {
                let meant = share(favourites.get(class), reply);
                for (rate, blunders) in BLUNDER_RATES.iter().enumerate() {
                    odds[candidate * rates + rate] *= (1.0 - blunders) * meant + blunders * random;
                }
            }
            odds[self.favourites.len() * rates] *= random;
            let sum: f64 = odds.iter().sum();
            odds.iter_mut().for_each(|odd| *odd /= sum);
            if let Some(earlier) = habits[class].replace(reply) {
                seen += 1.0;
                same += f64::from(u8::from(earlier == reply));
            }
        }
        let sum: f64 = odds.iter().sum();
        let random = odds[odds.len() - 1] / sum;
        let mut belief = Belief { favourites: Vec::new(), random, habits, habit: same / seen };
        for odds in odds[..self.favourites.len() * rates].chunks_exact(rates) {
            let weigh = |share: fn(f64) -> f64| -> f64 {
                odds.iter().zip(BLUNDER_RATES).map(|(odd, blunders)| odd * share(blunders)).sum()
            };
            belief.favourites.push(weigh(|blunders| 1.0 - blunders) / sum);
            belief.random += weigh(|blunders| blunders) / sum;
        }
        belief
    }

    /// A drawn class, and how likely each reply of the opponent is there; `shares` has a zero for each class.
    fn drawn(&self, belief: &Belief, class: usize, shares: &mut [f64]) -> Drawn {
        let successors = self.graph.successors(class);
        let habit = belief.habits[class].map(|reply| (reply, belief.habit));
        let rest = 1.0 - habit.map_or(0.0, |(_, share)| share);
        let mut add = |list: &[u16], weight: f64| {
            list.iter().for_each(|&next| shares[usize::from(next)] += weight / list.len() as f64);
        };
        add(successors, rest * belief.random);
        for (weight, favourites) in belief.favourites.iter().zip(&self.favourites) {
            if *weight > 1e-6 {
                add(favourites.get(class), rest * weight);
            }
        }
        if let Some((reply, share)) = habit {
            add(&[reply], share);
        }
        let mut drawn = Drawn { class, mistakes: 0.0, replies: Vec::new() };
        // Several moves may lead to one class, whose share the first of them takes.
        for &next in successors {
            let share = std::mem::take(&mut shares[usize::from(next)]);
            match self.graph.fate(usize::from(next)) {
                Fate::Won => drawn.mistakes += share,
                Fate::Drawn if share > 0.0 => drawn.replies.push((next, share)),
                Fate::Drawn | Fate::Lost => (),
            }
        }
        drawn
    }
}

impl Prospects<'_> {
    /// The chance to win with the opponent to move in a state, in parts per million.
    pub(super) fn wins_ppm(&self, state: State) -> u32 {
        (self.chances[self.graph.number(state)] * 1e6) as u32
    }
}

/// The part of a list that is the given reply.
fn share(list: &[u16], reply: u16) -> f64 {
    list.iter().filter(|next| **next == reply).count() as f64 / list.len().max(1) as f64
}

/// The successors of each class with the smallest value for their mover.
fn best_successors(graph: &ClassGraph, values: &[i32]) -> Lists {
    let mut lists = Lists::default();
    for class in 0..graph.len() {
        let successors = graph.successors(class);
        let best = successors.iter().map(|&next| values[usize::from(next)]).min();
        lists.push(successors.iter().copied().filter(|&next| Some(values[usize::from(next)]) == best));
    }
    lists
}

/// The value of each class by its best move: what a search one ply deeper sees.
fn one_ply_deeper(graph: &ClassGraph, values: &[i32]) -> Vec<i32> {
    let deeper = |class| graph.successors(class).iter().map(|&next| -values[usize::from(next)]).max();
    (0..graph.len()).map(|class| deeper(class).unwrap_or(-INFINITE)).collect()
}

/// The favourites of searchers of 1 and 2 plies that judge the last move.
fn action_favourites(
    neutrals: Neutrals,
    graph: &ClassGraph,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<[Lists; 2]> {
    let game = LGame::new(neutrals, 0, 0);
    let mut one_ply = Lists::default();
    let mut best_action = vec![-INFINITE; graph.len()];
    for (class, best_of_class) in best_action.iter_mut().enumerate() {
        if class % CLASSES_BETWEEN_LOOKS == 0 && is_over() {
            return None;
        }
        let successors = graph.successors(class);
        let values: Vec<i32> = game
            .turns(graph.state(class))
            .zip(successors)
            .map(|(mv, &next)| match graph.successors(usize::from(next)) {
                [] => INFINITE,
                _ => action_value(mv.target, mv.landed),
            })
            .collect();
        if let Some(&best) = values.iter().max() {
            *best_of_class = best;
            one_ply.push(
                successors.iter().zip(&values).filter(|(_, value)| **value == best).map(|(&next, _)| next),
            );
        } else {
            one_ply.push(std::iter::empty());
        }
    }
    Some([one_ply, best_successors(graph, &best_action)])
}

#[cfg(test)]
mod tests {
    use super::super::Move;
    use super::super::notation::{START, parse_position};
    use super::super::perfect::Perfect;
    use super::super::perfect::tests::{answer, ask, legal};
    use super::super::tablebase::Tablebase;
    use super::*;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::game::{Notation, Side, Turn};
    use plyd_core::search::{Control, End, SearchParams, Searcher};
    use plyd_core::zobrist::SplitMix64;

    const GAME: LGame = LGame::new(Neutrals::One, 0, 0);
    const MODELLING: Perfect = Perfect { seed: 0, novelty: true, opponent_model: true, depth: None };

    fn start() -> Root<LGame> {
        Root::new(parse_position(&GAME, START).expect("valid"))
    }

    #[test]
    fn the_opponent_model_never_leaves_the_drawn_and_won_states() {
        let games = [(Neutrals::One, 1), (Neutrals::One, 2), (Neutrals::Compulsory, 3), (Neutrals::None, 4)];
        for (neutrals, seed) in games.into_iter().step_by(if is_whole() { 1 } else { 2 }) {
            let game = LGame::new(neutrals, 60, 3);
            let mut root = Root::<LGame>::new(parse_position(&game, START).expect("valid"));
            let mut random = SplitMix64::new(seed);
            let is_lost = |pos: &Position| {
                Tablebase::of(neutrals).distance(0, pos.state).is_some_and(|plies| plies % 2 == 0)
            };
            while game.turn(&root.pos) == Turn::Move {
                let mv = if root.pos.mover == Side::First {
                    assert!(!is_lost(&root.pos));
                    let line = answer(Perfect { seed, ..MODELLING }, &game, &root);
                    assert_eq!(line, answer(Perfect { seed, ..MODELLING }, &game, &root));
                    line.pv[0]
                } else {
                    // A careful opponent: any move that keeps its value.
                    let moves = legal(&game, &root);
                    let distance = |mv: &Move| {
                        Tablebase::of(neutrals).distance(0, root.pos.state.after(mv.target, mv.tokens))
                    };
                    let safe: Vec<Move> = moves
                        .iter()
                        .copied()
                        .filter(|mv| distance(mv).is_none_or(|plies| plies % 2 == 0))
                        .collect();
                    let moves = if safe.is_empty() { moves } else { safe };
                    moves[random.below(moves.len())]
                };
                root.play(&game, mv);
            }
            assert!(root.plies.len() > 10 || root.pos.state.is_stuck());
        }
    }

    #[test]
    fn the_opponent_model_publishes_the_trap_first_and_obeys_stop() {
        let root = start();
        let asked = SearchParams { moves: legal(&GAME, &root), multipv: 1 };
        let mut player = MODELLING;
        let mut published = Vec::new();
        player.search(&GAME, &root, &asked, &Control::default(), &mut |found| published.push(found.clone()));
        let trap = ask(Perfect { opponent_model: false, ..MODELLING }, &GAME, &root, asked.moves.clone(), 1);
        assert_eq!((published.len(), &published[0]), (2, &trap));
        let control = Control::default();
        control.stop();
        assert_eq!(player.search(&GAME, &root, &asked, &control, &mut |_| ()), (trap, End::Proven));
    }

    #[test]
    fn replies_move_the_belief_to_those_who_make_them() {
        // A long game of a candidate against random moves: afterwards it is the likeliest.
        let opponent = Opponent::of(Neutrals::One, &mut || false).expect("no deadline");
        let graph = &opponent.graph;
        for candidate in [0, 5, 10, 17] {
            let mut random = SplitMix64::new(candidate as u64);
            let mut replies = Vec::new();
            for _ in 0..200 {
                let class = random.below(graph.len());
                if let favourites @ [_, ..] = opponent.favourites[candidate].get(class) {
                    replies.push((class, favourites[random.below(favourites.len())]));
                }
            }
            let belief = opponent.belief(&replies);
            let weight = belief.favourites[candidate];
            assert!(
                belief.favourites.iter().all(|other| *other <= weight),
                "{candidate}: {:?}",
                belief.favourites
            );
            let sum: f64 = belief.favourites.iter().sum::<f64>() + belief.random;
            assert!((sum - 1.0).abs() < 1e-9);
        }
    }

    /// The chance with the opponent to move in a class: the mean over what each candidate does there.
    fn expected(opponent: &Opponent, belief: &Belief, class: usize, ours: &[f64]) -> f64 {
        let mean = |list: &[u16]| {
            let sum: f64 = list.iter().map(|&next| ours[usize::from(next)]).sum();
            sum / list.len().max(1) as f64
        };
        let judged = belief.favourites.iter().zip(&opponent.favourites);
        let chance = belief.random * mean(opponent.graph.successors(class))
            + judged.map(|(weight, favourites)| weight * mean(favourites.get(class))).sum::<f64>();
        match belief.habits[class] {
            Some(reply) => belief.habit * ours[usize::from(reply)] + (1.0 - belief.habit) * chance,
            None => chance,
        }
    }

    #[test]
    fn prospects_are_the_means_over_all_candidates() {
        let opponent = Opponent::of(Neutrals::One, &mut || false).expect("no deadline");
        let graph = &opponent.graph;
        let mut root = start();
        for text in ["3 1 E", "1 2 E", "3 1 W", "2 4 E", "3 1 E", "1 2 E"] {
            root.play(&GAME, GAME.parse_move(&root.pos, text).expect("readable"));
        }
        let belief = opponent.belief(&opponent.replies(&GAME, &root));
        assert!(belief.habits.iter().any(Option::is_some));
        for moves in [1, 2, 5] {
            let mut theirs = vec![0.0; graph.len()];
            let mut ours: Vec<f64> =
                (0..graph.len()).map(|class| f64::from(u8::from(graph.fate(class) == Fate::Won))).collect();
            for _ in 0..moves {
                let drawn = || (0..graph.len()).filter(|class| graph.fate(*class) == Fate::Drawn);
                drawn().for_each(|class| theirs[class] = expected(opponent, &belief, class, &ours));
                for class in drawn() {
                    let after = graph.successors(class).iter().map(|&next| theirs[usize::from(next)]);
                    ours[class] = DISCOUNT * after.fold(0.0, f64::max);
                }
            }
            let found = opponent.prospects(&GAME, &root, 2 * moves, &mut || false).expect("no deadline");
            let differ = |(one, other): (&f64, &f64)| (one - other).abs() > 1e-5;
            assert_eq!(found.chances.iter().zip(&theirs).position(differ), None, "{moves} moves");
        }
    }

    #[test]
    fn candidates_are_given_up_wherever_the_time_is_over() {
        let are_made = |mut looks: i32| {
            let mut is_over = || {
                looks -= 1;
                looks < 0
            };
            Opponent::new(Neutrals::One, &mut is_over).is_some()
        };
        let enough = (0..1000).step_by(20).find(|&looks| are_made(looks));
        assert!(enough.is_some_and(|looks| looks > 60), "{enough:?}");
    }

    #[test]
    fn prospects_are_chances_and_better_against_blunderers() {
        let opponent = Opponent::of(Neutrals::One, &mut || false).expect("no deadline");
        let root = start();
        let prospects = opponent.prospects(&GAME, &root, u32::MAX, &mut || false).expect("no deadline");
        assert!(prospects.chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(opponent.prospects(&GAME, &root, u32::MAX, &mut || true).is_none());
        // The chance after the best move grows once the other side has given a win away and got it back.
        let best = |root: &Root<LGame>| {
            let prospects = opponent.prospects(&GAME, root, u32::MAX, &mut || false).expect("no deadline");
            legal(&GAME, root)
                .iter()
                .map(|mv| prospects.wins_ppm(root.pos.state.after(mv.target, mv.tokens)))
                .max()
        };
        let mut blundered = root.clone();
        for text in ["3 1 E", "1 2 E", "3 1 W", "2 4 E"] {
            let mv = GAME.parse_move(&blundered.pos, text).expect("readable");
            assert!(GAME.is_legal(&blundered.pos, mv));
            blundered.play(&GAME, mv);
        }
        assert_eq!(blundered.pos.state, root.pos.state);
        assert_ne!(best(&blundered), best(&root));
    }
}
