//! Scores, outcomes and lines in words.

use std::time::Duration;

use super::columns::grouped;
use crate::arena::ForfeitKind;
use crate::engine::Entry;
use plyd_protocol::{Bound, Line, Outcome, Player, Proof, ProofOutcome, Score, Setting, ToMove};

/// How to go on with a run that was interrupted, with whether it was given the flag by which games are kept.
pub(super) fn to_resume(flag: &str, is_given: bool) -> String {
    if is_given {
        return "to go on, give the same command again".to_owned();
    }
    format!("only a run with {flag} can go on after an interrupt")
}

/// A score from the root mover's view, such as "win in 9", "draw", "at least +0.250".
pub(super) fn score(score: &Score) -> String {
    let value = match (score.proof, score.eval, score.wdl) {
        (Some(proof), ..) => return proof_words(&proof),
        (None, Some(eval), _) => {
            let (sign, size) = (if eval < 0 { '-' } else { '+' }, eval.unsigned_abs());
            format!("{sign}{}.{:03}", size / 1000, size % 1000)
        }
        (None, None, Some([win, draw, loss])) => {
            let percent = |ppm: u32| f64::from(ppm) / 10_000.0;
            format!("win {:.1} %, draw {:.1} %, loss {:.1} %", percent(win), percent(draw), percent(loss))
        }
        (None, None, None) => return "no score".into(),
    };
    match score.bound {
        Bound::Exact => value,
        Bound::Lower => format!("at least {value}"),
        Bound::Upper => format!("at most {value}"),
    }
}

fn proof_words(proof: &Proof) -> String {
    let outcome = match proof.outcome {
        ProofOutcome::Win => "win",
        ProofOutcome::Draw => "draw",
        ProofOutcome::Loss => "loss",
    };
    let mut words = outcome.to_owned();
    if let Some(margin) = proof.margin.filter(|margin| *margin != 0) {
        words += &format!(" by {}", margin.unsigned_abs());
    }
    match (proof.plies, proof.plies_max) {
        (Some(plies), _) => words += &format!(" in {plies}"),
        (None, Some(plies)) => words += &format!(" in at most {plies}"),
        (None, None) => (),
    }
    words
}

/// A line's score in words; players that do not score have none.
pub(super) fn line_score(line: &Line) -> String {
    line.score.as_ref().map_or_else(|| "no score".into(), score)
}

/// The end of a refusal: `these` and what can do what the refused one cannot, or `none` if nothing can.
pub(super) fn others(can: impl IntoIterator<Item = String>, these: &str, none: &str) -> String {
    match can.into_iter().collect::<Vec<_>>()[..] {
        [] => none.to_owned(),
        ref can => format!("{these}: {}", can.join(", ")),
    }
}

/// Whose turn it is.
pub(super) fn to_move(to_move: ToMove) -> &'static str {
    match to_move {
        ToMove::P1 => "p1 to move",
        ToMove::P2 => "p2 to move",
        ToMove::Chance => "a chance outcome comes next",
    }
}

/// How the game ended, such as "p1 wins by blocked, 3 to 1".
pub(super) fn outcome(outcome: &Outcome) -> String {
    let who = match outcome.winner {
        Some(Player::P1) => "p1 wins",
        Some(Player::P2) => "p2 wins",
        None => "a draw",
    };
    let scores = outcome.scores.map(|[p1, p2]| format!(", {p1} to {p2}")).unwrap_or_default();
    format!("{who} by {}{scores}", outcome.by.replace('_', " "))
}

/// How the game ended, in plain words: "You lose: no move is left" if `me` is the only person who plays.
pub(super) fn ending(game: &Entry, outcome: &Outcome, me: Option<Player>) -> String {
    let who = match (outcome.winner, me) {
        (None, _) => "A draw",
        (Some(winner), Some(me)) if winner == me => "You win",
        (Some(_), Some(_)) => "You lose",
        (Some(Player::P1), None) => "p1 wins",
        (Some(Player::P2), None) => "p2 wins",
    };
    let scores = outcome.scores.map_or_else(String::new, |[p1, p2]| match me {
        Some(Player::P2) => format!(", {p2} to {p1}"),
        _ => format!(", {p1} to {p2}"),
    });
    format!("{who}{scores}: {}", cause(game, &outcome.by))
}

/// Why a game ended, as a clause: what its registry entry says before the consequence.
fn cause(game: &Entry, by: &str) -> String {
    let Some(ending) = game.endings.iter().find(|ending| ending.name == by) else {
        return if by == ForfeitKind::Late.name() {
            "the flag fell".to_owned()
        } else {
            by.replace('_', " ")
        };
    };
    let clause = ending.about.split([':', ';']).next().unwrap_or_default().trim_end_matches('.');
    let mut letters = clause.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A side's name, which is also that of its session in `plyd play`.
pub(super) fn side_name(player: Player) -> &'static str {
    match player {
        Player::P1 => "p1",
        Player::P2 => "p2",
    }
}

/// The value of a rule or an option, as the command line takes it.
pub(super) fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Bool(value) => value.to_string(),
        Setting::Int(value) => value.to_string(),
        Setting::Text(text) => text.clone(),
    }
}

/// A time in the unit that suits it.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 0.001 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// So many of something: `1 game`, `2 searches`, `3 plies`.
pub(super) fn count(number: u64, of: &str) -> String {
    let (of, plural) = match of {
        _ if number == 1 => (of, ""),
        of if of.ends_with("ply") => (&of[..of.len() - 1], "ies"),
        of if of.ends_with("ch") => (of, "es"),
        of => (of, "s"),
    };
    format!("{} {of}{plural}", grouped(number))
}

/// Things per second; what took no measurable time counts as a microsecond.
pub(super) fn per_second(count: u64, time: Duration) -> u64 {
    (u128::from(count) * 1_000_000 / time.as_micros().max(1)) as u64
}

/// How reports call a player that was given by this text: by its setting `name=`, or else by the whole text.
pub(super) fn label(text: &str) -> &str {
    text.split(',').find_map(|part| part.trim().strip_prefix("name=")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::REGISTRY;

    #[test]
    fn scores_read_as_sentences() {
        for (wire, text) in [
            (r#"{"bound":"exact","eval":-1}"#, "-0.001"),
            (r#"{"bound":"exact","eval":-9223372036854775808}"#, "-9223372036854775.808"),
            (
                r#"{"bound":"exact","proof":{"outcome":"loss","margin":-9223372036854775808}}"#,
                "loss by 9223372036854775808",
            ),
            (r#"{"bound":"lower","eval":12345}"#, "at least +12.345"),
            (r#"{"bound":"upper","eval":0}"#, "at most +0.000"),
            (r#"{"bound":"exact","proof":{"outcome":"win","plies":9}}"#, "win in 9"),
            (r#"{"bound":"exact","proof":{"outcome":"loss","plies_max":4}}"#, "loss in at most 4"),
            (r#"{"bound":"exact","proof":{"outcome":"win","margin":3}}"#, "win by 3"),
            (r#"{"bound":"exact","proof":{"outcome":"draw","margin":0}}"#, "draw"),
        ] {
            assert_eq!(score(&serde_json::from_str(wire).unwrap()), text);
        }
    }

    #[test]
    fn ends_are_told_to_the_one_who_plays() {
        let game = |name: &str| *REGISTRY.iter().find(|entry| entry.name == name).unwrap();
        let (won, lost) = (Some(Player::P1), Some(Player::P2));
        for (name, by, winner, scores, me, text) in [
            ("isolation", "stuck", lost, None, Some(Player::P1), "You lose: no move is left"),
            ("isolation", "stuck", won, None, Some(Player::P1), "You win: no move is left"),
            ("isolation", "stuck", lost, None, None, "p2 wins: no move is left"),
            (
                "l-game",
                "stuck",
                won,
                None,
                Some(Player::P2),
                "You lose: the L of the side to move has no other place",
            ),
            ("l-game", "repetition", None, None, None, "A draw: the position occurred too often"),
            (
                "sudoku",
                "full",
                lost,
                Some([3, 9]),
                Some(Player::P2),
                "You win, 9 to 3: every cell has a value",
            ),
            ("colosseum", "apart", won, Some([13, 12]), None, "p1 wins, 13 to 12: the players are apart"),
            ("l-game", "late", lost, None, Some(Player::P1), "You lose: the flag fell"),
        ] {
            let outcome = Outcome { winner, by: by.into(), scores };
            assert_eq!(ending(game(name), &outcome, me), text);
        }
        // Each ending of each game has a cause before its consequence.
        for entry in REGISTRY {
            for ending in entry.endings {
                let cause = cause(entry, ending.name);
                assert!(!cause.is_empty() && !cause.contains([':', ';', '.']), "{}: {cause}", entry.name);
                assert!(!cause.contains("win") || cause.contains("`win`"), "{}: {cause}", entry.name);
            }
        }
    }

    #[test]
    fn one_thing_is_no_plural() {
        let counted =
            [count(1, "ply"), count(0, "ply"), count(1, "search"), count(2, "search"), count(1_000, "game")];
        assert_eq!(counted, ["1 ply", "0 plies", "1 search", "2 searches", "1,000 games"]);
    }

    #[test]
    fn speed_never_divides_by_zero() {
        assert_eq!(per_second(5, Duration::ZERO), 5_000_000);
        assert_eq!(per_second(500, Duration::from_millis(250)), 2_000);
    }
}
