//! How a game is set up: the rules `size`, `start_walls` and `seed`, and the start position that is drawn
//! from them.
//!
//! The referee's generators are those of the framework of COMP 424 (McGill University) in Fall 2022 and 2023.

use super::board::{MAX_SIZE, MIN_SIZE, Wall};
use super::position::Position;
use super::rules::Colosseum;
use crate::bits::Bits;
use plyd_core::game::{Kind, OpenError, Rules, Setting, Side, Spec};
use plyd_core::zobrist::SplitMix64;

/// The largest number of pairs of walls: with more, hardly two cells of the largest board are connected.
const MAX_PAIRS: i64 = 66;
/// The default size.
const DEFAULT_SIZE: i64 = 8;
/// How often the players on one board, and boards, are drawn before it is assumed that there is no start.
const PLAYERS_DRAWN: usize = 1000;
const BOARDS_DRAWN: usize = 1000;

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
        about: "Walls of the drawn start: those of the referee of a year, or so many pairs, each wall with its image.",
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
    /// A number of pairs; the players are drawn again, and the board if that does not help.
    Pairs(u8),
}

impl StartWalls {
    /// How many walls are drawn on a board, each with its image.
    fn pairs(self, size: usize) -> usize {
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
/// use plyd_games::colosseum::setup::{Setup, StartWalls};
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

/// The start position that the setup draws: equal for equal setups.
///
/// # Errors
/// [`OpenError::Rule`] if so many walls leave no start.
pub fn start<B: Bits>(game: &Colosseum<B>) -> Result<Position<B>, OpenError> {
    let (board, setup) = (game.board(), game.setup());
    let message = |what: &str| OpenError::Rule { name: "start_walls", message: what.to_owned() };
    let pairs = setup.start_walls.pairs(board.size());
    let places: Vec<Wall> = board.walls().collect();
    if 2 * pairs > places.len() {
        return Err(message("the board has fewer sides between cells"));
    }
    let mut random = SplitMix64::new(setup.seed);
    for _ in 0..BOARDS_DRAWN {
        let mut open = board.bare();
        for _ in 0..pairs {
            // No wall is its own image.
            let wall = loop {
                let wall = places[random.below(places.len())];
                if open.has(wall) {
                    break wall;
                }
            };
            open.toggle(wall);
            open.toggle(board.image_of_wall(HALF_TURN, wall));
        }
        for _ in 0..PLAYERS_DRAWN {
            let player = random.below(board.cells()) as u8;
            let image = board.image(HALF_TURN, player);
            if player == image {
                continue;
            }
            let pos = game.position(open, [player, image], Side::First);
            if pos.zones().is_none() {
                return Ok(pos);
            }
            if setup.start_walls == StartWalls::Fall2022 {
                break;
            }
        }
    }
    Err(message("so many walls leave no start with the players together"))
}

/// The symmetry that takes each cell to the one opposite across the centre.
const HALF_TURN: usize = 3;

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::*;
    use crate::bits::U192;
    use plyd_core::game::Notation;

    fn text<B: Bits>(setup: Setup) -> Result<String, OpenError> {
        let game = Colosseum::<B>::new(setup);
        start(&game).map(|pos| {
            assert!(pos.zones().is_none(), "the players are together");
            game.position_text(&pos)
        })
    }

    fn drawn(size: usize, start_walls: StartWalls, seed: u64) -> Result<String, OpenError> {
        let setup = Setup { size, start_walls, seed };
        match size {
            ..=8 => text::<u64>(setup),
            9..=11 => text::<u128>(setup),
            _ => text::<U192>(setup),
        }
    }

    /// Walls, and the sum of both players' rows and columns, which a half turn makes equal to twice the last.
    fn counts(text: &str) -> (usize, Vec<usize>) {
        let fields: Vec<&str> = text.split(' ').collect();
        let walls = if fields[3] == "-" { 0 } else { fields[3].split(',').count() };
        let place =
            |field: &str| field.split(',').map(|number| number.parse::<usize>().unwrap()).collect::<Vec<_>>();
        (walls, place(fields[1]).into_iter().zip(place(fields[2])).map(|(a, b)| a + b).collect())
    }

    #[test]
    fn starts_are_symmetric_and_equal_for_equal_seeds() {
        for size in MIN_SIZE..=MAX_SIZE {
            for (start_walls, pairs) in [
                (StartWalls::Fall2023, size / 2 - 1),
                (StartWalls::Fall2022, size.div_ceil(2)),
                (StartWalls::Pairs(0), 0),
                (StartWalls::Pairs(7), 7),
            ] {
                let mut texts: Vec<String> =
                    (0..20).map(|seed| drawn(size, start_walls, seed).unwrap()).collect();
                for (seed, text) in texts.iter().enumerate() {
                    assert_eq!(drawn(size, start_walls, seed as u64).as_ref(), Ok(text));
                    assert_eq!(counts(text), (2 * pairs, vec![size - 1; 2]), "{text}");
                    assert_eq!(half_turned(text), *text);
                }
                texts.sort_unstable();
                texts.dedup();
                assert!(texts.len() > 8, "{texts:?}");
            }
        }
    }

    /// The position after a half turn, with the players exchanged.
    fn half_turned(text: &str) -> String {
        let layout = Layout::parse(text).unwrap();
        if layout.size == MAX_SIZE { exchanged::<U192>(&layout) } else { exchanged::<u128>(&layout) }
    }

    fn exchanged<B: Bits>(layout: &Layout) -> String {
        let setup = Setup { size: layout.size, start_walls: StartWalls::Fall2023, seed: 0 };
        let game = Colosseum::<B>::new(setup);
        let (board, pos) = (game.board(), layout.position(&game));
        let mut open = board.bare();
        for wall in board.walls().filter(|&wall| !pos.open().has(wall)) {
            open.toggle(board.image_of_wall(HALF_TURN, wall));
        }
        let players = [Side::Second, Side::First].map(|side| board.image(HALF_TURN, pos.player(side)));
        game.position_text(&game.position(open, players, pos.mover()))
    }

    #[test]
    fn too_many_walls_leave_no_start() {
        for (size, pairs) in [(5, 20), (5, 21), (5, 66)] {
            let error = drawn(size, StartWalls::Pairs(pairs), 1);
            assert!(matches!(error, Err(OpenError::Rule { name: "start_walls", .. })), "{error:?}");
        }
    }

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
