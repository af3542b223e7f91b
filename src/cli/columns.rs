//! Tables for people: aligned columns of text, as the commands and the benches print them.
//!
//! Knows neither where the text goes nor how wide that is.

use std::fmt;

/// A table: a heading and rows of cells, numbers to the right.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table with this heading.
    #[must_use]
    pub fn new<C: Into<String>>(heading: impl IntoIterator<Item = C>) -> Self {
        Self { rows: vec![heading.into_iter().map(Into::into).collect()] }
    }

    /// A table without a heading.
    #[must_use]
    pub fn plain() -> Self {
        Self::default()
    }

    /// Adds a row.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Columns {
    /// One line a row, two blanks between columns. A column is aligned to the right if every cell below
    /// the first row is a number, which may have a unit behind it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let shape: Vec<(usize, bool)> = (0..columns)
            .map(|column| {
                let cells = || self.rows.iter().filter_map(|row| row.get(column));
                let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
                let right = self.rows.len() > 1 && cells().skip(1).all(|cell| is_number(cell));
                (width, right)
            })
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, &(width, right)) in row.iter().zip(&shape) {
                let padding = " ".repeat(width - cell.chars().count());
                let (before, after) = if right { (padding.as_str(), "") } else { ("", padding.as_str()) };
                line.extend([before, cell, after, "  "]);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Digits with signs, points and commas, and perhaps a unit behind a blank.
fn is_number(cell: &str) -> bool {
    let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
    number.chars().all(|c| c.is_ascii_digit() || "+-.,".contains(c)) && unit.chars().all(char::is_alphabetic)
}

/// A whole number with a comma before each three digits.
///
/// ```
/// assert_eq!(plyd::cli::columns::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_words_to_the_left() {
        let mut table = Columns::new(["name", "count", "about"]);
        table.row(["a", "1,000", "first"]);
        table.row(["longer", "7", ""]);
        assert_eq!(table.to_string(), "name    count  about\na       1,000  first\nlonger      7\n");
        let mut plain = Columns::plain();
        plain.row(["x", "1"]);
        assert_eq!(plain.to_string(), "x  1\n");
    }

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (u64::MAX, "18,446,744,073,709,551,615")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
