//! The checks of a whole game from its entry alone: what the tests of a game need to call.

use std::sync::Arc;

use crate::effort::Effort;
use crate::engine::levels::Levels;
use crate::engine::settings::{self, Caps};
use crate::engine::{AnyRoot, Counting, Entry, LessonStep};
use crate::game::{Kind, OpenError, Rules, Setting};
use crate::search::Control;

use super::players::ends_with_win;
use super::samples::{Sample, counted, few, next, samples};
use super::{announced, evaluations, is_whole, wins_in_one};

/// A check of a game: its name, and the function, which returns the first fault.
pub type Check = (&'static str, fn(&'static Entry) -> Result<(), String>);

/// All checks of a game; they know nothing about it beforehand. Perft counts come last, because a game with
/// new rules has none yet.
pub const CHECKS: &[Check] = &[
    ("the entry", entry),
    ("the rules", rules),
    ("hostile texts", hostile_texts),
    ("evaluations", evaluations),
    ("wins in one", wins),
    ("announced results", announcements),
    ("the counts", counts),
];

/// The plies that are checked under the default rules.
const PLIES: usize = 600;
/// The plies that are checked under each other set of rules when tests are run in full. The positions of the
/// largest boards take most of the time of all checks.
const OTHER_PLIES: usize = 300;
/// The same when tests take samples.
const SAMPLED_PLIES: usize = 50;
/// Counts above this are left to the command `plyd perft`.
const LIMIT: u64 = 3_000_000;
/// The random games from each position in which players are asked.
const GAMES: usize = 8;
/// The random games from each position in which a win is looked for, if players found none.
const MORE_GAMES: usize = 50;
/// The number of a game's sample positions in which players are asked, and the most moves that one may have.
const SAMPLES: (usize, usize) = (6, 300);

/// Runs all [`CHECKS`] on a game. A crate with a game of its own calls it in a test:
///
/// ```
/// # use plyd_core::nim::ENTRY;
/// plyd_core::engine::conformance::all(&ENTRY).unwrap();
/// ```
///
/// # Errors
/// The first fault, in a sentence.
pub fn all(game: &'static Entry) -> Result<(), String> {
    CHECKS.iter().try_for_each(|(what, check)| check(game).map_err(|fault| format!("{what}: {fault}")))
}

/// The longest name.
const LONGEST: usize = 32;

/// Checks a game's name, which appears in commands, in page addresses and in records.
///
/// ```
/// use plyd_core::engine::conformance::name;
///
/// assert!(name("five-in-a-row").is_ok());
/// assert!(name("Five in a row").is_err());
/// ```
///
/// # Errors
/// Says what names of games look like.
pub fn name(name: &str) -> Result<(), String> {
    let is_plain = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    let are_words = name.split('-').all(|word| !word.is_empty());
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    if is_plain && are_words && begins && name.len() <= LONGEST {
        return Ok(());
    }
    Err(format!(
        "`{name}` is no name for a game: take lower-case letters and digits in words joined by hyphens, a letter first, \
         at most {LONGEST} characters, such as `five-in-a-row`"
    ))
}

/// Whether an entry is complete, its levels and its benchmark positions can be read, and its lesson can be
/// played.
///
/// ```
/// use plyd_core::engine::conformance::entry;
/// use plyd_core::nim;
///
/// assert_eq!(entry(&nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// What is missing or cannot be read.
pub fn entry(game: &'static Entry) -> Result<(), String> {
    let name = game.name;
    self::name(name)?;
    for (what, is_missing) in [
        ("about", game.about.is_empty()),
        ("unit", game.unit.is_empty()),
        ("position_grammar", game.position_grammar.is_empty()),
        ("move_grammar", game.move_grammar.is_empty()),
        ("endings", game.endings.is_empty()),
        ("bench", game.bench.is_empty()),
        ("evaluators", game.evaluators().next().is_none()),
        ("player `default` that comes first", game.players().next().is_none_or(|it| it.name != "default")),
    ] {
        if is_missing {
            return Err(format!("{name}: the entry has no {what}"));
        }
    }
    Levels::parse(game.levels)
        .map_err(|(line, fault)| format!("{name}: line {line} of the levels: {fault}"))?;
    for bench in game.bench {
        let root = Sample::new(game, bench.rules, bench.position)?.root()?;
        if root.candidates(&[], &[]).is_err() {
            return Err(format!("{name}: bench: nobody moves in {}", bench.position));
        }
        let (player, eval) = bench.player;
        let named = [("player", player), ("eval", eval)].into_iter().filter(|(_, name)| !name.is_empty());
        settings::options(game, &named.collect(), 0, Caps { threads: 1, hash_mb: 1 })
            .and_then(|options| root.engine(&options))
            .map_err(|fault| format!("{name}: bench: {fault}"))?;
    }
    game.lesson.iter().try_for_each(|step| lesson(game, step))
}

/// Whether a step of a lesson has its words, and its solutions are moves of its position.
fn lesson(game: &'static Entry, step: &LessonStep) -> Result<(), String> {
    let in_step = |fault: &str| format!("{}: lesson: step `{}`: {fault}", game.name, step.title);
    if [step.title, step.text, step.task].contains(&"") {
        return Err(in_step("title, text or task is missing"));
    }
    let root = Sample::new(game, step.rules, step.start).and_then(|sample| sample.root());
    let legal = root.map_err(|fault| in_step(&fault))?.legal();
    if legal.is_empty() {
        return Err(in_step("nobody moves"));
    }
    match step.solutions.iter().find(|mv| !legal.iter().any(|text| text == *mv)) {
        Some(mv) => Err(in_step(&format!("`{mv}` is no move"))),
        None => Ok(()),
    }
}

/// Whether the rules keep what every game promises, in random games under the default rules and under each
/// rule changed alone: see [`AnyRoot::check`](crate::engine::AnyRoot::check). Under a changed rule fewer
/// plies are checked, and a sixth of these unless [`is_whole`] says that tests are run in full.
///
/// ```
/// use plyd_core::engine::conformance::rules;
/// use plyd_core::nim;
///
/// assert_eq!(rules(&nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// The first broken promise.
pub fn rules(game: &'static Entry) -> Result<(), String> {
    let mut finished = 0;
    for (seed, rules) in (0..).zip(variants(game)) {
        let is_default = rules.iter().next().is_none();
        let sample = Sample { entry: game, rules, start: None };
        let others = if is_whole() { OTHER_PLIES } else { SAMPLED_PLIES };
        let plies = if is_default { PLIES } else { others };
        match (game.open)(&sample.rules, None, &Effort::free()) {
            Ok(root) => {
                finished += root
                    .check(seed, plies)
                    .map_err(|broken| format!("{} {}: {broken}", game.name, sample.rules_text()))?;
            }
            // A rule may be impossible beside the defaults of the others: the game says so.
            Err(OpenError::Rule { .. }) if !is_default => {}
            Err(error) => {
                let rules =
                    if is_default { "under its own defaults".to_owned() } else { sample.rules_text() };
                return Err(format!("{} {rules} does not open: {error}", game.name));
            }
        }
    }
    if finished == 0 {
        return Err(format!(
            "{}: none of the random games came to an end within {PLIES} plies, so no ending was checked",
            game.name
        ));
    }
    Ok(())
}

/// The default rules, and every rule changed alone: each word, and numbers at and near both ends.
fn variants(game: &Entry) -> Vec<Rules> {
    let mut variants = vec![Rules::default()];
    for spec in game.rules {
        let values: Vec<Setting> = match spec.kind {
            Kind::Bool { .. } => vec![Setting::Bool(false), Setting::Bool(true)],
            Kind::Int { min, max, .. } => {
                [min, min + 1, (min + max) / 2, max - 1, max].map(Setting::Int).into()
            }
            Kind::Choice(words) | Kind::OpenChoice(words) => {
                words.iter().map(|word| Setting::from(*word)).collect()
            }
            Kind::ChoiceOrInt { choices, min, max } => {
                choices.iter().map(|word| Setting::from(*word)).chain([min, max].map(Setting::Int)).collect()
            }
            Kind::Seed => vec![Setting::from("1"), Setting::from("ffffffffffffffff")],
        };
        variants.extend(values.into_iter().map(|value| Rules::new(vec![(spec.name, value)])));
    }
    variants
}

/// Whether texts that are neither moves nor positions are refused, and each accepted position has a text that
/// reads back.
///
/// ```
/// use plyd_core::engine::conformance::hostile_texts;
/// use plyd_core::nim;
///
/// assert_eq!(hostile_texts(&nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// The first text that should have been refused, or does not read back.
pub fn hostile_texts(game: &'static Entry) -> Result<(), String> {
    let long = "x".repeat(100_000);
    let hostile = [
        "",
        " ",
        "/",
        "1",
        "-1 -1",
        "\u{0}",
        "é",
        "🂡 1",
        "99999999999999999999 1",
        "~",
        "a1 a1 a1 a1 a1",
        &long,
    ];
    for sample in samples(game)? {
        let root = sample.root()?;
        // Some games write moves or positions like this.
        let own = next(root.as_ref());
        for text in hostile.iter().filter(|text| own.iter().all(|mv| mv != *text)) {
            if root.extend(&[(*text).to_owned()]).is_ok() {
                return Err(format!("{sample}: {:?} is taken for a move", shown(text)));
            }
        }
    }
    let mut refused = 0;
    for text in hostile {
        refused += usize::from(!is_position(game, text)?);
    }
    if refused < hostile.len() / 2 {
        let total = hostile.len();
        return Err(format!(
            "{}: of {total} texts without sense {refused} are refused as positions",
            game.name
        ));
    }
    // Every prefix and every text with one character changed is either refused or a position.
    let text = Sample::new(game, "", "")?.root()?.text();
    for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
        let rest = text[cut..].chars().next().map_or(0, char::len_utf8);
        is_position(game, &text[..cut])?;
        for filler in ["", "9", "é", " ", "x"] {
            is_position(game, &format!("{}{filler}{}", &text[..cut], &text[cut + rest..]))?;
        }
    }
    Ok(())
}

/// Whether the game reads this text as a position, which then has a text that reads back.
fn is_position(game: &'static Entry, text: &str) -> Result<bool, String> {
    let open = |text: &str| (game.open)(&Rules::default(), Some(text), &Effort::free());
    let Ok(root) = open(text) else { return Ok(false) };
    let failed = |what: &str| format!("{}: {:?} is a position, and its text {what}", game.name, shown(text));
    let again = open(&root.text()).map_err(|error| failed(&format!("is refused: {error:?}")))?;
    if again.text() == root.text() { Ok(true) } else { Err(failed("reads back as another")) }
}

/// The beginning of a text.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Whether the perft of the rules gives the counts in the game's entry.
///
/// ```
/// use plyd_core::engine::conformance::counts;
/// use plyd_core::nim;
///
/// assert_eq!(counts(&nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// The first count that differs, or that there are no counts.
pub fn counts(game: &'static Entry) -> Result<(), String> {
    let counted = counted(game)?;
    if counted.is_empty() {
        return Err(format!("{} has no counts", game.name));
    }
    for (sample, counts) in counted {
        let root = sample.root()?;
        for (depth, count) in (1..).zip(counts).filter(|(_, count)| *count <= LIMIT) {
            let found = root.perft(depth, Counting::Plain, &Control::default());
            if found != count {
                return Err(format!("{sample}, depth {depth}: {found} positions, not {count}"));
            }
        }
    }
    Ok(())
}

/// Whether the strongest players play a win in one: see [`wins_in_one`].
///
/// ```
/// use plyd_core::engine::conformance::wins;
/// use plyd_core::nim;
///
/// assert_eq!(wins(&nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// The first win that is missed; there was none, although random games end with a win of the last mover.
pub fn wins(game: &'static Entry) -> Result<(), String> {
    near(game, "no win in one", wins_in_one)
}

/// Whether the strongest players carry out what they announce: see [`announced`].
///
/// ```
/// use plyd_core::engine::conformance::announcements;
/// use plyd_core::nim;
///
/// assert_eq!(announcements(&nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// The first announcement that is not kept; there was none, although random games end with a win of the last
/// mover.
pub fn announcements(game: &'static Entry) -> Result<(), String> {
    near(game, "nothing is announced", announced)
}

/// A check of a player in random games from a position: the position, the player, a seed, and how many games.
type Trial = fn(&Arc<dyn AnyRoot>, &str, u64, usize) -> Result<usize, String>;

/// Tries the strongest players, `default` and `tree`, in sample positions of the game.
fn near(game: &'static Entry, nothing: &str, trial: Trial) -> Result<(), String> {
    for player in game.players().filter(|player| ["default", "tree"].contains(&player.name)) {
        let (mut found, mut has_wins) = (0, false);
        for (seed, sample) in (0..).zip(few(game, SAMPLES.0, SAMPLES.1)?) {
            let root = sample.root()?;
            found += trial(&root, player.name, seed, GAMES)?;
            // In some games nobody wins by a move: whoever makes the last one loses, or chance decides.
            has_wins = has_wins || (found == 0 && ends_with_win(&root, seed, MORE_GAMES)?);
        }
        if found == 0 && has_wins {
            return Err(format!(
                "{}, player {}: {nothing} near its positions: add a later one to `bench` or `perft.txt`",
                game.name, player.name
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Bench;
    use crate::game::Named;
    use crate::nim::{self, Nim};

    const NIM: Entry = Entry {
        name: "nim",
        about: "Nim.",
        endings: &[Named::new("taken", "The last stone is taken.")],
        unit: "game",
        position_grammar: "Stones.",
        move_grammar: "Stones.",
        perft: "| 5 1 | 3 8 10 5 1",
        bench: &[Bench { rules: "", position: "21 1", depth: 5, player: ("default", "") }],
        ..Entry::of::<Nim>(nim::ENTRY.open)
    };

    #[test]
    fn a_whole_game_passes() {
        assert_eq!(all(&nim::ENTRY), Ok(()));
        assert_eq!(all(&NIM), Ok(()));
    }

    #[test]
    fn names_are_words_joined_by_hyphens() {
        let longest = "a".repeat(LONGEST);
        for good in ["hex", "five-in-a-row", "x2-4", "n", &longest] {
            assert_eq!(name(good), Ok(()));
        }
        let long = "a".repeat(LONGEST + 1);
        let bad =
            ["", "-", "-a", "a-", "a--b", "2048", "Hex", "five_in_a_row", "a b", "a.b", "../a", "a/b", "/a"];
        for bad in bad.into_iter().chain(["é", "a\n", "a\0", "a\u{202e}", &long]) {
            let message = name(bad).unwrap_err();
            assert!(
                message.contains("is no name for a game") && message.contains("five-in-a-row"),
                "{message}"
            );
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        const STEP: LessonStep = LessonStep {
            title: "End",
            text: "Whoever takes the last stone wins.",
            task: "Take all.",
            rules: "",
            start: "3 1",
            solutions: &["3"],
        };
        static EXPLAINED: Entry = Entry { lesson: &[STEP], ..NIM };
        assert_eq!(entry(&EXPLAINED), Ok(()));
        static BROKEN: [(&str, Entry); 22] = [
            (
                "step `End`: `4` is no move",
                Entry { lesson: &[LessonStep { solutions: &["4"], ..STEP }], ..NIM },
            ),
            (
                "step `End`: nim: `lest=3` is no rule",
                Entry { lesson: &[LessonStep { rules: "lest=3", ..STEP }], ..NIM },
            ),
            (
                "step `End`: nim: the rule `most`: expected an integer",
                Entry { lesson: &[LessonStep { rules: "most=99", ..STEP }], rules: nim::ENTRY.rules, ..NIM },
            ),
            ("step `End`: nim", Entry { lesson: &[LessonStep { start: "three 1", ..STEP }], ..NIM }),
            ("step `End`: nobody moves", Entry { lesson: &[LessonStep { start: "0 1", ..STEP }], ..NIM }),
            ("text or task is missing", Entry { lesson: &[LessonStep { task: "", ..STEP }], ..NIM }),
            ("`Nim` is no name for a game", Entry { name: "Nim", ..NIM }),
            ("no about", Entry { about: "", ..NIM }),
            ("no bench", Entry { bench: &[], ..NIM }),
            ("no endings", Entry { endings: &[], ..NIM }),
            ("no evaluators", Entry { evaluator_at: |_| None, ..NIM }),
            ("no player `default`", Entry { player_at: |_| None, ..NIM }),
            ("line 1 of the levels", Entry { levels: "nonsense", ..NIM }),
            (
                "nobody moves",
                Entry {
                    bench: &[Bench { rules: "", position: "0 1", depth: 1, player: ("default", "") }],
                    ..NIM
                },
            ),
            (
                "bench: the option `player`",
                Entry {
                    bench: &[Bench { rules: "", position: "5 1", depth: 1, player: ("nobody", "") }],
                    ..NIM
                },
            ),
            (
                "bench: the option `eval`",
                Entry {
                    bench: &[Bench { rules: "", position: "5 1", depth: 1, player: ("default", "nothing") }],
                    ..NIM
                },
            ),
            (
                "`least=3` is no rule",
                Entry {
                    bench: &[Bench { rules: "least=3", position: "5 1", depth: 1, player: ("", "") }],
                    ..NIM
                },
            ),
            ("0 are refused", Entry { open: |rules, _, effort| (NIM.open)(rules, None, effort), ..NIM }),
            ("depth 2: 8 positions, not 9", Entry { perft: "| 5 1 | 3 9", ..NIM }),
            ("is not `RULES", Entry { perft: "| 5 1 |", ..NIM }),
            ("`least=3` is no rule", Entry { perft: "least=3 | 5 1 | 3", ..NIM }),
            (
                "expected an integer from 1 to 9",
                Entry { perft: "most=10 | 5 1 | 3", rules: nim::ENTRY.rules, ..NIM },
            ),
        ];
        for (fault, entry) in &BROKEN {
            let message = all(entry).unwrap_err();
            assert!(message.contains(fault), "{fault}: {message}");
        }
    }
}
