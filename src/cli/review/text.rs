//! A review for people: a line a move, the better move where there was one, and counts for both sides.

use crate::bridge;
use crate::cli::picture;
use crate::cli::records::Game;
use crate::cli::styled::{Text, Tone};
use crate::cli::words;
use crate::engine::{Evaluation, Line};
use crate::game::Side;
use crate::review::{Mark, Review, ReviewedMove};

/// The most plies of a better line that are shown.
const LINE: usize = 8;

/// A review as lines: a table of the moves, and one of the counts.
pub(crate) fn pages(game: &Game, review: &Review) -> Vec<Text> {
    if review.moves.is_empty() {
        return vec![Text::from("no move to review: nobody chose one")];
    }
    let heading = ["ply", "by", "move", "before", "after", ""];
    let mut rows = vec![heading.map(|name| Text::new(name, Tone::Faint))];
    rows.extend(review.moves.iter().map(row));
    let mut lines = vec![Text::default()];
    lines.extend(aligned(&rows));
    lines.push(Text::default());
    lines.extend(counts(game, review));
    let is_shown = |is_of: fn(Mark) -> bool| review.moves.iter().any(|reviewed| is_of(reviewed.mark));
    if is_shown(is_estimated) {
        let about = match is_shown(Mark::is_proven) {
            true => "marks behind ~ are estimates, the others are proven",
            false => "marks behind ~ are estimates",
        };
        lines.push(Text::new(about, Tone::Faint));
    }
    lines
}

/// A mark in words with what it threw away, and a ~ before what is an estimate.
pub(crate) fn mark_words(reviewed: &ReviewedMove) -> String {
    let mut words = match reviewed.mark {
        Mark::Forced => "the only legal move",
        Mark::KeptWin => "kept the win",
        Mark::WinsLater => "wins later than necessary",
        Mark::KeptDraw => "kept the draw",
        Mark::BestDefence => "best defence",
        Mark::WasLost => "lost anyway",
        Mark::LostSooner => "loses sooner than necessary",
        Mark::GavePoints => "gave points away",
        Mark::ThrewAway => thrown_away(reviewed),
        Mark::Best => "~ best",
        Mark::Good => "~ good",
        Mark::Inaccuracy => "~ ?! inaccuracy",
        Mark::Mistake => "~ ? mistake",
        Mark::Blunder => "~ ?? blunder",
        Mark::Unknown => "unknown",
    }
    .to_owned();
    if reviewed.is_only && reviewed.mark != Mark::Forced {
        words += ", the only move";
    }
    words
}

fn thrown_away(reviewed: &ReviewedMove) -> &'static str {
    let result = |value: &Option<Evaluation>| value.and_then(|value| value.proof).map(|proof| proof.result);
    let is = |value, test: fn(std::cmp::Ordering) -> bool| result(value).is_some_and(test);
    match (is(&reviewed.before, |result| result.is_gt()), is(&reviewed.after, |result| result.is_eq())) {
        (true, true) => "threw the win away: a draw now",
        (true, false) => "threw the win away: lost now",
        (false, _) => "threw the draw away: lost now",
    }
}

fn is_estimated(mark: Mark) -> bool {
    matches!(mark, Mark::Best | Mark::Good | Mark::Inaccuracy | Mark::Mistake | Mark::Blunder)
}

/// How a mark looks: an error that is proven in another colour than one by estimate.
fn tone(mark: Mark) -> Tone {
    match mark {
        mark if mark.is_error() && mark.is_proven() => Tone::Alarm,
        mark if mark.is_error() => Tone::Doubt,
        Mark::Forced | Mark::Unknown | Mark::WasLost => Tone::Faint,
        _ => Tone::Plain,
    }
}

fn row(reviewed: &ReviewedMove) -> [Text; 6] {
    let player = bridge::player(reviewed.side);
    let score = |value: Option<Evaluation>| {
        value.map_or_else(String::new, |value| words::score(&bridge::score(value)))
    };
    let mut about = Text::new(&mark_words(reviewed), tone(reviewed.mark));
    if let Some(Line { pv, .. }) = &reviewed.better {
        // The move, and how the game could go on: a list would read as one of better moves.
        let mut shown = pv.iter().take(LINE).map(String::as_str);
        about.push(&format!("; better: {}", shown.next().unwrap_or_default()), Tone::Plain);
        let then: Vec<&str> = shown.collect();
        if !then.is_empty() {
            let more = if pv.len() > LINE { " ..." } else { "" };
            about.push(&format!(" (then {}{more})", then.join(" ")), Tone::Faint);
        }
    }
    [
        Text::from((reviewed.ply + 1).to_string()),
        Text::new(words::side_name(player), picture::tone(Some(player))),
        Text::new(&reviewed.mv, Tone::Strong),
        Text::from(score(reviewed.before)),
        Text::from(score(reviewed.after)),
        about,
    ]
}

/// The marks of both sides, those that were given.
fn counts(game: &Game, review: &Review) -> Vec<Text> {
    let named = |side: Side| {
        let player = bridge::player(side);
        let name = game.name(player).map_or_else(String::new, |name| format!(" ({name})"));
        Text::new(&format!("{}{name}", words::side_name(player)), picture::tone(Some(player)))
    };
    let sides = [Side::First, Side::Second];
    let total = |side| review.moves.iter().filter(|reviewed| reviewed.side == side).count();
    let mut rows = vec![[Text::default(), named(sides[0]), named(sides[1])]];
    rows.push([
        Text::from("moves"),
        Text::from(total(sides[0]).to_string()),
        Text::from(total(sides[1]).to_string()),
    ]);
    for mark in Mark::ALL {
        let [first, second] = sides.map(|side| review.count(side, mark));
        if first + second > 0 {
            let number = |count: usize| {
                Text::new(&count.to_string(), if count > 0 { tone(mark) } else { Tone::Faint })
            };
            rows.push([Text::new(mark_name(mark), tone(mark)), number(first), number(second)]);
        }
    }
    aligned(&rows)
}

/// A mark without the circumstances of a move.
pub(crate) fn mark_name(mark: Mark) -> &'static str {
    match mark {
        Mark::Forced => "only legal move",
        Mark::KeptWin => "win kept",
        Mark::WinsLater => "win later than need be",
        Mark::KeptDraw => "draw kept",
        Mark::BestDefence => "best defence",
        Mark::WasLost => "lost anyway",
        Mark::LostSooner => "loss sooner than need be",
        Mark::GavePoints => "points given away",
        Mark::ThrewAway => "win or draw thrown away",
        Mark::Best => "~ best",
        Mark::Good => "~ good",
        Mark::Inaccuracy => "~ ?! inaccuracy",
        Mark::Mistake => "~ ? mistake",
        Mark::Blunder => "~ ?? blunder",
        Mark::Unknown => "unknown",
    }
}

/// Rows with their columns under each other, two blanks between them.
fn aligned<const N: usize>(rows: &[[Text; N]]) -> Vec<Text> {
    let widths: Vec<usize> =
        (0..N).map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0)).collect();
    let line = |row: &[Text; N]| {
        let mut line = Text::default();
        for (cell, width) in row.iter().zip(&widths) {
            line.append(cell);
            line.push(&" ".repeat(width + 2 - cell.width()), Tone::Plain);
        }
        line
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_whatever_their_tones() {
        let rows = [[Text::new("a", Tone::Alarm), Text::from("b")], [Text::from("long"), Text::from("c")]];
        let lines: Vec<String> = aligned(&rows).iter().map(Text::plain).collect();
        assert_eq!(lines, ["a     b", "long  c"]);
    }

    #[test]
    fn estimates_look_unlike_proofs() {
        for mark in Mark::ALL {
            assert_eq!(mark_name(mark).starts_with('~'), is_estimated(mark), "{mark:?}");
            assert!(!(mark.is_proven() && is_estimated(mark)), "{mark:?}");
        }
        assert_ne!(tone(Mark::ThrewAway), tone(Mark::Blunder));
    }
}
