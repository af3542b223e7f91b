//! The value of rows and columns: an n-tuple network beside mass and lead, for boards of 4 by 4 cells.
//!
//! Four cells in a line are a tuple; a cell is described by its owner and by how far its letter is below the
//! highest one. A table gives the value of each such line, and a last one that of the whole board, by its
//! number of tiles, the lead and the balance. All values are in parts of the highest letter's mass, so that
//! what was learned from low letters holds for high ones. Source: Szubert and Jaśkowski, "Temporal Difference
//! Learning of N-Tuple Networks for the Game 2048", 2014. The tables are trained by `plyd train ijk`.

use std::ops::Deref;
use std::sync::Arc;

use super::board::{Board, Case};
use super::eval::{Lead, WIN, bounded, highest};
use super::nibbles::{CELLS as EACH, Nibbles, SIZE, everywhere, whole};
use super::planes::Planes;
use super::rules::{Ijk, Move, Position, case};
use super::variant::{Skip, Variant};
use plyd_core::engine::{self, Learner, Made, MakeEvaluator, Playable};
use plyd_core::game::{Context, Evaluator, Game};
use plyd_core::learning::network::{Network, Sum};
use plyd_core::options::Options;
use plyd_core::score::Score;
use plyd_core::search::erased::Erased;

/// Cells of the board.
const CELLS: i32 = (SIZE * SIZE) as i32;
/// How far a letter may be below the highest: 0, 1, 2 or more.
const LEVELS: u64 = 4;
/// What a cell may hold: nothing, or a tile of either side.
const STATES: usize = 1 + 2 * LEVELS as usize;
/// Different lines.
const LINES: usize = STATES.pow(SIZE as u32);
/// Tiles on the board, from none to all.
const TILES: usize = SIZE * SIZE + 1;
/// The largest lead of the mover, in letters, that is distinguished.
const FAR: i32 = 2;
/// The largest lead of the mover in mass that is distinguished, in quarters of the highest letter's.
const MUCH: i32 = 6;
const LEADS: usize = 2 * FAR as usize + 1;
const BALANCES: usize = 2 * MUCH as usize + 1;

/// Where the columns begin in the tables, after the rows.
const COLUMNS: usize = LINES;
/// Where the whole board's begin.
const WHOLE: usize = 2 * LINES;
/// All entries.
const ENTRIES: usize = WHOLE + TILES * LEADS * BALANCES;

/// Bits of the number of a line, and of the whole board's entry: numbers that are cut to them need no check
/// against the end of the tables.
const LINE_BITS: u32 = LINES.next_power_of_two().ilog2();
const WHOLE_BITS: u32 = (ENTRIES - WHOLE).next_power_of_two().ilog2();
/// The length of the tables, with unused entries at the end.
const LEN: usize = ENTRIES.next_power_of_two();
const _: () = assert!(COLUMNS + (1 << LINE_BITS) <= LEN && WHOLE + (1 << WHOLE_BITS) <= LEN);

/// The thousandths of the highest letter's mass that an entry counts.
const UNIT: i32 = 8;
/// An advantage, in thousandths of the highest letter's mass, that makes a win `e` times as likely as a loss.
const DECISIVE: i32 = 500;

/// The tables: of rows, of columns, of the whole board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tables([i8; LEN]);

const _: () = assert!(size_of::<Tables>() <= 16 << 10, "tables stay near the core");

/// Learned under `preset=v2-4x4`.
static DET: Tables = Tables::read(include_bytes!("tuples-det.bin"));
/// Learned under `preset=v2-4x4,mode=nondet`.
static NONDET: Tables = Tables::read(include_bytes!("tuples-nondet.bin"));

impl Tables {
    /// The tables of a file: a byte for each entry, in their order.
    ///
    /// # Panics
    /// If the file is shorter or longer, or an entry is out of range; in a constant, at compile time.
    const fn read(file: &[u8]) -> Self {
        assert!(file.len() == ENTRIES, "the file has not as many bytes as the tables have entries");
        let mut tables = [0; LEN];
        let mut at = 0;
        while at < ENTRIES {
            tables[at] = file[at] as i8;
            assert!(tables[at] != i8::MIN, "an entry is out of range");
            at += 1;
        }
        Self(tables)
    }
}

/// Mass and lead, and what the tables say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuples<T> {
    lead: Lead,
    tables: T,
}

/// A game with tables that were learned for some of its rules.
pub(super) trait Learned: Game {
    /// The evaluation that most games on such a board are played with.
    type Usual: Evaluator<Self>;

    /// That evaluation; none if few play by the game's rules, for which nothing was learned: then it is
    /// `lead`, behind a virtual call.
    fn usual(&self, lead: Lead) -> Option<Self::Usual>;

    /// A learner for the tables.
    ///
    /// # Errors
    /// Why there are no tables under these rules, in a sentence.
    fn learnable(&self) -> Result<Box<dyn Learner>, String>
    where
        Self: Playable;
}

/// Why there is nothing to learn.
const UNKNOWN: &str =
    "its tables are for 4x4 without a move S, ended by a full board: give --rules preset=v2-4x4";

/// There are no tables for boards of other sizes.
impl<const CHANCE: bool> Learned for Ijk<CHANCE, Planes> {
    type Usual = Lead;

    fn usual(&self, lead: Lead) -> Option<Lead> {
        Some(lead)
    }

    fn learnable(&self) -> Result<Box<dyn Learner>, String>
    where
        Self: Playable,
    {
        Err(UNKNOWN.to_owned())
    }
}

impl<const CHANCE: bool> Learned for Ijk<CHANCE, Nibbles> {
    type Usual = Tuples<&'static Tables>;

    fn usual(&self, lead: Lead) -> Option<Self::Usual> {
        is_known(self.variant()).then_some(Tuples { lead, tables: if CHANCE { &NONDET } else { &DET } })
    }

    fn learnable(&self) -> Result<Box<dyn Learner>, String>
    where
        Self: Playable,
    {
        if is_known(self.variant()) { Ok(engine::learner(self, Trained)) } else { Err(UNKNOWN.to_owned()) }
    }
}

/// Makes the evaluation by tables if they are for the rules, else the one without.
pub(super) struct WhereLearned;

impl<G: Playable + Learned> MakeEvaluator<G> for WhereLearned
where
    Lead: Evaluator<G>,
{
    fn player(&self, game: &G, options: &Options) -> Made<G> {
        let lead = Lead::new(|spec| options.weight(spec));
        match game.usual(lead) {
            Some(usual) => game.player(usual, options),
            // The searches are compiled for what most games are played with.
            None => game.player(Erased::new(lead), options),
        }
    }

    fn evaluate(&self, game: &G, pos: &G::Position) -> Score {
        match game.usual(Lead::default()) {
            Some(usual) => usual.evaluate_alone(game, pos),
            None => Lead::default().evaluate_alone(game, pos),
        }
    }

    fn range(&self, game: &G) -> (i32, i32) {
        match game.usual(Lead::default()) {
            Some(usual) => usual.range(),
            None => Lead::default().range(),
        }
    }

    fn decisive(&self, game: &G) -> i32 {
        match game.usual(Lead::default()) {
            Some(usual) => usual.decisive(),
            None => Lead::default().decisive(),
        }
    }
}

/// Whether there are tables for these rules.
fn is_known(variant: &Variant) -> bool {
    variant.skip == Skip::None && variant.full_ends
}

/// The lines of a board as indexes into the table of rows or columns, and the entry of the whole board.
#[inline]
fn lines(pos: &Position<Nibbles>, [own, other]: [u8; 2]) -> ([usize; SIZE], [usize; SIZE], usize) {
    let board = pos.board();
    let top = own.max(other);
    let occupied = board.occupied();
    let opponents = match case(pos.mover()) {
        Case::Upper => board.of(Case::Lower),
        Case::Lower => board.of(Case::Upper),
    };
    // No letter is above the highest, so no nibble borrows from its neighbour. All far levels are alike.
    let below = everywhere(top) - board.letters();
    let far = (below >> 2 | below >> 3) & EACH;
    let levels = (below | far | far << 1) & everywhere(LEVELS as u8 - 1);
    let states = (levels + EACH + (opponents << 2)) & whole(occupied);

    const N: u64 = STATES as u64;
    // Neighbours in a row become one number in a byte, and two of these one in a lane of 16 bits.
    let pairs = (states & 0x0f0f_0f0f_0f0f_0f0f) + N * (states >> 4 & 0x0f0f_0f0f_0f0f_0f0f);
    let across = (pairs & 0x00ff_00ff_00ff_00ff) + N * N * (pairs >> 8 & 0x00ff_00ff_00ff_00ff);
    let across = [0, 1, 2, 3].map(|row| (across >> (16 * row)) as usize & ((1 << LINE_BITS) - 1));
    // A column has a cell in each lane. The product's highest lane is their sum, each times its power: at the
    // high end of the word, so that nothing but a shift is left to do.
    const POWERS: u64 = ((N * N * N) | ((N * N) << 16) | (N << 32) | (1 << 48)) << (16 - LINE_BITS);
    let column = |column: u32| states >> (4 * column) & 0x000f_000f_000f_000f;
    let down = [0, 1, 2, 3].map(|at| (column(at).wrapping_mul(POWERS) >> (64 - LINE_BITS)) as usize);

    let lead = (i32::from(own) - i32::from(other)).clamp(-FAR, FAR) + FAR;
    let balance = pos.balance();
    let quarters = ((8 * balance.abs()) >> top).min(MUCH) * balance.signum() + MUCH;
    let tiles = occupied.count_ones() as usize;
    let whole = (tiles * LEADS + lead as usize) * BALANCES + quarters as usize;
    (across, down, whole & ((1 << WHOLE_BITS) - 1))
}

impl<const CHANCE: bool, T> Evaluator<Ijk<CHANCE, Nibbles>> for Tuples<T>
where
    T: Deref<Target = Tables> + Clone + Send + Sync + 'static,
{
    #[inline(always)]
    fn evaluate(&self, _game: &Ijk<CHANCE, Nibbles>, pos: &Position<Nibbles>, _ctx: &Context<Move>) -> Score {
        let highest = highest(pos);
        let (rows, columns, whole) = lines(pos, highest);
        let entries = &self.tables.0;
        let mut sum = i32::from(entries[WHOLE + whole]);
        for line in 0..SIZE {
            sum += i32::from(entries[rows[line]]) + i32::from(entries[COLUMNS + columns[line]]);
        }
        bounded(self.lead.value(pos, highest, CELLS) + unit(highest) * sum)
    }

    fn range(&self) -> (i32, i32) {
        (-WIN, WIN)
    }
}

/// What an entry counts, in thousandths of an `A`; a board without tiles counts as if it had one.
#[inline]
fn unit([own, other]: [u8; 2]) -> i32 {
    UNIT << (own.max(other).max(1) - 1)
}

/// What `plyd train` changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trained;

impl<const CHANCE: bool> Network<Ijk<CHANCE, Nibbles>> for Trained {
    type Evaluator = Tuples<Arc<Tables>>;
    const LEN: usize = ENTRIES;
    const MOST: i16 = i8::MAX as i16;

    fn evaluator(&self, weights: &[i16]) -> Self::Evaluator {
        let mut tables = [0; LEN];
        let entry = |index: usize| weights[representative::<CHANCE>(index)] as i8;
        tables[..ENTRIES].iter_mut().enumerate().for_each(|(index, value)| *value = entry(index));
        Tuples { lead: Lead::default(), tables: Arc::new(Tables(tables)) }
    }

    fn sum(&self, _game: &Ijk<CHANCE, Nibbles>, pos: &Position<Nibbles>, active: &mut Vec<u32>) -> Sum {
        let highest = highest(pos);
        let (rows, columns, whole) = lines(pos, highest);
        let entries = rows.into_iter().chain(columns.map(|line| COLUMNS + line)).chain([WHOLE + whole]);
        active.extend(entries.map(|entry| representative::<CHANCE>(entry) as u32));
        Sum {
            base: Lead::default().value(pos, highest, CELLS),
            unit: unit(highest),
            decisive: DECISIVE * unit(highest) / UNIT,
        }
    }

    fn file(evaluator: &Self::Evaluator) -> Vec<u8> {
        evaluator.tables.0[..ENTRIES].iter().map(|&entry| entry as u8).collect()
    }
}

/// The entry that stands for all entries of the same value: with chance a line, the same backwards, and
/// columns that are like rows. Without chance the first empty cell gets the tile, which no symmetry keeps.
fn representative<const CHANCE: bool>(entry: usize) -> usize {
    if !CHANCE || entry >= WHOLE {
        return entry;
    }
    let line = entry % LINES;
    let backwards =
        (0..SIZE as u32).fold(0, |backwards, cell| backwards * STATES + line / STATES.pow(cell) % STATES);
    line.min(backwards)
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::super::board::{Tile, places};
    use super::super::eval::MOST;
    use super::super::notation::Layout;
    use super::super::oracle;
    use super::*;
    use plyd_core::game::{Game, Rules, Setting, Side};
    use plyd_core::zobrist::SplitMix64;

    fn game<const CHANCE: bool>() -> Ijk<CHANCE, Nibbles> {
        let mode = if CHANCE { "nondet" } else { "det" };
        let rules = Rules::new(vec![("size", Setting::Int(SIZE as i64)), ("mode", mode.into())]);
        Ijk::new(Variant::choose(&rules, None).unwrap())
    }

    fn weights(seed: u64) -> Vec<i16> {
        let mut random = SplitMix64::new(seed);
        (0..ENTRIES).map(|_| random.below(255) as i16 - 127).collect()
    }

    fn with<const CHANCE: bool>(weights: &[i16]) -> Tuples<Arc<Tables>> {
        Network::<Ijk<CHANCE, Nibbles>>::evaluator(&Trained, weights)
    }

    fn value<const CHANCE: bool>(
        evaluator: &impl Evaluator<Ijk<CHANCE, Nibbles>>,
        game: &Ijk<CHANCE, Nibbles>,
        pos: &Position<Nibbles>,
    ) -> i32 {
        evaluator.evaluate(game, pos, &Context { root: Side::First, last: None }).raw()
    }

    /// Positions of random games in which a player is to move.
    fn positions<const CHANCE: bool>(game: &Ijk<CHANCE, Nibbles>, count: usize) -> Vec<Position<Nibbles>> {
        let rules = oracle::Rules { size: SIZE, ..oracle::Rules::preset("v2", CHANCE) };
        let mut all = Vec::new();
        oracle::random_games(&rules, count, 5, |oracle, _| {
            let pos = Layout::parse(&oracle.text()).unwrap().position(game).unwrap();
            if game.turn(&pos) == plyd_core::game::Turn::Move {
                all.push(pos);
            }
        });
        assert!(all.len() > count / 4);
        all
    }

    /// What a cell holds, by looking at its tile.
    fn state(pos: &Position<Nibbles>, row: usize, column: usize) -> usize {
        let top = highest(pos).into_iter().max().unwrap();
        pos.board().tile(Nibbles::cell(row, column)).map_or(0, |Tile { letter, case: of }| {
            let below = usize::from(top - letter).min(LEVELS as usize - 1);
            1 + below + if of == case(pos.mover()) { 0 } else { LEVELS as usize }
        })
    }

    #[test]
    fn lines_are_what_their_cells_hold() {
        for pos in positions(&game::<false>(), 400) {
            let (rows, columns, _) = lines(&pos, highest(&pos));
            for line in 0..SIZE {
                let sum = |cell: &dyn Fn(usize) -> usize| -> usize {
                    (0..SIZE).map(|at| cell(at) * STATES.pow(at as u32)).sum()
                };
                assert_eq!(rows[line], sum(&|at| state(&pos, line, at)));
                assert_eq!(columns[line], sum(&|at| state(&pos, at, line)));
            }
        }
    }

    #[test]
    fn empty_tables_leave_the_lead() {
        let game = game::<false>();
        let tuples = with::<false>(&[0; ENTRIES]);
        for pos in positions(&game, 200) {
            assert_eq!(value(&tuples, &game, &pos), value(&Lead::default(), &game, &pos));
        }
    }

    #[test]
    fn values_by_hand() {
        let game = game::<false>();
        let pos = Layout::parse("Cb../..../..../...a +").unwrap().position(&game).unwrap();
        // An own tile at the top, one of the other side one below it; the lead is one letter, and the balance
        // 4 - 3.
        let row = 1 + (1 + LEVELS as usize + 1) * STATES;
        let whole = (3 * LEADS + 3) * BALANCES + (1 + MUCH) as usize;
        for (entry, expected) in [
            (row, 10),
            (0, 2 * 10),
            ((1 + LEVELS as usize + 2) * STATES.pow(3), 10),
            (COLUMNS, 10),
            (COLUMNS + 1, 10),
            (COLUMNS + 1 + LEVELS as usize + 1, 10),
            (COLUMNS + (1 + LEVELS as usize + 2) * STATES.pow(3), 10),
            (WHOLE + whole, 10),
            (WHOLE + whole + 1, 0),
        ] {
            let mut weights = [0; ENTRIES];
            weights[entry] = 10;
            let tuples = with::<false>(&weights);
            let more = value(&tuples, &game, &pos) - value(&Lead::default(), &game, &pos);
            assert_eq!(more, 4 * UNIT * expected, "{entry}");
        }
    }

    fn sums<const CHANCE: bool>() {
        let game = game::<CHANCE>();
        let weights = weights(1);
        let tuples = with::<CHANCE>(&weights);
        let empty = Layout::parse("..../..../..../.... +").unwrap().position(&game).unwrap();
        for pos in positions(&game, 300).into_iter().chain([empty]) {
            let mut active = Vec::new();
            let Sum { base, unit, decisive } = Trained.sum(&game, &pos, &mut active);
            let sum: i32 = active.iter().map(|&weight| i32::from(weights[weight as usize])).sum();
            assert_eq!((base + unit * sum).clamp(-MOST, MOST), value(&tuples, &game, &pos));
            assert!(unit > 0 && decisive > 0);
            for image in game.images(&pos) {
                assert_eq!(value(&tuples, &game, &image), value(&tuples, &game, &pos));
            }
        }
    }

    #[test]
    fn what_learns_is_what_plays() {
        sums::<false>();
        sums::<true>();
    }

    #[test]
    fn exchanged_cases_exchange_the_sides() {
        let game = game::<false>();
        for tuples in [with::<false>(&weights(2)), with::<false>(&weights(3))] {
            for pos in positions(&game, 200) {
                let mut board = *pos.board();
                places(SIZE).for_each(|(row, column)| board.flip(Nibbles::cell(row, column)));
                let exchanged = game.position(board, pos.mover().other(), false, 0);
                // From the view of whoever is to move, the same; so from the first player's, the negative.
                assert_eq!(value(&tuples, &game, &exchanged), value(&tuples, &game, &pos));
            }
        }
    }

    #[test]
    fn values_stay_in_their_range() {
        let game = game::<false>();
        let board = "OONN/ONOM/MONO/ONON";
        for (weight, board) in [(127, board.to_owned()), (-127, board.to_lowercase())] {
            let tuples = with::<false>(&[weight; ENTRIES]);
            let pos = Layout::parse(&format!("{board} +")).unwrap().position(&game).unwrap();
            let (low, high) = Evaluator::<Ijk<false, Nibbles>>::range(&tuples);
            let value = value(&tuples, &game, &pos);
            assert!(value.abs() == MOST && low < value && value < high, "{value}");
        }
    }

    #[test]
    fn files_that_are_no_tables_do_not_compile() {
        let file = vec![127_u8; ENTRIES];
        assert!(catch_unwind(|| Tables::read(&file)).is_ok());
        assert!(catch_unwind(|| Tables::read(&file[1..])).is_err());
        assert!(catch_unwind(|| Tables::read(&[&file[..], &[0]].concat())).is_err());
        assert!(catch_unwind(|| Tables::read(&[&file[1..], &[0x80]].concat())).is_err());
    }

    #[test]
    fn a_written_file_reads_as_the_tables() {
        let evaluator = with::<true>(&weights(4));
        let file = <Trained as Network<Ijk<true, Nibbles>>>::file(&evaluator);
        assert_eq!(Tables::read(&file), *evaluator.tables);
    }

    #[test]
    fn tables_are_for_the_rules_that_they_were_learned_under() {
        for (preset, is_known) in [("v2-4x4", true), ("v2", true), ("v1", false), ("text", false)] {
            let rules = Rules::new(vec![("preset", preset.into()), ("size", Setting::Int(SIZE as i64))]);
            let game = Ijk::<false, Nibbles>::new(Variant::choose(&rules, None).unwrap());
            assert_eq!(game.usual(Lead::default()).is_some(), is_known, "{preset}");
            assert_eq!(game.learnable().is_ok(), is_known, "{preset}");
        }
    }
}
