//! How often the default player answers without having searched a depth, in every game on boards of all
//! sizes.
//!
//! Positions come from games of random moves, played by the rules of this program. The control sleeps to the
//! instant at which an answer is decided: a thread that oversleeps most of the time to think cannot search.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use ::plyd::cli::columns::grouped;
use ::plyd::engine::ToMove;
use ::plyd::game::Setting;
use ::plyd::games;
use ::plyd::play::Position;
use ::plyd::zobrist::SplitMix64;
use plyd_protocol::{BestMove, Message, Reason};

use crate::control::Control;
use crate::markdown::Table;
use crate::measure::Outcome;
use crate::plyd::Plyd;

/// The time of a move.
const MOVE: Duration = Duration::from_millis(10);
/// The part of it after which its answer is decided.
const THINKING: Duration = Duration::from_millis(5);
/// The most plies of a game of random moves.
const PLIES: usize = 1000;

const L_GAMES: &[&str] =
    &["", "neutrals=both", "neutrals=compulsory", "neutrals=none", "max_plies=100,repetition=3"];
const ISOLATIONS: &[&str] = &[
    "width=3,height=3",
    "width=5,height=4",
    "width=6,height=6",
    "preset=7x7",
    "width=8,height=8",
    "width=9,height=9",
    "preset=11x9",
    "width=11,height=11",
    "width=15,height=8",
];
const COLOSSEUMS: &[&str] =
    &["size=5", "size=6", "size=7", "size=8", "size=9", "size=10", "size=11", "size=12"];
const IJKS: &[&str] = &[
    "preset=v2",
    "preset=v2,mode=nondet",
    "preset=v2-4x4",
    "preset=v2-4x4,mode=nondet",
    "preset=v1",
    "preset=v1,mode=nondet",
    "preset=text",
    "preset=text,mode=nondet",
    "size=2",
    "size=3,mode=nondet",
    "size=5",
];
/// Sudoku's presets, each on every one of these boards.
const PRESETS: [&str; 4] = ["classic", "rows", "border", "random"];
const BLOCKS: [&str; 10] = [
    "m=2,n=2", "m=2,n=3", "m=3,n=3", "m=2,n=5", "m=3,n=4", "m=3,n=5", "m=4,n=4", "m=4,n=5", "m=5,n=4",
    "m=5,n=5",
];

/// Asks for so many answers in all, and prints a table.
pub(crate) fn run(answers: usize, threads: usize) -> Outcome<()> {
    let mut boards: Vec<(&str, String)> = Vec::new();
    for (game, all) in
        [("l-game", L_GAMES), ("isolation", ISOLATIONS), ("colosseum", COLOSSEUMS), ("ijk", IJKS)]
    {
        boards.extend(all.iter().map(|&rules| (game, rules.to_owned())));
    }
    for block in BLOCKS {
        boards.extend(PRESETS.map(|preset| ("sudoku", format!("{block},preset={preset}"))));
    }
    let each = answers.div_ceil(boards.len());
    let mut plyd = Plyd::start(threads)?;
    let mut control = Control::start();
    let mut table = Table::new(["game", "rules", "answers", "of depth 0", "least depth", "median depth"]);
    let (mut total, mut total_unsearched) = (0, 0);
    for (seed, (game, rules)) in (1..).zip(&boards) {
        let mut depths = depths(&mut plyd, &mut control, (game, rules), each, seed)?;
        depths.sort_unstable();
        let unsearched = depths.iter().filter(|&&depth| depth == 0).count();
        let numbers = [depths.len(), unsearched].map(|number| grouped(number as u64));
        let searched = [depths[0], depths[depths.len() / 2]].map(|depth| depth.to_string());
        table.row([(*game).to_owned(), rules.clone()].into_iter().chain(numbers).chain(searched));
        (total, total_unsearched) = (total + depths.len(), total_unsearched + unsearched);
    }
    let overslept = THINKING.as_micros() as i64 / 2;
    let control = control.take();
    let oversleeps = control.values().iter().filter(|&&late| late >= overslept).count();
    let [total, total_unsearched, oversleeps] =
        [total, total_unsearched, oversleeps].map(|number| grouped(number as u64));
    Ok(writeln!(
        io::stdout(),
        "{MOVE:?} a move, {threads} search threads\n\n{}\nOf {total} answers {total_unsearched} had depth 0; the control \
         overslept {oversleeps} times by half of the time to think.",
        table.into_text()
    )?)
}

/// The depths of answers along games of random moves; what is proven or the only move counts as depth 1.
fn depths(
    plyd: &mut Plyd,
    control: &mut Control,
    (name, rules): (&str, &str),
    count: usize,
    seed: u64,
) -> Outcome<Vec<u32>> {
    let game = games::find(name).ok_or("no game of that name")?;
    let pairs = || rules.split(',').filter_map(|rule| rule.split_once('='));
    let wire = pairs().map(|(name, value)| {
        let number = value.parse::<i64>().map(plyd_protocol::Setting::from);
        (name, number.unwrap_or_else(|_| plyd_protocol::Setting::from(value)))
    });
    plyd.new_game(name, wire.collect())?;
    let own = pairs()
        .map(|(name, value)| (name, value.parse().map_or_else(|_| Setting::from(value), Setting::Int)));
    let start = Position::open(game, &own.collect(), None)?;
    let mut random = SplitMix64::new(seed);
    let mut depths = Vec::with_capacity(count);
    while depths.len() < count {
        let moves = random_game(&start, &mut random)?;
        // All over the game, from its start on.
        let step = (moves.len() / count).max(1);
        for plies in (0..moves.len()).step_by(step).take(count - depths.len()) {
            if moves[plies].starts_with('~') {
                continue;
            }
            let due = Instant::now() + THINKING;
            plyd.ask_after(&moves[..plies], MOVE)?;
            control.sleep_to(due);
            depths.push(match plyd.last_answer()?.last.envelope.message {
                Message::BestMove(best) => depth(&best),
                _ => 0,
            });
        }
    }
    Ok(depths)
}

fn depth(best: &BestMove) -> u32 {
    let depth = best.lines.first().map_or(0, |line| line.depth);
    if matches!(best.reason, Reason::Proven | Reason::OnlyMove) { depth.max(1) } else { depth }
}

/// The plies of a game of random moves.
fn random_game(start: &Position, random: &mut SplitMix64) -> Outcome<Vec<String>> {
    let mut pos = start.clone();
    while pos.played().len() < PLIES && pos.outcome().is_none() {
        let ply = match pos.to_move() {
            ToMove::Chance => {
                let mut outcomes = pos.chance();
                outcomes.swap_remove(random.below(outcomes.len())).mv
            }
            ToMove::Player(_) => {
                let mut moves = pos.legal();
                moves.swap_remove(random.below(moves.len()))
            }
        };
        pos = pos.play(&ply)?;
    }
    Ok(pos.played().to_vec())
}
