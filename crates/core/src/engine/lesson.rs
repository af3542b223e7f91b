//! How a game is explained to people who have never played it: steps to be played on a board. Knows no page
//! and no wire.

/// A step of a lesson: some sentences, and a position in which the reader moves.
///
/// ```
/// use plyd_core::engine::LessonStep;
///
/// /// The last stone of the game Nim.
/// const END: LessonStep = LessonStep {
///     title: "The end",
///     text: "Whoever takes the last stone wins.",
///     task: "Take all three.",
///     rules: "most=3",
///     start: "3 1",
///     solutions: &["3"],
/// };
/// assert!(END.solves("3") && !END.solves("1"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LessonStep {
    /// What the step is about, in a few words.
    pub title: &'static str,
    /// The explanation, in plain words.
    pub text: &'static str,
    /// What the reader is asked to do on the board.
    pub task: &'static str,
    /// The rules, as the commands' `--rules` takes them, such as `mode=nondet`; empty for the defaults.
    pub rules: &'static str,
    /// The position's text; empty for the rules' own start.
    pub start: &'static str,
    /// The moves that solve the task; if there are none, any legal move does.
    pub solutions: &'static [&'static str],
}

impl LessonStep {
    /// Whether a legal move does what the task asks for.
    #[must_use]
    pub fn solves(&self, mv: &str) -> bool {
        self.solutions.is_empty() || self.solutions.contains(&mv)
    }
}
