//! Text that knows what matters in it, so that one description serves a page of plain text and a coloured
//! screen.
//!
//! Text comes from records and servers as well as from here: characters that a terminal would obey instead of
//! showing are replaced when they enter a [`Text`], and nowhere else need anybody think of them.

use std::env;
use std::io::{self, IsTerminal};

use anstyle::AnsiColor;

/// What a piece of text is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Tone {
    #[default]
    Plain,
    /// Belongs to the first player.
    P1,
    /// Belongs to the second player.
    P2,
    /// Of little weight, such as empty cells and labels.
    Faint,
    /// To be seen first.
    Strong,
    /// A mistake or a refusal.
    Alarm,
    /// What seems to be a mistake.
    Doubt,
    /// Where something can be played.
    Open,
}

/// How a piece of text is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Style {
    pub(super) tone: Tone,
    /// Underlined: what changed last.
    pub(super) marked: bool,
    /// Reversed: under the cursor.
    pub(super) reversed: bool,
}

impl Style {
    /// Green and magenta can be read on dark and on light; what they say is said by letters too.
    fn shown(self, colours: Colours) -> anstyle::Style {
        let plain = anstyle::Style::new();
        if colours == Colours::Never {
            return plain;
        }
        let coloured = colours == Colours::Full;
        let mut shown = match self.tone {
            Tone::P1 if coloured => AnsiColor::Green.on_default().bold(),
            Tone::P2 if coloured => AnsiColor::Magenta.on_default().bold(),
            Tone::Alarm if coloured => AnsiColor::Red.on_default(),
            Tone::Doubt if coloured => AnsiColor::Yellow.on_default(),
            Tone::Open if coloured => AnsiColor::Cyan.on_default(),
            Tone::Faint if coloured => plain.dimmed(),
            Tone::Strong => plain.bold(),
            Tone::Plain | Tone::P1 | Tone::P2 | Tone::Faint | Tone::Alarm | Tone::Doubt | Tone::Open => plain,
        };
        if self.marked {
            shown = shown.underline();
        }
        if self.reversed {
            shown = shown.invert();
        }
        shown
    }
}

impl From<Tone> for Style {
    fn from(tone: Tone) -> Self {
        Self { tone, ..Self::default() }
    }
}

/// Which escape sequences are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colours {
    /// None at all.
    Never,
    /// Underlines and reversed cells without colours, as `NO_COLOR` asks for.
    Attributes,
    /// Colours too.
    Full,
}

impl Colours {
    /// What the standard output is given: nothing, unless it is a terminal.
    pub(super) fn of_output() -> Self {
        if io::stdout().is_terminal() { Self::of_terminal() } else { Self::Never }
    }

    /// What a terminal is given; see <https://no-color.org>.
    pub(super) fn of_terminal() -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb" || term.is_empty());
        match (dumb, refused) {
            (true, _) => Self::Never,
            (false, true) => Self::Attributes,
            (false, false) => Self::Full,
        }
    }
}

/// A line of text in pieces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Text {
    spans: Vec<(String, Style)>,
}

impl Text {
    /// A line in one style.
    pub(super) fn new(text: &str, style: impl Into<Style>) -> Self {
        let mut line = Self::default();
        line.push(text, style);
        line
    }

    /// Adds a piece.
    pub(super) fn push(&mut self, text: &str, style: impl Into<Style>) {
        let (text, style): (String, Style) = (text.chars().map(shown).collect(), style.into());
        match self.spans.last_mut() {
            _ if text.is_empty() => {}
            Some((last, same)) if *same == style => last.push_str(&text),
            _ => self.spans.push((text, style)),
        }
    }

    /// Adds another line's pieces.
    pub(super) fn append(&mut self, other: &Self) {
        self.spans.extend(other.spans.iter().cloned());
    }

    /// Its length in characters.
    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|(text, _)| text.chars().count()).sum()
    }

    /// The first characters of it, as many as fit.
    pub(super) fn cut(&self, width: usize) -> Self {
        let mut room = width;
        let mut spans = Vec::new();
        for (text, style) in &self.spans {
            let kept: String = text.chars().take(room).collect();
            room -= kept.chars().count();
            spans.push((kept, *style));
        }
        Self { spans }
    }

    /// The line on as many lines as it needs, broken at blanks if there are any.
    pub(super) fn wrapped(&self, width: usize) -> Vec<Self> {
        let width = width.max(1);
        let mut lines = vec![Self::default()];
        let mut used = 0;
        for (text, style) in &self.spans {
            for word in text.split_inclusive(' ') {
                let mut rest: Vec<char> = word.chars().collect();
                let bare = word.trim_end().chars().count();
                if used > 0 && used + bare > width {
                    lines.push(Self::default());
                    used = 0;
                }
                while rest.len() > width && bare > width {
                    let tail = rest.split_off(width);
                    lines.last_mut().expect("there is always one").push(&String::from_iter(rest), *style);
                    lines.push(Self::default());
                    rest = tail;
                    used = 0;
                }
                used += rest.len();
                lines.last_mut().expect("there is always one").push(&String::from_iter(rest), *style);
            }
        }
        lines
    }

    /// The characters alone, without blanks at the end.
    pub(super) fn plain(&self) -> String {
        self.written(Colours::Never)
    }

    /// The text with the escape sequences that are wanted, without blanks at the end.
    pub(super) fn written(&self, colours: Colours) -> String {
        let mut out = String::new();
        let last = self.spans.iter().rposition(|(text, style)| style.reversed || !text.trim_end().is_empty());
        let Some(last) = last else { return out };
        for (index, (text, style)) in self.spans[..=last].iter().enumerate() {
            let text = if index == last && !style.reversed { text.trim_end() } else { text };
            let style = style.shown(colours);
            out += &format!("{style}{text}{style:#}");
        }
        out
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(&text, Tone::Plain)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// The lines of a text of several.
pub(super) fn lines(text: &str) -> Vec<Text> {
    text.lines().map(Text::from).collect()
}

/// What stands in one line of plain text, such as a name or a message that somebody else wrote.
pub(super) fn line(text: &str) -> String {
    Text::from(text).plain()
}

/// The character itself, unless a terminal would obey it or turn the direction of what follows.
pub(super) fn shown(c: char) -> char {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || turns { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_the_reader_wants_it() {
        let mut text = Text::new("p1 ", Tone::P1);
        text.push("d4", Style { marked: true, ..Style::default() });
        text.push("  ", Tone::Faint);
        for (colours, written) in [
            (Colours::Never, "p1 d4"),
            (Colours::Attributes, "p1 \x1b[4md4\x1b[0m"),
            (Colours::Full, "\x1b[1m\x1b[32mp1 \x1b[0m\x1b[4md4\x1b[0m"),
        ] {
            assert_eq!(text.written(colours), written, "{colours:?}");
        }
        assert_eq!(text.width(), 7);
        assert_eq!(text.cut(4).plain(), "p1 d");
    }

    #[test]
    fn a_terminal_is_never_given_what_it_would_obey() {
        let hostile = "a\x1b[2J\x07\u{9b}1m\r\n\u{202e}\u{61c}b";
        let written = Text::from(hostile).written(Colours::Full);
        assert_eq!(written, "a\u{fffd}[2J\u{fffd}\u{fffd}1m\u{fffd}\u{fffd}\u{fffd}\u{fffd}b");
    }

    #[test]
    fn long_lines_are_parted_at_blanks() {
        for (text, width, expected) in [
            ("one two three", 8, &["one two", "three"][..]),
            ("one two", 80, &["one two"]),
            ("abcdefgh", 3, &["abc", "def", "gh"]),
            ("a abcdefgh", 4, &["a", "abcd", "efgh"]),
            ("", 5, &[""]),
            ("ab", 0, &["a", "b"]),
        ] {
            let lines: Vec<String> = Text::from(text).wrapped(width).iter().map(Text::plain).collect();
            assert_eq!(lines, expected, "{text} at {width}");
        }
    }
}
