//! The levels of a game: how each is weakened, and its measured strength.
//!
//! A game gives them as a text, so that a measurement can be written straight into it: `measured by COMMAND`,
//! then a line a level, `LEVEL SIGHT NODES WAVERS HASTY ELO ERROR`. The four in the middle are `-` for the
//! highest level, which is not weakened; the last two are `-` if nothing was measured yet. Lines that begin
//! with `#` are for people.

use crate::search::strength::Weakening;

/// The levels of a game, from 1 up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Levels {
    /// The command that measured them; empty if none did.
    pub measured_by: &'static str,
    /// The levels in their order; the last is not weakened.
    pub list: Vec<Level>,
}

/// A level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// What makes it weaker than the highest one.
    pub weakening: Option<Weakening>,
    /// How strong it is, if that was measured.
    pub rating: Option<Rating>,
}

/// How much stronger a level is than random moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rating {
    /// The difference in Elo.
    pub elo: i32,
    /// Half the width of its 95 % interval.
    pub error: u32,
}

impl Levels {
    /// Reads a game's text; an empty one has no levels.
    ///
    /// ```
    /// use plyd_core::engine::levels::Levels;
    ///
    /// let text = "# level, sight, nodes, wavers, hasty, Elo, error\n1 1 1000 400 600 - -\n2 - - - - - -";
    /// let levels = Levels::parse(text).unwrap();
    /// assert_eq!(levels.weakening(1).map(|weakening| weakening.sight), Some(1));
    /// assert_eq!(levels.weakening(2), None);
    /// ```
    ///
    /// # Errors
    /// The line, counted from 1, and what is wrong with it.
    pub fn parse(text: &'static str) -> Result<Self, (usize, String)> {
        let mut levels = Self::default();
        for (index, line) in text.lines().enumerate() {
            let wrong = |message: &str| (index + 1, message.to_owned());
            if let Some(command) = line.strip_prefix("measured by ") {
                levels.measured_by = command;
            } else if !line.is_empty() && !line.starts_with('#') {
                let mut words = line.split_whitespace();
                let number = words.next().and_then(|word| word.parse().ok());
                if number != Some(levels.list.len() + 1) {
                    return Err(wrong("not the next level"));
                }
                levels
                    .list
                    .push(Level::parse(words).ok_or_else(|| wrong("six figures or dashes are needed"))?);
            }
        }
        Ok(levels)
    }

    /// What weakens a level, from 1 up; nothing for the highest.
    #[must_use]
    pub fn weakening(&self, level: u32) -> Option<Weakening> {
        self.list.get(level.checked_sub(1)? as usize)?.weakening
    }
}

impl Level {
    fn parse<'t>(words: impl Iterator<Item = &'t str>) -> Option<Self> {
        let words: Vec<&str> = words.collect();
        let [sight, nodes, wavers, hasty, elo, error] = words[..] else { return None };
        let weakening = if [sight, nodes, wavers, hasty] == ["-"; 4] {
            None
        } else {
            Some(Weakening {
                sight: sight.parse().ok()?,
                nodes: nodes.parse().ok()?,
                wavers: wavers.parse().ok()?,
                hasty: hasty.parse().ok()?,
            })
        };
        let rating = if [elo, error] == ["-"; 2] {
            None
        } else {
            Some(Rating { elo: elo.parse().ok()?, error: error.parse().ok()? })
        };
        Some(Self { weakening, rating })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_their_line() {
        for (text, line, message) in [
            ("# levels\n1 1 1 1 1 1", 2, "six figures"),
            ("1 1 1 1 1 1 1\n\n3 1 1 1 1 1 1", 3, "next level"),
            ("1 - 1 1 1 1 1", 1, "six figures"),
            ("1 1 1 1 1 1 -1", 1, "six figures"),
        ] {
            let (at, error) = Levels::parse(text).unwrap_err();
            assert!(at == line && error.contains(message), "{text}: {at} {error}");
        }
        assert_eq!(Levels::parse("").unwrap().weakening(1), None);
    }
}
