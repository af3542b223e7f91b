//! What is remembered of the matches that were met last. A worker lives for months, and matches come and go.

use std::collections::VecDeque;

use super::description::MatchId;

/// Something about each of the matches that were asked for last.
#[derive(Debug)]
pub(super) struct Recent<V> {
    /// How many there are at most.
    most: usize,
    /// The one that was asked for last stands at the end.
    known: VecDeque<(MatchId, V)>,
}

impl<V> Recent<V> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, known: VecDeque::new() }
    }

    /// What is known of a match.
    pub(super) fn get(&mut self, id: &MatchId) -> Option<&mut V> {
        let at = self.known.iter().position(|(known, _)| known == id)?;
        let found = self.known.remove(at)?;
        self.known.push_back(found);
        self.known.back_mut().map(|(_, value)| value)
    }

    /// Remembers something of a match, and forgets the match that was asked for longest ago if there are too
    /// many.
    pub(super) fn insert(&mut self, id: MatchId, value: V) {
        self.known.retain(|(known, _)| *known != id);
        if self.known.len() == self.most {
            self.known.pop_front();
        }
        self.known.push_back((id, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_match_that_was_asked_for_longest_ago_is_forgotten_first() {
        let id = |number: u8| MatchId::of(&[number]);
        let mut recent = Recent::new(2);
        recent.insert(id(1), 'a');
        recent.insert(id(2), 'b');
        assert_eq!(recent.get(&id(1)), Some(&mut 'a'));
        recent.insert(id(1), 'c');
        recent.insert(id(3), 'd');
        let found = [1, 2, 3].map(|number| recent.get(&id(number)).copied());
        assert_eq!(found, [Some('c'), None, Some('d')]);
    }
}
