//! Suggestions: moves and commands near to what was written.

/// What is compared: without regard to case, and with one way to part words.
pub(super) fn normal(text: &str) -> String {
    let parted: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let words: Vec<&str> = parted.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ").to_lowercase()
}

/// The move that a line writes, in the rules' own spelling.
pub(super) fn exact<'a>(line: &str, moves: &'a [String]) -> Option<&'a str> {
    // Moves may differ in case alone: the very text comes first.
    let trimmed = line.trim();
    let same = moves.iter().find(|mv| *mv == trimmed);
    same.or_else(|| moves.iter().find(|mv| normal(mv) == normal(line))).map(String::as_str)
}

/// The moves that begin with a text.
pub(super) fn beginning<'a>(line: &str, moves: &'a [String]) -> Vec<&'a str> {
    let line = normal(line);
    moves.iter().map(String::as_str).filter(|mv| normal(mv).starts_with(&line)).collect()
}

/// What all texts begin with, in the spelling of the first.
pub(super) fn common<'a>(texts: &[&'a str]) -> &'a str {
    let Some((first, others)) = texts.split_first() else { return "" };
    let mut length = first.len();
    for other in others {
        let same = first.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
        let until = same.map_or(first.len().min(other.len()), |((at, _), _)| at);
        length = length.min(until);
    }
    first.get(..length).unwrap_or(first)
}

/// The texts nearest to a line, the nearest first: those that differ by few characters, not more than a third
/// of them.
pub(super) fn nearest<'a>(line: &str, texts: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let line = bare(line);
    let allowed = (line.len() / 3).max(1);
    let mut near: Vec<(usize, &str)> = texts
        .into_iter()
        .map(|text| (text, bare(text)))
        .map(|(text, bare)| (distance(&line, &bare), line.len().max(bare.len()), text))
        .filter(|(distance, length, _)| *distance <= allowed && 2 * distance < *length)
        .map(|(distance, _, text)| (distance, text))
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(most);
    near.into_iter().map(|(_, text)| text).collect()
}

/// The characters that carry meaning; long lines are cut, because they are near to nothing.
fn bare(text: &str) -> Vec<char> {
    normal(text).chars().filter(|c| c.is_alphanumeric()).take(64).collect()
}

/// How many characters must be put in, left out, changed or swapped with their neighbour (optimal string
/// alignment, after Damerau 1964).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let changed = last[j] + usize::from(x != y);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn moves_are_known_in_any_case_and_spacing() {
        let moves = owned(&["d4", "3 1 W", "3 1 W 1 1 2 1", "0,1,2"]);
        for (line, found) in [
            ("D4", Some("d4")),
            ("  d4 ", Some("d4")),
            ("3  1 w", Some("3 1 W")),
            ("3 1 w 1 1 2 1", Some("3 1 W 1 1 2 1")),
            ("31W", None),
            ("", None),
        ] {
            assert_eq!(exact(line, &moves), found, "{line}");
        }
        let cases = owned(&["a", "A"]);
        assert_eq!((exact("A", &cases), exact("a", &cases)), (Some("A"), Some("a")));
        assert_eq!(beginning("3 1", &moves).len(), 2);
    }

    #[test]
    fn beginnings_are_completed_as_far_as_they_agree() {
        for (texts, expected) in [
            (&["34u", "34r"][..], "34"),
            (&["3 1 W", "3 1 W 1 1 2 1"], "3 1 W"),
            (&["d4"], "d4"),
            (&["a", "b"], ""),
            (&["é1", "é2"], "é"),
            (&[], ""),
        ] {
            assert_eq!(common(texts), expected);
        }
    }

    #[test]
    fn near_texts_are_found_and_far_ones_are_not() {
        for (line, texts, expected) in [
            ("unod", &["undo", "redo", "hint"][..], &["undo"][..]),
            ("analise", &["analyse", "watch"], &["analyse"]),
            ("31W", &["3 1 W", "3 1 E", "2 4 W"], &["3 1 W", "3 1 E"]),
            ("d44", &["d4", "d5", "a1"], &["d4"]),
            ("x", &["a", "b"], &[]),
            ("2 1", &["p1", "p2"], &[]),
            ("", &["a"], &[]),
            ("nothing of the kind", &["undo", "d4"], &[]),
        ] {
            assert_eq!(nearest(line, texts.iter().copied(), 5), expected, "{line}");
        }
        let long = "x".repeat(100_000);
        assert!(nearest(&long, ["undo"], 5).is_empty());
    }
}
