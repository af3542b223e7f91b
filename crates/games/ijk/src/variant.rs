//! The variants of the rules: presets, and single rules that override them.
//!
//! The published text, its assignment and the two versions of the course's code disagree; each is a preset.

use super::board::{MAX_SIZE, MIN_SIZE};
use plyd_core::game::{Kind, OpenError, Rules, Setting, Spec};

/// What the move `S` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Skip {
    /// There is no such move.
    None,
    /// It leaves the board and adds the opponent's tile.
    Pass,
    /// It flips the case of the tile that was placed last, and adds none.
    Flip,
}

/// When the referee tests for the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndTest {
    /// Before each move of the first player.
    Round,
    /// Before each move.
    Ply,
}

/// What a `K` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Win {
    /// The game ends if it is the highest letter of its case; the higher letter wins. So an `L` hides it.
    Highest,
    /// The game ends, and the first in the order of the rows wins.
    Any,
}

/// The rules of one game.
///
/// ```
/// use plyd_core::game::Rules;
/// use plyd_ijk::variant::{Skip, Variant};
///
/// let rules = Rules::new(vec![("preset", "v1".into()), ("size", 3.into())]);
/// let variant = Variant::choose(&rules, None).unwrap();
/// assert_eq!((variant.size, variant.skip, variant.chance), (3, Skip::Flip, false));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Rows and columns.
    pub size: usize,
    /// Whether chance chooses the cell of a new tile; otherwise it is the first empty one.
    pub chance: bool,
    /// The move `S`.
    pub skip: Skip,
    /// When the end is tested.
    pub end: EndTest,
    /// Whether a full board ends the game.
    pub full_ends: bool,
    /// Whether chance chooses the cell of the first tile, too; otherwise it is the first cell.
    pub random_first: bool,
    /// What a `K` does.
    pub win: Win,
    /// At which occurrence a position with a full board is a draw; 0: never.
    pub repetition: u8,
    /// The plies after which the game is drawn; 0: never.
    pub max_plies: u16,
}

/// The moves after which the course's referee ends a game without a winner.
const REFEREE_PLIES: u16 = 30_000;

/// The rules of the course's second version.
const V2: Variant = Variant {
    size: 6,
    chance: false,
    skip: Skip::None,
    end: EndTest::Round,
    full_ends: true,
    random_first: false,
    win: Win::Highest,
    repetition: 0,
    max_plies: REFEREE_PLIES,
};

/// The presets as they are played without chance; the first is the default.
const PRESETS: [(&str, Variant); 4] = [
    ("v2", V2),
    ("v2-4x4", Variant { size: 4, ..V2 }),
    ("v1", Variant { size: 4, skip: Skip::Flip, full_ends: false, win: Win::Any, repetition: 3, ..V2 }),
    ("text", Variant { size: 4, skip: Skip::Pass, end: EndTest::Ply, full_ends: false, repetition: 3, ..V2 }),
];

const MODES: [&str; 2] = ["det", "nondet"];
const SKIPS: [&str; 3] = ["none", "pass", "flip"];
const ENDS: [&str; 2] = ["round", "ply"];
const FIRST_TILES: [&str; 2] = ["corner", "random"];
const WINS: [&str; 2] = ["highest", "any"];

/// The rules that choose a variant.
pub(super) const RULES: &[Spec] = &[
    Spec {
        name: "preset",
        kind: Kind::Choice(&["v2", "v2-4x4", "v1", "text"]),
        about: "The rules of a known referee, or of the published text; the other rules override single ones of them.",
    },
    Spec {
        name: "size",
        kind: Kind::Int { min: MIN_SIZE as i64, max: MAX_SIZE as i64, default: None },
        about: "Rows and columns. Default: 6 in preset v2, else 4.",
    },
    Spec {
        name: "mode",
        kind: Kind::Choice(&MODES),
        about: "Where a new tile goes: to the first empty cell in the order of the rows, or to a random one.",
    },
    Spec {
        name: "skip",
        kind: Kind::OpenChoice(&SKIPS),
        about: "The move S: there is none, it passes, or it flips the case of the tile placed last and adds none (with mode \
                nondet that of the tile at a1). Default: pass in preset text, flip in v1, else none.",
    },
    Spec {
        name: "end",
        kind: Kind::OpenChoice(&ENDS),
        about: "When the end is tested: before each move of the first player, or before each move. Default: ply in \
                preset text, else round.",
    },
    Spec {
        name: "full_ends",
        kind: Kind::Bool { default: None },
        about: "Whether a full board ends the game, even if tiles could merge. Default: false in presets v1 and text, else true.",
    },
    Spec {
        name: "first_tile",
        kind: Kind::OpenChoice(&FIRST_TILES),
        about: "Where the first tile goes: to a1, or with mode nondet to any cell. Default: random in preset text \
                with mode nondet, else corner.",
    },
    Spec {
        name: "win",
        kind: Kind::OpenChoice(&WINS),
        about: "What ends the game: a K or k that is the highest letter of its case, the higher letter winning; or any, the first in \
                the order of the rows winning. Default: any in preset v1, else highest.",
    },
    Spec {
        name: "repetition",
        kind: Kind::Int { min: 0, max: 255, default: None },
        about: "The occurrence of a position with a full board that draws; 0: none. Default: 3 in presets v1 and text, else 0.",
    },
    Spec {
        name: "max_plies",
        kind: Kind::Int { min: 0, max: REFEREE_PLIES as i64, default: Some(REFEREE_PLIES as i64) },
        about: "The game is drawn after this many moves; 0: never. The referees' 30,000 when absent.",
    },
];

/// What the text of a position says about the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatedRules {
    /// Rows and columns.
    pub size: usize,
    /// Whether it names the tile placed last, as the rule `skip=flip` needs.
    pub flips: bool,
    /// Whether it awaits a tile, as the rule `mode=nondet` makes it.
    pub awaits: bool,
}

impl Variant {
    /// The variant that the rules choose; a start text, if there is one, supplies the rules that were not
    /// given.
    ///
    /// # Errors
    /// [`OpenError::Rule`] for rules that contradict each other, [`OpenError::Impossible`] if the start text
    /// contradicts an explicit rule.
    pub fn choose(rules: &Rules, start: Option<StatedRules>) -> Result<Self, OpenError> {
        let preset = rules.text("preset").and_then(|name| PRESETS.iter().find(|preset| preset.0 == name));
        let base = preset.unwrap_or(&PRESETS[0]).1;
        let mut variant = Self { random_first: false, ..base };
        if let Some(size) = rules.int("size") {
            variant.size = size as usize;
        }
        if let Some(mode) = rules.text("mode") {
            variant.chance = mode == MODES[1];
        }
        match rules.text("skip") {
            Some("none") => variant.skip = Skip::None,
            Some("pass") => variant.skip = Skip::Pass,
            Some("flip") => variant.skip = Skip::Flip,
            _ => {}
        }
        if let Some(end) = rules.text("end") {
            variant.end = if end == ENDS[0] { EndTest::Round } else { EndTest::Ply };
        }
        if let Some(full_ends) = rules.bool("full_ends") {
            variant.full_ends = full_ends;
        }
        if let Some(win) = rules.text("win") {
            variant.win = if win == WINS[0] { Win::Highest } else { Win::Any };
        }
        variant.repetition = match rules.int("repetition") {
            Some(1) => {
                let message = "a full board would draw at once: 0 (off) or 2 and more".to_owned();
                return Err(OpenError::Rule { name: "repetition", message });
            }
            Some(occurrence) => occurrence as u8,
            None => variant.repetition,
        };
        if let Some(plies) = rules.int("max_plies") {
            variant.max_plies = plies as u16;
        }
        if let Some(stated) = start {
            variant.take(stated, rules)?;
        }
        let of_preset = rules.text("preset") == Some("text") && variant.chance;
        variant.random_first = rules.text("first_tile").map_or(of_preset, |first| first == FIRST_TILES[1]);
        if variant.random_first && !variant.chance {
            let message = "only with mode nondet chance chooses a cell".to_owned();
            return Err(OpenError::Rule { name: "first_tile", message });
        }
        Ok(variant)
    }

    /// Takes from a start text the rules that were not given.
    fn take(&mut self, stated: StatedRules, rules: &Rules) -> Result<(), OpenError> {
        let by_preset = rules.get("preset").is_some();
        let contradiction = |rule: &str, message: &str| {
            Err(OpenError::Impossible(format!("the start contradicts the rule `{rule}`: {message}")))
        };
        if stated.size != self.size {
            if by_preset || rules.get("size").is_some() {
                let message = format!("the board has {} rows and not {}", stated.size, self.size);
                return contradiction("size", &message);
            }
            self.size = stated.size;
        }
        if stated.flips && self.skip != Skip::Flip {
            if by_preset || rules.get("skip").is_some() {
                return contradiction("skip", "it names the tile placed last, which only `flip` needs");
            }
            self.skip = Skip::Flip;
        }
        if stated.awaits && !self.chance {
            if rules.get("mode").is_some() {
                return contradiction("mode", "it awaits a tile, which with `det` is there at once");
            }
            self.chance = true;
        }
        Ok(())
    }

    /// The effective rules, by the names of [`RULES`]; with the preset if all others are its own.
    #[must_use]
    pub(super) fn settings(&self) -> Vec<(&'static str, Setting)> {
        let is_own = |preset: &&(&'static str, Self)| {
            let random_first = preset.0 == "text" && self.chance;
            Self { chance: self.chance, random_first, ..preset.1 } == *self
        };
        let preset = PRESETS.iter().find(is_own).map(|preset| ("preset", Setting::from(preset.0)));
        let word = |words: &[&str], index: usize| Setting::from(words[index]);
        preset
            .into_iter()
            .chain([
                ("size", Setting::Int(self.size as i64)),
                ("mode", word(&MODES, usize::from(self.chance))),
                ("skip", word(&SKIPS, self.skip as usize)),
                ("end", word(&ENDS, self.end as usize)),
                ("full_ends", Setting::Bool(self.full_ends)),
                ("first_tile", word(&FIRST_TILES, usize::from(self.random_first))),
                ("win", word(&WINS, self.win as usize)),
                ("repetition", Setting::Int(i64::from(self.repetition))),
                ("max_plies", Setting::Int(i64::from(self.max_plies))),
            ])
            .collect()
    }
}
