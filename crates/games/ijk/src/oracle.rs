//! A second, slow program for the rules and texts, written from the rules' page alone with rows of
//! characters.

use plyd_core::zobrist::SplitMix64;

/// The rules, by the words of the page.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) size: usize,
    pub(super) nondet: bool,
    pub(super) skip: &'static str,
    pub(super) end: &'static str,
    pub(super) full_ends: bool,
    pub(super) random_first: bool,
    pub(super) win: &'static str,
    pub(super) repetition: usize,
    pub(super) max_plies: usize,
}

impl Rules {
    /// The row of a preset in the page's table.
    pub(super) fn preset(name: &str, nondet: bool) -> Self {
        let v2 = Self {
            size: 6,
            nondet,
            skip: "none",
            end: "round",
            full_ends: true,
            random_first: false,
            win: "highest",
            repetition: 0,
            max_plies: 0,
        };
        match name {
            "v2" => v2,
            "v2-4x4" => Self { size: 4, ..v2 },
            "v1" => Self { size: 4, skip: "flip", full_ends: false, win: "any", repetition: 3, ..v2 },
            "text" => Self {
                size: 4,
                skip: "pass",
                end: "ply",
                full_ends: false,
                random_first: nondet,
                repetition: 3,
                ..v2
            },
            other => panic!("no preset {other}"),
        }
    }
}

/// A position as rows of characters, `.` for an empty cell.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    pub(super) rules: Rules,
    pub(super) rows: Vec<Vec<char>>,
    pub(super) mover: char,
    pub(super) awaits: bool,
    /// Row and column of the tile placed last; if tiles are drawn it stays at the first cell.
    last: (usize, usize),
    /// Moves so far.
    plies: usize,
    /// Every position with a full board so far: rows and mover.
    full: Vec<(Vec<Vec<char>>, char)>,
}

impl Oracle {
    pub(super) fn new(rules: Rules) -> Self {
        let mut rows = vec![vec!['.'; rules.size]; rules.size];
        let awaits = rules.random_first;
        if !awaits {
            rows[0][0] = 'A';
        }
        Self { rules, rows, mover: '+', awaits, last: (0, 0), plies: 0, full: Vec::new() }
    }

    /// The empty cells in row-major order.
    pub(super) fn empty(&self) -> Vec<(usize, usize)> {
        let size = self.rules.size;
        let all = (0..size).flat_map(|row| (0..size).map(move |column| (row, column)));
        all.filter(|&(row, column)| self.rows[row][column] == '.').collect()
    }

    pub(super) fn moves(&self) -> Vec<String> {
        if self.awaits {
            return self.empty().into_iter().map(|(row, column)| cell('~', row, column)).collect();
        }
        let slides = ["U", "D", "L", "R"].into_iter().map(str::to_owned);
        slides.chain((self.rules.skip != "none").then(|| "S".to_owned())).collect()
    }

    pub(super) fn play(&mut self, mv: &str) {
        if self.awaits {
            let bytes = mv.as_bytes();
            self.place(usize::from(bytes[2] - b'1'), usize::from(bytes[1] - b'a'));
            return;
        }
        self.plies += 1;
        let mut adds = true;
        match (mv, self.rules.skip) {
            ("S", "flip") => {
                let tile = &mut self.rows[self.last.0][self.last.1];
                *tile =
                    if tile.is_uppercase() { tile.to_ascii_lowercase() } else { tile.to_ascii_uppercase() };
                adds = false;
            }
            ("S", _) => {}
            _ => self.slide(mv),
        }
        self.mover = if self.mover == '+' { '-' } else { '+' };
        match self.empty().first() {
            None => self.remember(),
            Some(_) if !adds => {}
            Some(_) if self.rules.nondet => self.awaits = true,
            Some(&(row, column)) => {
                self.last = (row, column);
                self.place(row, column);
            }
        }
    }

    fn place(&mut self, row: usize, column: usize) {
        self.rows[row][column] = if self.mover == '+' { 'A' } else { 'a' };
        self.awaits = false;
        self.remember();
    }

    fn remember(&mut self) {
        if self.empty().is_empty() {
            self.full.push((self.rows.clone(), self.mover));
        }
    }

    fn slide(&mut self, mv: &str) {
        let size = self.rules.size;
        for line in 0..size {
            // The cells of a line from the wall on.
            let at = |i: usize| match mv {
                "U" => (i, line),
                "D" => (size - 1 - i, line),
                "L" => (line, i),
                "R" => (line, size - 1 - i),
                other => panic!("no slide {other}"),
            };
            let cells = (0..size).map(|i| self.rows[at(i).0][at(i).1]).collect();
            for (i, tile) in self.slid(cells).into_iter().enumerate() {
                let (row, column) = at(i);
                self.rows[row][column] = tile;
            }
        }
    }

    /// A line after the slide, from the wall on: compress, one greedy pass over adjacent pairs, compress
    /// again.
    fn slid(&self, mut line: Vec<char>) -> Vec<char> {
        let size = line.len();
        line.retain(|&tile| tile != '.');
        let mut i = 0;
        while i + 1 < line.len() {
            let (one, two) = (line[i], line[i + 1]);
            if one.eq_ignore_ascii_case(&two) {
                let next = (one as u8 + 1) as char;
                line[i] = match (one == two, self.mover) {
                    (true, _) => next,
                    (false, '+') => next.to_ascii_uppercase(),
                    (false, _) => next.to_ascii_lowercase(),
                };
                line[i + 1] = '.';
                i += 1;
            }
            i += 1;
        }
        line.retain(|&tile| tile != '.');
        line.resize(size, '.');
        line
    }

    /// Who has won (`+`, `-`, or `=` for a tie) and by what, if the game is over.
    pub(super) fn over(&self) -> Option<(char, &'static str)> {
        if self.awaits {
            return None;
        }
        let tiles: Vec<char> = self.rows.iter().flatten().copied().filter(|&tile| tile != '.').collect();
        let upper = tiles.iter().copied().filter(char::is_ascii_uppercase).max().unwrap_or('A');
        let lower = tiles.iter().copied().filter(char::is_ascii_lowercase).max().unwrap_or('a');
        let higher = match upper.to_ascii_lowercase().cmp(&lower) {
            std::cmp::Ordering::Greater => '+',
            std::cmp::Ordering::Equal => '=',
            std::cmp::Ordering::Less => '-',
        };
        if self.rules.end == "ply" || self.mover == '+' {
            if self.rules.win == "any" {
                if let Some(k) = tiles.iter().find(|tile| tile.eq_ignore_ascii_case(&'k')) {
                    return Some((if *k == 'K' { '+' } else { '-' }, "k"));
                }
            } else if upper == 'K' || lower == 'k' {
                return Some((higher, "k"));
            }
            if self.rules.full_ends && self.empty().is_empty() {
                return Some((higher, "full"));
            }
        }
        let here = (self.rows.clone(), self.mover);
        let times = self.full.iter().filter(|&past| *past == here).count();
        if self.rules.repetition > 0 && times >= self.rules.repetition {
            return Some(('=', "repetition"));
        }
        (self.rules.max_plies > 0 && self.plies >= self.rules.max_plies).then_some(('=', "max_plies"))
    }

    pub(super) fn text(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(|row| row.iter().collect()).collect();
        let mut text = format!("{} {}", rows.join("/"), self.mover);
        if self.rules.skip == "flip" {
            text.push_str(&cell(' ', self.last.0, self.last.1));
        }
        if self.awaits {
            text.push_str(" ~");
        }
        text
    }
}

fn cell(before: char, row: usize, column: usize) -> String {
    format!("{before}{}{}", (b'a' + column as u8) as char, row + 1)
}

/// Shows every position of random games with the ply that is played next, none at the end of a game, until so
/// many plies were played.
///
/// Random moves keep a board half empty and reach no high letters; so games begin with some tiles put
/// anywhere, up to nearly full boards, and are left at some time.
pub(super) fn random_games(
    rules: &Rules,
    plies: usize,
    seed: u64,
    mut visit: impl FnMut(&Oracle, Option<&str>),
) {
    let mut random = SplitMix64::new(seed);
    let mut oracle = start(rules, &mut random);
    for _ in 0..plies {
        if oracle.over().is_some() || random.below(40) == 0 {
            visit(&oracle, None);
            oracle = start(rules, &mut random);
        }
        let moves = oracle.moves();
        let mv = &moves[random.below(moves.len())];
        visit(&oracle, Some(mv));
        oracle.play(mv);
    }
}

/// The start, or a board with tiles of any letter that does not end the game.
fn start(rules: &Rules, random: &mut SplitMix64) -> Oracle {
    loop {
        let mut oracle = Oracle::new(rules.clone());
        for _ in 0..random.below(4 * rules.size * rules.size) {
            let (row, column) = (random.below(rules.size), random.below(rules.size));
            let letter = b'A' + random.below(12).min(random.below(12)) as u8;
            let case = if random.below(2) == 0 { letter } else { letter.to_ascii_lowercase() };
            oracle.rows[row][column] = case as char;
        }
        if random.below(2) == 0 {
            oracle.mover = '-';
        }
        oracle.awaits &= !oracle.empty().is_empty();
        oracle.remember();
        if oracle.over().is_none() {
            return oracle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::super::nibbles::{self, Nibbles};
    use super::super::notation::Layout;
    use super::super::planes::Planes;
    use super::super::rules::Ijk;
    use super::super::variant::Variant;
    use super::*;
    use plyd_core::game::{Game, Notation, Setting, Side, Turn};

    /// Compares random games, on each kind of boards that has the size; gives how often what may happen did.
    fn agree(preset: &str, rules: &Rules, variant: Variant) -> [usize; 7] {
        let seen = if variant.chance {
            follow::<true, Planes>(preset, rules, variant)
        } else {
            follow::<false, Planes>(preset, rules, variant)
        };
        if variant.size == nibbles::SIZE {
            let others = if variant.chance {
                follow::<true, Nibbles>(preset, rules, variant)
            } else {
                follow::<false, Nibbles>(preset, rules, variant)
            };
            assert_eq!(seen, others, "{preset}");
        }
        seen
    }

    fn follow<const CHANCE: bool, B: Board>(preset: &str, rules: &Rules, variant: Variant) -> [usize; 7] {
        let game = Ijk::<CHANCE, B>::new(variant);
        assert_eq!(game.position_text(&game.start()), Oracle::new(rules.clone()).text());
        // How often what may happen did: three endings, ties, drawn tiles, `S`, and the cap on moves.
        let mut seen = [0; 7];
        let mut current = None;
        random_games(rules, 10_000, 5, |oracle, mv| {
            let text = oracle.text();
            let pos = match current.take() {
                Some(pos) if game.position_text(&pos) == text => pos,
                _ => Layout::parse(&text).unwrap().position(&game).unwrap(),
            };
            assert_eq!(game.position_text(&pos), text, "{preset}");
            let over = match game.turn(&pos) {
                Turn::Over(outcome) => {
                    let winner =
                        outcome.winner.map_or('=', |side| if side == Side::First { '+' } else { '-' });
                    Some((winner, outcome.by))
                }
                Turn::Chance | Turn::Move => None,
            };
            assert_eq!(over, oracle.over(), "{preset}: {text}");
            if let Some((winner, by)) = over {
                let endings = [(0, "k"), (1, "full"), (2, "repetition"), (6, "max_plies")];
                seen[endings.iter().find(|ending| ending.1 == by).unwrap().0] += 1;
                seen[3] += usize::from(winner == '=');
            } else {
                let mut moves = Vec::new();
                if oracle.awaits {
                    assert_eq!(game.turn(&pos), Turn::Chance);
                    let mut outcomes = Vec::new();
                    game.outcomes(&pos, &mut outcomes);
                    assert!(outcomes.iter().all(|outcome| outcome.1 == 1), "each as likely");
                    moves.extend(outcomes.into_iter().map(|outcome| outcome.0));
                } else {
                    game.moves(&pos, &mut moves);
                }
                let texts: Vec<String> = moves.iter().map(|&mv| game.move_text(&pos, mv)).collect();
                assert_eq!(texts, oracle.moves(), "{preset}: {text}");
            }
            let mut pos = pos;
            if let Some(text) = mv {
                let mv = game.parse_move(&pos, text).unwrap();
                assert!(game.is_legal(&pos, mv));
                game.play(&mut pos, mv);
                let scratch = game.position(*pos.board(), pos.mover(), pos.awaits(), pos.last());
                assert_eq!(pos.balance(), scratch.balance(), "{preset}: {text}");
                seen[4] += usize::from(text.starts_with('~'));
                seen[5] += usize::from(text == "S");
            }
            current = Some(pos);
        });
        seen
    }

    #[test]
    fn random_plies_agree_with_a_second_program_under_every_preset() {
        let mut all_ties = 0;
        for preset in ["v2", "v2-4x4", "v1", "text"] {
            for (mode, chance) in [("det", false), ("nondet", true)] {
                let given =
                    plyd_core::game::Rules::new(vec![("preset", preset.into()), ("mode", mode.into())]);
                let variant = Variant::choose(&given, None).unwrap();
                let rules = Rules::preset(preset, chance);
                let [k, full, repetition, ties, drawn, skips, _] = agree(preset, &rules, variant);
                assert!(k > 0, "{preset} {mode}: no game ended by a K");
                assert_eq!(full > 0, rules.full_ends, "{preset} {mode}");
                assert_eq!(repetition > 0, rules.repetition > 0, "{preset} {mode}");
                all_ties += ties;
                assert_eq!((drawn > 0, skips > 0), (chance, rules.skip != "none"), "{preset} {mode}");
            }
        }
        assert!(all_ties > 0, "no game was drawn");
    }

    #[test]
    fn rules_that_no_preset_has_agree_too() {
        let plain = Rules::preset("v2", false);
        let cases = [
            (
                "size=5,skip=pass,end=ply,win=any,max_plies=15",
                Rules { size: 5, skip: "pass", end: "ply", win: "any", max_plies: 15, ..plain.clone() },
            ),
            (
                "size=4,skip=flip,end=ply,max_plies=9",
                Rules { size: 4, skip: "flip", end: "ply", max_plies: 9, ..plain.clone() },
            ),
            (
                "size=3,mode=nondet,end=ply,full_ends=false,repetition=2,win=any",
                Rules {
                    size: 3,
                    nondet: true,
                    end: "ply",
                    full_ends: false,
                    repetition: 2,
                    win: "any",
                    ..plain.clone()
                },
            ),
            (
                "mode=nondet,skip=flip,first_tile=random,win=any,max_plies=20",
                Rules { nondet: true, skip: "flip", random_first: true, win: "any", max_plies: 20, ..plain },
            ),
        ];
        for (text, rules) in cases {
            let setting = |value: &'static str| match (value.parse(), value.parse()) {
                (Ok(number), _) => Setting::Int(number),
                (_, Ok(truth)) => Setting::Bool(truth),
                _ => value.into(),
            };
            let given = text.split(',').map(|rule| rule.split_once('=').unwrap());
            let given = given.map(|(name, value)| (name, setting(value))).collect();
            let variant = Variant::choose(&plyd_core::game::Rules::new(given), None).unwrap();
            let [k, .., capped] = agree(text, &rules, variant);
            assert_eq!((k > 0, capped > 0), (true, rules.max_plies > 0), "{text}");
        }
    }
}
