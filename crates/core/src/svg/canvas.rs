//! Shapes as SVG elements, in colours that have a light and a dark form.
//!
//! Colours are attributes, so that readers without style sheets show the light form; a rule of the style
//! sheet replaces them where the reader prefers dark. The names of its classes begin with `plyd-`, because
//! the style sheet of a picture that stands within a page is one of the page.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};

/// Whether a picture is light or dark.
///
/// ```
/// use plyd_core::svg::Theme;
///
/// assert_eq!(Theme::default(), Theme::Auto);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Theme {
    /// As its reader prefers (`prefers-color-scheme`); light where the reader knows no preference.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// A colour, by what it is for. Orange and blue for the players, which people of any colour vision can
/// distinguish; `gui/style.css` has the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Colour {
    Ground,
    Cell,
    Last,
    Line,
    Heavy,
    Wall,
    Faint,
    Text,
    First,
    Second,
    Nobody,
    OnFirst,
    OnSecond,
    Dot,
    Struck,
    FirstGround,
    SecondGround,
    Noted,
}

impl Colour {
    /// Its name in classes, its light form and its dark one.
    const fn forms(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Ground => ("ground", "#fffefb", "#1e2126"),
            Self::Cell => ("cell", "#fbf9f4", "#262a30"),
            Self::Last => ("last", "#fbe7b2", "#4d4423"),
            Self::Line => ("line", "#cfc9bc", "#3a4048"),
            Self::Heavy => ("heavy", "#6d6a63", "#8d939c"),
            Self::Wall => ("wall", "#3a3d44", "#e0ddd5"),
            Self::Faint => ("faint", "#62666e", "#a0a5ad"),
            Self::Text => ("text", "#23262b", "#e6e4df"),
            Self::First => ("p1", "#e08a2c", "#e89a45"),
            Self::Second => ("p2", "#3d78b8", "#5b9bd5"),
            Self::Nobody => ("none", "#8b8f96", "#80858d"),
            Self::OnFirst => ("on-p1", "#251503", "#251503"),
            Self::OnSecond => ("on-p2", "#ffffff", "#08131f"),
            Self::Dot => ("dot", "#3f8f5f", "#6cc290"),
            Self::Struck => ("struck", "#b3261e", "#ff8a80"),
            Self::FirstGround => ("p1-ground", "#f4dec4", "#554533"),
            Self::SecondGround => ("p2-ground", "#cedae5", "#33455a"),
            Self::Noted => ("noted", "#d2e2d3", "#354b45"),
        }
    }
}

/// Which part of a shape has a colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Part {
    Fill,
    Stroke,
}

impl Part {
    /// What the names of its classes end with, and its attribute.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Fill => ("", "fill"),
            Self::Stroke => ("-line", "stroke"),
        }
    }
}

/// A rectangle: its left, its top, its width and its height.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rect {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

impl Rect {
    /// The square of that side around a point.
    pub(super) fn around((x, y): (i64, i64), side: i64) -> Self {
        Self { x: x - side / 2, y: y - side / 2, width: side, height: side }
    }
}

/// The elements of a picture, in drawing order.
#[derive(Debug)]
pub(super) struct Canvas {
    theme: Theme,
    elements: String,
    used: BTreeSet<(Colour, Part)>,
}

impl Canvas {
    pub(super) fn new(theme: Theme) -> Self {
        Self { theme, elements: String::new(), used: BTreeSet::new() }
    }

    /// A filled rectangle with round corners of that radius.
    pub(super) fn rect(&mut self, rect: Rect, radius: i64, colour: Colour) {
        let ink = self.ink(colour, Part::Fill);
        let Rect { x, y, width, height } = rect;
        let round = if radius > 0 { format!(" rx=\"{radius}\"") } else { String::new() };
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{round}{ink}/>"
        ));
    }

    /// A disc.
    pub(super) fn disc(&mut self, (x, y): (i64, i64), radius: i64, colour: Colour) {
        let ink = self.ink(colour, Part::Fill);
        self.push(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{ink}/>"));
    }

    /// The outline of a disc.
    pub(super) fn ring(&mut self, (x, y): (i64, i64), radius: i64, colour: Colour) {
        let ink = self.ink(colour, Part::Stroke);
        self.push(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"none\" stroke-width=\"5\"{ink}/>"
        ));
    }

    /// Lines along a path; none if the path is empty.
    pub(super) fn lines(&mut self, path: &str, width: i64, colour: Colour) {
        if path.is_empty() {
            return;
        }
        let ink = self.ink(colour, Part::Stroke);
        self.push(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke-width=\"{width}\" stroke-linecap=\"round\"{ink}/>"
        ));
    }

    /// A filled path, which stands around the origin, at a point.
    pub(super) fn glyph(&mut self, path: &str, (x, y): (i64, i64), colour: Colour) {
        let ink = self.ink(colour, Part::Fill);
        self.push(format_args!("<path d=\"{}\" transform=\"translate({x} {y})\"{ink}/>", Escaped(path)));
    }

    /// A text centred on a point.
    pub(super) fn text(&mut self, text: &str, at: (i64, i64), size: i64, colour: Colour) {
        self.texts(&[(text, at)], size, colour);
    }

    /// Texts of the same size and colour, each centred on its point.
    pub(super) fn texts(&mut self, texts: &[(&str, (i64, i64))], size: i64, colour: Colour) {
        if texts.is_empty() {
            return;
        }
        let ink = self.ink(colour, Part::Fill);
        self.push(format_args!("<g font-size=\"{size}\"{ink}>"));
        for (text, (x, y)) in texts {
            // The middle of capitals and figures: readers disagree about `dominant-baseline`.
            let y = y + size * 35 / 100;
            self.push(format_args!("<text x=\"{x}\" y=\"{y}\">{}</text>", Escaped(text)));
        }
        self.push(format_args!("</g>"));
    }

    /// The style sheet, if the reader's preference decides, then the elements.
    pub(super) fn finish(self) -> String {
        if self.theme != Theme::Auto {
            return self.elements;
        }
        let mut out = String::from("<style>@media (prefers-color-scheme:dark){");
        for (colour, part) in &self.used {
            let ((name, _, dark), (class, property)) = (colour.forms(), part.names());
            out += &format!(".plyd-{name}{class}{{{property}:{dark}}}");
        }
        out += "}</style>";
        out + &self.elements
    }

    /// The attributes that colour a shape.
    fn ink(&mut self, colour: Colour, part: Part) -> String {
        let ((name, light, dark), (class, property)) = (colour.forms(), part.names());
        match self.theme {
            Theme::Light => format!(" {property}=\"{light}\""),
            Theme::Dark => format!(" {property}=\"{dark}\""),
            Theme::Auto => {
                self.used.insert((colour, part));
                format!(" class=\"plyd-{name}{class}\" {property}=\"{light}\"")
            }
        }
    }

    fn push(&mut self, element: fmt::Arguments<'_>) {
        self.elements.write_fmt(element).expect("a text takes any other");
    }
}

/// A text as XML: markup is escaped, and characters that XML forbids are replaced.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                ' ' => f.write_char(' ')?,
                letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let hostile = "</text><script>alert(\"1\" & '2')</script>\0\u{1b}\u{ffff}";
        let escaped = Escaped(hostile).to_string();
        assert!(!escaped.contains(['<', '>', '"', '\'', '\0', '\u{1b}', '\u{ffff}']), "{escaped}");
        assert_eq!(Escaped("a & b").to_string(), "a &amp; b");
        assert_eq!(Escaped("\u{1b}ü").to_string(), "\u{fffd}ü");
    }

    #[test]
    fn only_a_picture_for_either_preference_has_a_style_sheet_and_it_has_what_is_used() {
        let drawn = |theme| {
            let mut canvas = Canvas::new(theme);
            canvas.disc((5, 5), 3, Colour::First);
            canvas.lines("M0 0h9", 1, Colour::Wall);
            canvas.lines("", 1, Colour::Faint);
            canvas.finish()
        };
        let auto = drawn(Theme::Auto);
        let style = "<style>@media (prefers-color-scheme:dark){.plyd-wall-line{stroke:#e0ddd5}.plyd-p1{fill:#e89a45}}</style>";
        assert!(auto.starts_with(style), "{auto}");
        assert!(auto.contains("class=\"plyd-p1\" fill=\"#e08a2c\""), "{auto}");
        assert!(!auto.contains("faint"), "an empty path is left out: {auto}");
        for (theme, colour) in [(Theme::Light, "#e08a2c"), (Theme::Dark, "#e89a45")] {
            let fixed = drawn(theme);
            assert!(fixed.contains(&format!("fill=\"{colour}\"")), "{fixed}");
            assert!(!fixed.contains("class") && !fixed.contains("style"), "{fixed}");
        }
    }
}
