//! How a game is set up: the rules `size`, `start_walls` and `seed`.

use super::board::{MAX_SIZE, MIN_SIZE};
use plyd_core::game::{Kind, OpenError, Rules, Setting, Spec};

/// The largest number of pairs of walls: with more, hardly two cells of the largest board are connected.
const MAX_PAIRS: i64 = 66;
/// The default size.
const DEFAULT_SIZE: i64 = 8;

/// The rules' options.
pub(super) const RULES: &[Spec] = &[
    Spec {
        name: "size",
        kind: Kind::Int { min: MIN_SIZE as i64, max: MAX_SIZE as i64, default: Some(DEFAULT_SIZE) },
        about: "Rows and columns.",
    },
    Spec {
        name: "start_walls",
        kind: Kind::ChoiceOrInt { choices: &["2023", "2022"], min: 0, max: MAX_PAIRS },
        about: "Walls of the random start: as the referee of 2023 or 2022 puts them, or this many pairs of a wall and its symmetric counterpart.",
    },
    Spec { name: "seed", kind: Kind::Seed, about: "Draws the start position." },
];

/// How many walls a drawn start has, and what is drawn again if it separates the players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartWalls {
    /// The referee of Fall 2023: size / 2 - 1 pairs; the players are drawn again.
    Fall2023,
    /// The referee of Fall 2022: (size + 1) / 2 pairs; the whole board is drawn again.
    Fall2022,
    /// This number of pairs; the players are drawn again, and the board if that does not help.
    Pairs(u8),
}

impl StartWalls {
    /// How many walls are drawn on a board, each with its image.
    pub(super) fn pairs(self, size: usize) -> usize {
        match self {
            Self::Fall2023 => size / 2 - 1,
            Self::Fall2022 => size.div_ceil(2),
            Self::Pairs(pairs) => pairs.into(),
        }
    }
}

/// What the rules' options say.
///
/// ```
/// use plyd_core::game::Rules;
/// use plyd_colosseum::setup::{Setup, StartWalls};
///
/// let rules = Rules::new(vec![("size", 8.into()), ("start_walls", "2022".into())]);
/// let setup = Setup::choose(&rules, None).unwrap();
/// assert_eq!((setup.size, setup.start_walls), (8, StartWalls::Fall2022));
/// // A start of another size contradicts the rule.
/// assert!(Setup::choose(&rules, Some(6)).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Rows and columns.
    pub size: usize,
    /// The walls of the start.
    pub start_walls: StartWalls,
    /// What the start is drawn from.
    pub seed: u64,
}

impl Setup {
    /// The setup that the rules ask for; they must not contradict the size of a start text, if there is one.
    ///
    /// # Errors
    /// [`OpenError::Impossible`] if the start has another size than an explicit rule asks for.
    pub fn choose(rules: &Rules, start: Option<usize>) -> Result<Self, OpenError> {
        let asked = rules.int("size").map(|size| size as usize);
        if let (Some(asked), Some(start)) = (asked, start)
            && asked != start
        {
            let message = format!("the start has size {start}, but the rules ask for {asked}");
            return Err(OpenError::Impossible(message));
        }
        let start_walls = match (rules.text("start_walls"), rules.int("start_walls")) {
            (Some("2022"), _) => StartWalls::Fall2022,
            (_, Some(pairs)) => StartWalls::Pairs(pairs as u8),
            _ => StartWalls::Fall2023,
        };
        let seed = rules.text("seed").and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0);
        Ok(Self { size: start.or(asked).unwrap_or(DEFAULT_SIZE as usize), start_walls, seed })
    }

    /// The effective rules by their names.
    #[must_use]
    pub(super) fn settings(&self) -> Vec<(&'static str, Setting)> {
        let start_walls = match self.start_walls {
            StartWalls::Fall2023 => "2023".into(),
            StartWalls::Fall2022 => "2022".into(),
            StartWalls::Pairs(pairs) => Setting::Int(pairs.into()),
        };
        vec![
            ("size", Setting::Int(self.size as i64)),
            ("start_walls", start_walls),
            ("seed", Setting::Text(format!("{:x}", self.seed))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_starts_agree_on_a_size() {
        let rules = |given: &[(&'static str, Setting)]| Rules::new(given.to_vec());
        let size = |given: &[(&'static str, Setting)], start| {
            Setup::choose(&rules(given), start).map(|setup| setup.size)
        };
        let six = [("size", Setting::Int(6))];
        assert_eq!((size(&[], None), size(&six, None), size(&[], Some(12))), (Ok(8), Ok(6), Ok(12)));
        assert_eq!(size(&six, Some(6)), Ok(6));
        assert!(matches!(size(&six, Some(7)), Err(OpenError::Impossible(_))));
        for start_walls in [Setting::from("2023"), Setting::from("2022"), Setting::Int(4)] {
            let given = vec![
                ("size", Setting::Int(11)),
                ("start_walls", start_walls),
                ("seed", Setting::from("fedcba9876543210")),
            ];
            assert_eq!(Setup::choose(&Rules::new(given.clone()), None).unwrap().settings(), given);
        }
    }
}
