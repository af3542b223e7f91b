//! A slow second opinion for tests: the rules on rows of numbers, solvability by trying. Shares no code with
//! the game.

use std::collections::HashMap;

use plyd_core::zobrist::SplitMix64;

/// A cell as (row, column), and a value.
pub(super) type Place = (usize, usize);

/// A position as the rules describe it; players are 0 and 1, empty cells 0.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Oracle {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) board: Vec<Vec<usize>>,
    pub(super) taboo: Vec<(Place, usize)>,
    pub(super) scores: [i32; 2],
    pub(super) mover: usize,
    /// The allowed cells of both, and the cells that belong to each, in the bound presets.
    pub(super) bound: Option<[(Vec<Place>, Vec<Place>); 2]>,
}

impl Oracle {
    pub(super) fn new(m: usize, n: usize, values: &[u8]) -> Self {
        let side = m * n;
        let board = values.chunks(side).map(|row| row.iter().map(|&value| value.into()).collect()).collect();
        Self { m, n, board, taboo: Vec::new(), scores: [0; 2], mover: 0, bound: None }
    }

    /// The same with the players bound to cells.
    pub(super) fn bound(mut self, first: Vec<Place>, second: Vec<Place>) -> Self {
        self.bound = Some([(first, Vec::new()), (second, Vec::new())]);
        self
    }

    fn side(&self) -> usize {
        self.m * self.n
    }

    fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let side = self.side();
        (0..side).flat_map(move |row| (0..side).map(move |column| (row, column)))
    }

    fn in_block(&self, (row, column): Place) -> impl Iterator<Item = Place> + use<> {
        let (m, n) = (self.m, self.n);
        let (top, left) = (row / m * m, column / n * n);
        (top..top + m).flat_map(move |r| (left..left + n).map(move |c| (r, c)))
    }

    /// Row, column and block of a cell.
    fn regions(&self, (row, column): Place) -> [Vec<Place>; 3] {
        let line = 0..self.side();
        [
            line.clone().map(|c| (row, c)).collect(),
            line.map(|r| (r, column)).collect(),
            self.in_block((row, column)).collect(),
        ]
    }

    fn at(&self, (row, column): Place) -> usize {
        self.board[row][column]
    }

    fn fits(&self, place: Place, value: usize) -> bool {
        // Most of an oracle's time is spent here, so no lists of places are made.
        let (row, column) = place;
        self.at(place) == 0
            && !(0..self.side()).any(|i| self.board[row][i] == value || self.board[i][column] == value)
            && !self.in_block(place).any(|other| self.at(other) == value)
    }

    fn is_playable(&self, place: Place, player: usize) -> bool {
        let Some(bound) = &self.bound else { return self.at(place) == 0 };
        let (allowed, owned) = &bound[player];
        let near = |&(r, c): &Place| r.abs_diff(place.0) <= 1 && c.abs_diff(place.1) <= 1;
        self.at(place) == 0 && (allowed.contains(&place) || owned.iter().any(near))
    }

    fn has_playable(&self, player: usize) -> bool {
        self.places().any(|place| self.is_playable(place, player))
    }

    pub(super) fn is_over(&self) -> bool {
        !self.has_playable(0) && !self.has_playable(1)
    }

    /// Every move that does not lose at once, by cells and values.
    pub(super) fn legal(&self) -> Vec<(Place, usize)> {
        let moves = self.places().flat_map(|place| (1..=self.side()).map(move |value| (place, value)));
        let is_legal = |mv: &(Place, usize)| {
            self.is_playable(mv.0, self.mover) && self.fits(mv.0, mv.1) && !self.taboo.contains(mv)
        };
        moves.filter(is_legal).collect()
    }

    pub(super) fn is_taboo(&self, (place, value): (Place, usize)) -> bool {
        let mut board = self.board.clone();
        board[place.0][place.1] = value;
        let values: Vec<u8> = board.into_iter().flatten().map(|value| value as u8).collect();
        solutions(self.m, self.n, &values, 1) == 0
    }

    pub(super) fn play(&mut self, mv: (Place, usize)) {
        let player = self.mover;
        if self.is_taboo(mv) {
            self.taboo.push(mv);
        } else {
            let ((row, column), value) = mv;
            self.board[row][column] = value;
            let complete = |region: &&Vec<Place>| region.iter().all(|&place| self.at(place) != 0);
            let completed = self.regions(mv.0).iter().filter(complete).count();
            self.scores[player] += match completed {
                0 => 0,
                1 => 1,
                2 => 3,
                _ => 7,
            };
            if let Some(bound) = &mut self.bound {
                bound[player].1.push(mv.0);
            }
        }
        let other = 1 - player;
        self.mover = if self.has_playable(other) || !self.has_playable(player) { other } else { player };
    }

    /// The points that the mover gains more than the other from here on, with the best play of both.
    pub(super) fn solve(&self, known: &mut HashMap<State, i32>) -> i32 {
        if self.is_over() {
            return 0;
        }
        let mut taboo = self.taboo.clone();
        taboo.sort_unstable();
        let owned = self.bound.as_ref().map(|bound| bound.each_ref().map(|(_, owned)| ascending(owned)));
        let state = (self.board.clone(), taboo, owned, self.mover);
        if let Some(&value) = known.get(&state) {
            return value;
        }
        let after = |mv| {
            let mut next = self.clone();
            next.play(mv);
            let gained = next.scores[self.mover] - self.scores[self.mover];
            let rest = next.solve(known);
            gained + if next.mover == self.mover { rest } else { -rest }
        };
        let value = self.legal().into_iter().map(after).max().expect("a game that goes on has a move");
        known.insert(state, value);
        value
    }
}

/// What a position's future depends on: values, taboo moves, owned cells, the mover.
pub(super) type State = (Vec<Vec<usize>>, Vec<(Place, usize)>, Option<[Vec<Place>; 2]>, usize);

fn ascending(places: &[Place]) -> Vec<Place> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places
}

/// The number of solutions of a board, up to a limit, by trying values in the cell with the fewest.
pub(super) fn solutions(m: usize, n: usize, values: &[u8], limit: usize) -> usize {
    let oracle = Oracle::new(m, n, values);
    for place in oracle.places() {
        let others = oracle.regions(place);
        let again = |&other: &Place| other != place && oracle.at(other) == oracle.at(place);
        if oracle.at(place) != 0 && others.iter().flatten().any(again) {
            return 0;
        }
    }
    let mut seen = 0;
    fill(&mut Oracle::new(m, n, values), limit, &mut seen);
    seen
}

fn fill(oracle: &mut Oracle, limit: usize, seen: &mut usize) {
    let fitting = |place: Place| (1..=oracle.side()).filter(|&v| oracle.fits(place, v)).collect::<Vec<_>>();
    let open = oracle.places().filter(|&place| oracle.at(place) == 0);
    let Some((place, values)) = open.map(|place| (place, fitting(place))).min_by_key(|open| open.1.len())
    else {
        *seen += 1;
        return;
    };
    for value in values {
        if *seen < limit {
            oracle.board[place.0][place.1] = value;
            fill(oracle, limit, seen);
            oracle.board[place.0][place.1] = 0;
        }
    }
}

/// Shows boards of several shapes with some of their values, most of them with solutions.
pub(super) fn random_boards(mut visit: impl FnMut(usize, usize, &[u8])) {
    let shapes = [(2, 2, 0), (2, 3, 10), (3, 2, 10), (3, 3, 36), (2, 5, 62)];
    for (seed, (m, n, fewest)) in (0..).zip(shapes.into_iter().cycle().take(30)) {
        let mut random = SplitMix64::new(seed);
        let side = m * n;
        let mut board = solved(m, n, &mut random);
        let kept = fewest + random.below(side * side - fewest);
        let mut cells: Vec<usize> = (0..side * side).collect();
        while cells.len() > kept {
            board[cells.swap_remove(random.below(cells.len()))] = 0;
        }
        visit(m, n, &board);
        // One value changed: often no solution is left.
        let cell = random.below(side * side);
        board[cell] = random.below(side) as u8 + 1;
        visit(m, n, &board);
    }
}

/// A random solution of the empty board: a simple one with its values, and rows within bands, exchanged.
pub(super) fn solved(m: usize, n: usize, random: &mut SplitMix64) -> Vec<u8> {
    let side = m * n;
    let mut values: Vec<usize> = (0..side).collect();
    let mut rows: Vec<usize> = (0..side).collect();
    for _ in 0..4 * side {
        let (a, b) = (random.below(side), random.below(side));
        values.swap(a, b);
        let band = random.below(n) * m;
        rows.swap(band + random.below(m), band + random.below(m));
    }
    let value = |cell: usize| {
        let (row, column) = (rows[cell / side], cell % side);
        values[(row % m * n + row / m + column) % side] as u8 + 1
    };
    (0..side * side).map(value).collect()
}
