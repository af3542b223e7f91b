//! A slow second opinion for tests: the rules on coordinates, after the published framework. Shares no code
//! with the game.

use std::collections::{BTreeSet, HashMap, VecDeque};

use plyd_core::zobrist::SplitMix64;

/// A cell as (row, column) from the top left.
pub(super) type Place = (i32, i32);

/// Row and column offsets of the sides up, right, down, left.
const MOVES: [Place; 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];

/// A position on a board of booleans; players are 0 and 1.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    pub(super) size: i32,
    /// Cells and the sides of them that are walls, the border included; each wall belongs to both its cells.
    walls: BTreeSet<(Place, usize)>,
    pub(super) places: [Place; 2],
    pub(super) active: usize,
}

impl Oracle {
    pub(super) fn new(size: i32, places: [Place; 2]) -> Self {
        let mut walls = BTreeSet::new();
        for row in 0..size {
            for column in 0..size {
                for (side, (rows, columns)) in MOVES.into_iter().enumerate() {
                    let on = |number: i32| (0..size).contains(&number);
                    if !on(row + rows) || !on(column + columns) {
                        walls.insert(((row, column), side));
                    }
                }
            }
        }
        Self { size, walls, places, active: 0 }
    }

    pub(super) fn has_wall(&self, place: Place, side: usize) -> bool {
        self.walls.contains(&(place, side))
    }

    pub(super) fn set_wall(&mut self, place: Place, side: usize) {
        assert!(self.walls.insert((place, side)));
        assert!(self.walls.insert((beside(place, side), (side + 2) % 4)));
    }

    /// The cells that can be walked to within some steps, not through `barred`.
    pub(super) fn within(&self, from: Place, steps: u32, barred: Option<Place>) -> HashMap<Place, u32> {
        let mut distances = HashMap::from([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(place) = queue.pop_front() {
            let distance = distances[&place];
            for side in 0..4 {
                let next = beside(place, side);
                if distance < steps && !self.has_wall(place, side) && Some(next) != barred {
                    distances.entry(next).or_insert_with(|| {
                        queue.push_back(next);
                        distance + 1
                    });
                }
            }
        }
        distances
    }

    /// Every legal move, by row, column and side.
    pub(super) fn legal_moves(&self) -> Vec<(Place, usize)> {
        let steps = (self.size as u32).div_ceil(2);
        let walk = self.within(self.places[self.active], steps, Some(self.places[1 - self.active]));
        let places: BTreeSet<Place> = walk.into_keys().collect();
        let sides = |place| (0..4).map(move |side| (place, side));
        places.into_iter().flat_map(sides).filter(|&(place, side)| !self.has_wall(place, side)).collect()
    }

    pub(super) fn play(&mut self, (place, side): (Place, usize)) {
        self.places[self.active] = place;
        self.set_wall(place, side);
        self.active = 1 - self.active;
    }

    pub(super) fn after(&self, mv: (Place, usize)) -> Self {
        let mut next = self.clone();
        next.play(mv);
        next
    }

    /// The published `check_endgame`: components by union-find, and both scores if the game is over.
    pub(super) fn scores(&self) -> Option<[i32; 2]> {
        let places = || (0..self.size).flat_map(|row| (0..self.size).map(move |column| (row, column)));
        let mut father: HashMap<Place, Place> = places().map(|place| (place, place)).collect();
        fn find(father: &HashMap<Place, Place>, mut place: Place) -> Place {
            while father[&place] != place {
                place = father[&place];
            }
            place
        }
        for place in places() {
            // Only down and right: the others are the same walls.
            for side in [1, 2] {
                if !self.has_wall(place, side) {
                    let (a, b) = (find(&father, place), find(&father, beside(place, side)));
                    father.insert(a, b);
                }
            }
        }
        let [first, second] = self.places.map(|place| find(&father, place));
        let score = |root| places().filter(|&place| find(&father, place) == root).count() as i32;
        (first != second).then(|| [score(first), score(second)])
    }

    pub(super) fn text(&self) -> String {
        let mut walls = Vec::new();
        for (side, letter) in [(1, 'R'), (2, 'D')] {
            for &((row, column), _) in self.walls.iter().filter(|wall| wall.1 == side) {
                let (next_row, next_column) = beside((row, column), side);
                if next_row < self.size && next_column < self.size {
                    walls.push(format!("{row:x}{column:x}{letter}"));
                }
            }
        }
        let walls = if walls.is_empty() { "-".to_owned() } else { walls.join(",") };
        let [(r1, c1), (r2, c2)] = self.places;
        format!("{} {r1},{c1} {r2},{c2} {walls} {}", self.size, self.active + 1)
    }
}

/// The cell beyond a side.
fn beside((row, column): Place, side: usize) -> Place {
    let (rows, columns) = MOVES[side];
    (row + rows, column + columns)
}

/// Random games from random starts, from their first position to the last one.
pub(super) fn random_games(size: i32, games: u64, mut visit: impl FnMut(usize, &Oracle)) {
    for game in 0..games {
        let mut random = SplitMix64::new(game * 100 + size as u64);
        let mut place = || {
            let number = random.below((size * size) as usize) as i32;
            (number / size, number % size)
        };
        let mut places = [place(), place()];
        while places[0] == places[1] {
            places[1] = place();
        }
        let mut oracle = Oracle::new(size, places);
        for ply in 0.. {
            visit(ply, &oracle);
            if oracle.scores().is_some() {
                break;
            }
            let moves = oracle.legal_moves();
            oracle.play(moves[random.below(moves.len())]);
        }
    }
}
