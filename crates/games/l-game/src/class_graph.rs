//! The graph of the 2,296 classes of states under the eight symmetries, for value iteration over all of them.
//!
//! Knows a variant's turns, no caps and no histories.

use super::LGame;
use super::board::{PAIRS, ROWS, State, row};
use super::neutrals::Neutrals;
use super::tablebase::Tablebase;

/// How the game ends from a class under perfect play, from its mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// The mover wins.
    Won,
    /// Neither side can force a win.
    Drawn,
    /// The mover loses.
    Lost,
}

/// After how many classes whoever goes through all of them looks at the clock again.
pub(super) const CLASSES_BETWEEN_LOOKS: usize = 64;

/// Classes by number, with the classes that their moves lead to.
pub(super) struct ClassGraph {
    states: Vec<State>,
    fates: Vec<Fate>,
    numbers: Box<[u16]>,
    successors: Lists,
}

impl ClassGraph {
    /// The graph of a variant, or none if `is_over` says that there is no time to make it: it takes some
    /// milliseconds.
    pub(super) fn new(neutrals: Neutrals, is_over: &mut dyn FnMut() -> bool) -> Option<Self> {
        let states: Vec<State> = State::all().filter(|state| *state == state.class()).collect();
        let mut numbers = vec![u16::MAX; ROWS * PAIRS].into_boxed_slice();
        for (number, state) in states.iter().enumerate() {
            numbers[index(*state)] = number as u16;
        }
        let game = LGame::new(neutrals, 0, 0);
        let mut successors = Lists::default();
        for (number, &state) in states.iter().enumerate() {
            if number % CLASSES_BETWEEN_LOOKS == 0 && is_over() {
                return None;
            }
            let classes = game.turns(state).map(|mv| state.after(mv.target, mv.tokens).class());
            successors.push(classes.map(|class| numbers[index(class)]));
        }
        let table = Tablebase::of(neutrals);
        let fates = states.iter().map(|state| match table.distance(0, *state) {
            Some(plies) if plies % 2 == 1 => Fate::Won,
            Some(_) => Fate::Lost,
            None => Fate::Drawn,
        });
        Some(Self { fates: fates.collect(), states, numbers, successors })
    }

    /// How many classes there are.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// The number of a state's class.
    pub(super) fn number(&self, state: State) -> usize {
        usize::from(self.numbers[index(state.class())])
    }

    /// The state that stands for a class.
    pub(super) fn state(&self, class: usize) -> State {
        self.states[class]
    }

    /// The value of a class.
    pub(super) fn fate(&self, class: usize) -> Fate {
        self.fates[class]
    }

    /// The classes that the moves of a class lead to, in the order of its state's turns.
    pub(super) fn successors(&self, class: usize) -> &[u16] {
        self.successors.get(class)
    }
}

fn index(state: State) -> usize {
    row(state.own, state.other) * PAIRS + usize::from(state.tokens)
}

/// Lists of class numbers, one after the other in one piece of memory.
#[derive(Clone, Default)]
pub(super) struct Lists {
    ends: Vec<u32>,
    items: Vec<u16>,
}

impl Lists {
    /// Appends a list.
    pub(super) fn push(&mut self, list: impl Iterator<Item = u16>) {
        self.items.extend(list);
        self.ends.push(self.items.len() as u32);
    }

    /// The list of that number.
    pub(super) fn get(&self, index: usize) -> &[u16] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.items[start..self.ends[index] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_place_and_keeps_its_moves() {
        let graph = ClassGraph::new(Neutrals::One, &mut || false).expect("no deadline");
        assert_eq!(graph.len(), 2_296);
        let mut moves = 0;
        for class in 0..graph.len() {
            assert_eq!(graph.number(graph.state(class)), class);
            moves += graph.successors(class).len();
        }
        assert_eq!((moves * 100 + 1_148) / 2_296, 8_889);
    }
}
