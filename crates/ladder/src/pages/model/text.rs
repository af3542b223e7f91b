//! Text that somebody else wrote.

/// The text as it may be shown: at most so many characters, and none that are not seen or that change how
/// others are read, such as those that turn the direction of what follows.
pub(in crate::pages) fn bounded(text: &str, most: usize) -> String {
    let mut shown: String =
        text.chars().take(most).map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect();
    if text.chars().nth(most).is_some() {
        shown.push('\u{2026}');
    }
    shown
}

fn is_plain(c: char) -> bool {
    // Unicode's marks of direction and joining (Bidi_Control, and what has no width), and line separators.
    let hides = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    !hides && !c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_turns_or_goes_on_for_ever() {
        for (text, shown) in [
            ("plyd 0.1.0", "plyd 0.1.0"),
            ("<script>", "<script>"),
            ("a\u{202e}b\u{2066}c", "a\u{fffd}b\u{fffd}c"),
            ("a\0b\nc\u{1b}[31m", "a\u{fffd}b\u{fffd}c\u{fffd}[31m"),
            ("\u{5d0}\u{5d1}\u{5d2}", "\u{5d0}\u{5d1}\u{5d2}"),
            ("12345678901", "1234567890\u{2026}"),
            ("", ""),
        ] {
            assert_eq!(bounded(text, if text.len() == 11 { 10 } else { 100 }), shown, "{text:?}");
        }
        let long = "\u{1f600}".repeat(1 << 20);
        assert_eq!(bounded(&long, 40).chars().count(), 41);
    }
}
