//! The start position that is drawn from a setup.
//!
//! The referee's generators are those of the framework of COMP 424 (McGill University) in Fall 2022 and 2023.

use super::board::Wall;
use super::position::Position;
use super::rules::Colosseum;
use super::setup::StartWalls;
use plyd_core::bits::Bits;
use plyd_core::game::{OpenError, Side};
use plyd_core::zobrist::SplitMix64;

/// How often the players on one board, and boards, are drawn before it is assumed that there is no start.
const PLAYERS_DRAWN: usize = 1000;
const BOARDS_DRAWN: usize = 1000;
/// The symmetry that takes each cell to the one opposite across the centre.
const HALF_TURN: usize = 3;

impl<B: Bits> Colosseum<B> {
    /// The start position that the setup draws: equal for equal setups.
    ///
    /// # Errors
    /// [`OpenError::Rule`] if the board has too few places for the walls, or the walls leave no start.
    pub fn start(&self) -> Result<Position<B>, OpenError> {
        let (board, setup) = (self.board(), self.setup());
        let message = |what: &str| OpenError::Rule { name: "start_walls", message: what.to_owned() };
        let pairs = setup.start_walls.pairs(board.size());
        let places: Vec<Wall> = board.walls().collect();
        if 2 * pairs > places.len() {
            return Err(message("the board has fewer places for walls"));
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
            // Places that were drawn before, and are apart from their images: no position is made twice.
            let mut is_apart = vec![false; board.cells()];
            for _ in 0..PLAYERS_DRAWN {
                let number = random.below(board.cells());
                let player = board.cell_at(number / board.size(), number % board.size());
                let image = board.image(HALF_TURN, player);
                if player == image || is_apart[number] {
                    continue;
                }
                let pos = self.position(open, [player, image], Side::First);
                if pos.zones().is_none() {
                    return Ok(pos);
                }
                // So is its image, which is drawn as another player's place.
                is_apart[number] = true;
                is_apart[board.cells() - 1 - number] = true;
                if setup.start_walls == StartWalls::Fall2022 {
                    break;
                }
            }
        }
        Err(message("so many walls leave no start with the players together"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::{MAX_SIZE, MIN_SIZE};
    use super::super::notation::Layout;
    use super::super::setup::Setup;
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::game::Notation;

    fn text<B: Bits>(setup: Setup) -> Result<String, OpenError> {
        let game = Colosseum::<B>::new(setup);
        game.start().map(|pos| {
            assert!(pos.zones().is_none(), "the players are together");
            game.position_text(&pos)
        })
    }

    fn drawn(size: usize, start_walls: StartWalls, seed: u64) -> Result<String, OpenError> {
        let setup = Setup { size, start_walls, seed };
        match size {
            ..=8 => text::<u64>(setup),
            9..=11 => text::<Colours<u64>>(setup),
            _ => text::<Colours<u128>>(setup),
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
        if layout.size == MAX_SIZE { exchanged::<Colours<u128>>(&layout) } else { exchanged::<u128>(&layout) }
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
}
