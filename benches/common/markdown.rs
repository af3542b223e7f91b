//! Tables in Markdown, as reports want them.

#![allow(dead_code, reason = "each bench uses a part of this")]

/// A table with a heading; the first column is text, the others are numbers.
pub(crate) struct Table {
    text: String,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Self {
        let mut text = format!("| {} |\n|---", heading.join(" | "));
        text += &"|--:".repeat(N - 1);
        text += "|\n";
        Self { text }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.text += &format!("| {} |\n", cells.join(" | "));
    }

    /// The text, to be printed.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Microseconds as milliseconds; `-` where there are none.
pub(crate) fn ms(us: Option<i64>) -> String {
    us.map_or("-".to_owned(), |us| format!("{:.2}", us as f64 / 1000.0))
}
