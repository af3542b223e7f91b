//! Which board is played on: the rules `preset`, `width` and `height`, and the size that a start text has.

use super::board::{Board, MAX_CELLS, MAX_SIDE, MIN_SIDE};
use plyd_core::bits::Bits;
use plyd_core::game::{Kind, OpenError, Rules, Spec};

/// The presets and their sizes; the first is the default.
const PRESETS: [(&str, Size); 2] =
    [("7x7", Size { width: 7, height: 7 }), ("11x9", Size { width: 11, height: 9 })];

const SIDE: Kind = Kind::Int { min: MIN_SIDE as i64, max: MAX_SIDE as i64, default: None };

/// The rules that set the size of the board.
pub(super) const RULES: &[Spec] = &[
    Spec {
        name: "preset",
        kind: Kind::Choice(&["7x7", "11x9"]),
        about: "The board of a known referee; instead of width and height, or in agreement with them.",
    },
    Spec { name: "width", kind: SIDE, about: "Columns; 7 when absent, or the preset's. 128 cells at most." },
    Spec { name: "height", kind: SIDE, about: "Rows; 7 when absent, or the preset's. 128 cells at most." },
];

/// The size of a board that can be played on.
///
/// ```
/// use plyd_isolation::Size;
///
/// assert_eq!(Size::new(11, 9).map(Size::cells), Some(99));
/// assert_eq!(Size::new(15, 15), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    width: usize,
    height: usize,
}

impl Size {
    /// The size, if a board can have it.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Option<Self> {
        let sides = MIN_SIDE..=MAX_SIDE;
        let fits = sides.contains(&width) && sides.contains(&height) && width * height <= MAX_CELLS;
        fits.then_some(Self { width, height })
    }

    /// The size of a board.
    #[must_use]
    pub(super) fn of<B: Bits>(board: &Board<B>) -> Self {
        Self { width: board.width(), height: board.height() }
    }

    /// The size that the rules set; they must not contradict the size of a start text, if there is one.
    ///
    /// # Errors
    /// [`OpenError::Rule`] if the rules contradict each other or make too large a board,
    /// [`OpenError::Impossible`] if the start text has another size than an explicit rule asks for.
    pub(super) fn choose(rules: &Rules, start: Option<Self>) -> Result<Self, OpenError> {
        let preset = rules.text("preset").and_then(|name| PRESETS.iter().find(|preset| preset.0 == name));
        let (width, height) = (side(rules, "width"), side(rules, "height"));
        if let Some((name, size)) = preset {
            for (rule, given, of_preset) in [("width", width, size.width), ("height", height, size.height)] {
                if given.is_some_and(|given| given != of_preset) {
                    let message = format!("the preset {name} has {rule} {of_preset}");
                    return Err(OpenError::Rule { name: rule, message });
                }
            }
        }
        let asked = preset.map(|preset| preset.1);
        let default = asked.unwrap_or(PRESETS[0].1);
        // Only both together can be too large: with 7 or a preset's number the largest side still fits.
        let size =
            Self::new(width.unwrap_or(default.width), height.unwrap_or(default.height)).ok_or_else(|| {
                let message = format!("width times height is more than {MAX_CELLS} cells");
                OpenError::Rule { name: "height", message }
            })?;
        let Some(start) = start else { return Ok(size) };
        let (width, height) = (width.or(asked.map(Self::width)), height.or(asked.map(Self::height)));
        for (rule, given, actual) in [("width", width, start.width), ("height", height, start.height)] {
            if let Some(given) = given.filter(|&given| given != actual) {
                let message = format!("the start has {rule} {actual}, but the rules ask for {given}");
                return Err(OpenError::Impossible(message));
            }
        }
        Ok(start)
    }

    /// The number of columns.
    #[must_use]
    pub const fn width(self) -> usize {
        self.width
    }

    /// The number of rows.
    #[must_use]
    pub const fn height(self) -> usize {
        self.height
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        self.width * self.height
    }

    /// The preset of that size.
    #[must_use]
    pub(super) fn preset(self) -> Option<&'static str> {
        PRESETS.iter().find(|preset| preset.1 == self).map(|preset| preset.0)
    }
}

/// The explicit value of a rule that is a side's length; its specification keeps it within range.
fn side(rules: &Rules, name: &str) -> Option<usize> {
    rules.int(name).and_then(|value| usize::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::game::Setting;

    fn rules(text: &str) -> Rules {
        let setting = |(name, value): (&str, &str)| {
            let name = RULES.iter().map(|rule| rule.name).find(|known| *known == name).unwrap();
            (name, value.parse().map_or_else(|_| Setting::from(value), Setting::Int))
        };
        Rules::new(text.split_whitespace().map(|pair| setting(pair.split_once('=').unwrap())).collect())
    }

    #[test]
    fn rules_and_starts_agree_on_a_size() {
        type Sides = (usize, usize);
        let table: &[(&str, Option<Sides>, Result<Sides, &str>)] = &[
            ("", None, Ok((7, 7))),
            ("preset=11x9", None, Ok((11, 9))),
            ("preset=11x9 width=11 height=9", None, Ok((11, 9))),
            ("width=5", None, Ok((5, 7))),
            ("height=15", None, Ok((7, 15))),
            ("width=15 height=8", None, Ok((15, 8))),
            ("width=8 height=15", None, Ok((8, 15))),
            ("preset=7x7 width=8", None, Err("width")),
            ("preset=11x9 height=7", None, Err("height")),
            ("width=15 height=9", None, Err("height")),
            ("", Some((4, 5)), Ok((4, 5))),
            ("width=4", Some((4, 5)), Ok((4, 5))),
            ("width=5", Some((4, 5)), Err("start")),
            ("height=4", Some((4, 5)), Err("start")),
            ("preset=7x7", Some((7, 7)), Ok((7, 7))),
            ("preset=7x7", Some((11, 9)), Err("start")),
            ("preset=7x7 width=8", Some((8, 7)), Err("width")),
        ];
        for &(given, start, expected) in table {
            let chosen = Size::choose(&rules(given), start.map(|(w, h)| Size::new(w, h).unwrap()));
            let chosen = match &chosen {
                Ok(size) => Ok((size.width, size.height)),
                Err(OpenError::Rule { name, .. }) => Err(*name),
                Err(_) => Err("start"),
            };
            assert_eq!(chosen, expected, "{given:?} with start {start:?}");
        }
    }
}
