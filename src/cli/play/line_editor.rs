//! The line that is being written in the full screen.

/// How many earlier lines are kept.
const KEPT: usize = 100;

/// A line with a place in it, and the lines written before.
#[derive(Debug, Default)]
pub(super) struct LineEditor {
    text: Vec<char>,
    at: usize,
    earlier: Vec<String>,
    /// Which of the earlier lines is shown, counted from the last one; none: a new one.
    recalled: Option<usize>,
}

impl LineEditor {
    pub(super) fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Replaces the line, and goes to its end.
    pub(super) fn set(&mut self, text: &str) {
        self.text = text.chars().collect();
        self.at = self.text.len();
    }

    pub(super) fn insert(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            self.text.insert(self.at, c);
            self.at += 1;
        }
    }

    pub(super) fn backspace(&mut self) {
        if self.at > 0 {
            self.at -= 1;
            self.text.remove(self.at);
        }
    }

    pub(super) fn delete(&mut self) {
        if self.at < self.text.len() {
            self.text.remove(self.at);
        }
    }

    /// Deletes the word before the place.
    pub(super) fn delete_word(&mut self) {
        let is_blank = |at: usize| self.text[at].is_whitespace();
        let mut from = self.at;
        while from > 0 && is_blank(from - 1) {
            from -= 1;
        }
        while from > 0 && !is_blank(from - 1) {
            from -= 1;
        }
        self.text.drain(from..self.at);
        self.at = from;
    }

    pub(super) fn clear(&mut self) {
        self.set("");
        self.recalled = None;
    }

    /// Goes this many characters on, or back if negative.
    pub(super) fn go(&mut self, by: isize) {
        self.at = self.at.saturating_add_signed(by).min(self.text.len());
    }

    /// Takes the line, which is kept to be recalled.
    pub(super) fn take(&mut self) -> String {
        let text = self.text();
        if !text.trim().is_empty() && self.earlier.last() != Some(&text) {
            self.earlier.push(text.clone());
            if self.earlier.len() > KEPT {
                self.earlier.remove(0);
            }
        }
        self.clear();
        text
    }

    /// Shows the line before the one that is shown.
    pub(super) fn recall_earlier(&mut self) {
        let next = self.recalled.map_or(0, |recalled| recalled + 1);
        if let Some(index) = self.earlier.len().checked_sub(next + 1) {
            let text = self.earlier[index].clone();
            self.set(&text);
            self.recalled = Some(next);
        }
    }

    /// Shows the line after the one that is shown; after the last an empty one.
    pub(super) fn recall_later(&mut self) {
        match self.recalled {
            None => {}
            Some(0) => self.clear(),
            Some(recalled) => {
                let text = self.earlier[self.earlier.len() - recalled].clone();
                self.set(&text);
                self.recalled = Some(recalled - 1);
            }
        }
    }

    /// The part of the line that fits, and where in it the place is.
    pub(super) fn window(&self, width: usize) -> (String, usize) {
        let width = width.max(1);
        let from = (self.at + 1).saturating_sub(width);
        (self.text.iter().skip(from).take(width).collect(), self.at - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_edited_in_the_middle() {
        let mut editor = LineEditor::default();
        editor.insert("undo 12\r\n");
        editor.go(-2);
        editor.backspace();
        editor.insert("_");
        assert_eq!(editor.text(), "undo_12");
        editor.delete();
        editor.go(100);
        editor.delete();
        assert_eq!(editor.text(), "undo_2");
        editor.insert(" b c  ");
        editor.delete_word();
        assert_eq!(editor.text(), "undo_2 b ");
        editor.go(-100);
        editor.backspace();
        editor.delete_word();
        assert_eq!(editor.text(), "undo_2 b ");
    }

    #[test]
    fn earlier_lines_come_back() {
        let mut editor = LineEditor::default();
        for line in ["one", "two", "two", "  "] {
            editor.insert(line);
            editor.take();
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            editor.recall_earlier();
            seen.push(editor.text());
        }
        for _ in 0..3 {
            editor.recall_later();
            seen.push(editor.text());
        }
        assert_eq!(seen, ["two", "one", "one", "two", "", ""]);
    }

    #[test]
    fn the_place_is_always_in_sight() {
        let mut editor = LineEditor::default();
        editor.insert("abcdef");
        assert_eq!(editor.window(4), ("def".into(), 3));
        editor.go(-100);
        assert_eq!(editor.window(4), ("abcd".into(), 0));
        assert_eq!(editor.window(1), ("a".into(), 0));
        assert_eq!(LineEditor::default().window(0).0, "");
    }
}
