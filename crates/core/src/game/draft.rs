//! Positions that are set up by hand: what can be changed in a text, and what is wrong with it.
//!
//! A draft may break the rules, because the way from one position to another often leads through impossible
//! ones. A game reads its texts in two steps: first what is written, which makes a draft, then whether the
//! rules allow it.

use super::{Cell, Drawing, OpenError, Side};

/// A position's text that somebody is changing by hand, legal or not.
///
/// ```
/// use plyd_core::game::{Draft, Side, mover_edit};
///
/// let edits = vec![mover_edit("21 1", Side::First, |side| format!("21 {}", side.index() + 1))];
/// let draft = Draft { text: "21 1".to_owned(), edits, ..Draft::default() };
/// let [first, second] = &draft.edits[0].choices[..] else { panic!("two can be to move") };
/// assert!(first.is_so && !second.is_so);
/// assert_eq!(second.change.apply(&draft.text), "21 2");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Draft {
    /// The text in its usual form, which the changes apply to; as it was given if it cannot be read.
    pub text: String,
    /// The board that it shows; none if it cannot be read.
    pub board: Option<Drawing>,
    /// What can be changed; nothing if it cannot be read.
    pub edits: Vec<Edit>,
    /// What is wrong with the text that was given; none if it is a position.
    pub fault: Option<TextFault>,
}

impl Draft {
    /// The draft of a text that cannot be read.
    #[must_use]
    pub fn unreadable(text: &str, fault: TextFault) -> Self {
        Self { text: text.to_owned(), fault: Some(fault), ..Self::default() }
    }
}

/// A place of a position where something can be chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What is chosen, in a word or two for people: `Cell`, `Wall`, `To move`.
    pub what: &'static str,
    /// The cell that it is about; none: the position as a whole.
    pub cell: Option<Cell>,
    /// The side of the cell that it is about; none: the cell itself.
    pub side: Option<CellSide>,
    /// What can be chosen.
    pub choices: Vec<Choice>,
}

impl Edit {
    /// A choice about a cell.
    #[must_use]
    pub fn at(what: &'static str, cell: Cell, choices: Vec<Choice>) -> Self {
        Self { what, cell: Some(cell), side: None, choices }
    }

    /// A choice about the position as a whole.
    #[must_use]
    pub fn of(what: &'static str, choices: Vec<Choice>) -> Self {
        Self { what, cell: None, side: None, choices }
    }
}

/// A side of a cell that a wall can stand on; the others are sides of its neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellSide {
    /// Towards the next column.
    Right,
    /// Towards the row below.
    Down,
}

/// Something that can be chosen for a place. Choosing what is already there removes it if it can be absent;
/// otherwise nothing changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What it is, in a few words for people.
    pub label: String,
    /// What it puts there, in the words of [`Piece::piece`](super::Piece::piece), if it is a piece.
    pub piece: Option<&'static str>,
    /// Whose it is, or whom it is about.
    pub owner: Option<Side>,
    /// Whether the position has it already.
    pub is_so: bool,
    /// What it changes in the draft's text.
    pub change: Change,
}

impl Choice {
    /// A choice that the position does not have yet, which changes the text `from` into `to`.
    pub fn new(label: impl Into<String>, from: &str, to: &str) -> Self {
        Self::of(label, Change::between(from, to))
    }

    /// A choice that the position does not have yet, with its change.
    pub fn of(label: impl Into<String>, change: Change) -> Self {
        Self { label: label.into(), piece: None, owner: None, is_so: false, change }
    }

    /// The same, putting this piece.
    #[must_use]
    pub fn piece(self, piece: &'static str) -> Self {
        Self { piece: Some(piece), ..self }
    }

    /// The same for a player.
    #[must_use]
    pub fn owner(self, owner: Option<Side>) -> Self {
        Self { owner, ..self }
    }

    /// The same, stating whether the position has it already.
    #[must_use]
    pub fn so(self, is_so: bool) -> Self {
        Self { is_so, ..self }
    }
}

/// A change of a text: a range of its bytes is replaced. With whole texts, a list of all changes of a large
/// board would be many times as long.
///
/// ```
/// use plyd_core::game::Change;
///
/// let change = Change::between("..x 1", ".12x 1");
/// assert_eq!(change, Change { from: 1, to: 2, put: "12".to_owned() });
/// assert_eq!(change.apply("..x 1"), ".12x 1");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The first byte that is replaced.
    pub from: usize,
    /// The byte after the last one that is replaced.
    pub to: usize,
    /// What takes their place.
    pub put: String,
}

impl Change {
    /// The shortest change that leads from one text to another; both are ASCII.
    #[must_use]
    pub fn between(before: &str, after: &str) -> Self {
        debug_assert!(before.is_ascii() && after.is_ascii(), "texts in their usual form are ASCII");
        let equal =
            |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(one, two)| one == two).count();
        let from = equal(&mut before.bytes().zip(after.bytes()));
        let rest = (&before[from..], &after[from..]);
        let tail = equal(&mut rest.0.bytes().rev().zip(rest.1.bytes().rev()));
        Self { from, to: before.len() - tail, put: after[from..after.len() - tail].to_owned() }
    }

    /// The text after the change.
    ///
    /// # Panics
    /// If the change belongs to another text, which has no such bytes.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.from], &self.put, &text[self.to..]].concat()
    }
}

/// What is wrong with a position's text, and where.
///
/// ```
/// use plyd_core::game::{OpenError, TextFault};
///
/// let fault = TextFault::malformed(3, "a digit must stand here").at((0, 1));
/// assert_eq!((fault.offset, fault.cell), (3, Some((0, 1))));
/// assert_eq!(OpenError::from(fault), OpenError::Malformed("a digit must stand here".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextFault {
    /// What is wrong.
    pub error: OpenError,
    /// The byte of the text at which it is wrong; at most the text's length.
    pub offset: usize,
    /// The cell that it concerns, if it concerns a cell of the board.
    pub cell: Option<Cell>,
}

impl TextFault {
    /// The text cannot be read from the byte `offset` on.
    pub fn malformed(offset: usize, message: impl Into<String>) -> Self {
        Self { error: OpenError::Malformed(message.into()), offset, cell: None }
    }

    /// No position has what stands at the byte `offset`.
    pub fn impossible(offset: usize, message: impl Into<String>) -> Self {
        Self { error: OpenError::Impossible(message.into()), offset, cell: None }
    }

    /// The same at a cell.
    #[must_use]
    pub fn at(self, cell: Cell) -> Self {
        Self { cell: Some(cell), ..self }
    }
}

impl From<OpenError> for TextFault {
    /// An error about the text as a whole.
    fn from(error: OpenError) -> Self {
        Self { error, offset: 0, cell: None }
    }
}

impl From<TextFault> for OpenError {
    fn from(fault: TextFault) -> Self {
        fault.error
    }
}

/// The byte offset of a slice of a text, such as one of its words.
///
/// ```
/// use plyd_core::game::offset_in;
///
/// let text = "one two";
/// assert_eq!(text.split(' ').map(|word| offset_in(text, word)).collect::<Vec<_>>(), [0, 4]);
/// ```
#[must_use]
pub fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// The edit that chooses who is to move.
///
/// `text` gives the draft's text with each side to move.
#[must_use]
pub fn mover_edit(now: &str, mover: Side, text: impl Fn(Side) -> String) -> Edit {
    let choice = |side: Side| {
        Choice::new(format!("Player {}", side.index() + 1), now, &text(side))
            .owner(Some(side))
            .so(side == mover)
    };
    Edit::of("To move", Side::ALL.map(choice).into())
}
