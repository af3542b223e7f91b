//! The lines that a ladder sends, without their ends.

use plyd_client::with_legal;
use plyd_protocol::{
    Command, ErrorMessage, MAX_LINE, Message, OfferResult, Outcome, Over, OverOutcome, Player, Request,
};
use serde::Serialize;
use serde_json::{Value, json};

/// A `go` of that game, with the legal moves if they are wanted and the line holds them.
pub(super) fn go(id: &str, game: &str, command: Command, legal: Option<&[String]>) -> Vec<u8> {
    let request = Request { id: id.to_owned(), command };
    let with_moves = legal.map(|legal| in_game(with_legal(&request, legal), id, game));
    with_moves.filter(|line| line.len() <= MAX_LINE).unwrap_or_else(|| {
        let line = serde_json::to_vec(&request).expect("requests hold only text keys and integers");
        in_game(line, id, game)
    })
}

/// The line with the game's name behind its id, which stands first.
fn in_game(mut line: Vec<u8>, id: &str, game: &str) -> Vec<u8> {
    let rest = line.split_off(format!("{{\"id\":\"{id}\"").len());
    line.extend(format!(",\"x_game\":\"{game}\"").into_bytes());
    line.extend(rest);
    line
}

/// A `ping`.
pub(super) fn ping(id: &str) -> Vec<u8> {
    json!({ "id": id, "cmd": "ping" }).to_string().into_bytes()
}

/// An `over`, which a player of the game gets.
pub(super) fn over(id: &str, over: &Over) -> Vec<u8> {
    with_fields(json!({ "id": id, "cmd": "over" }), over)
}

/// How a game ended for one of its players.
pub(super) fn outcome(outcome: Option<&Outcome>, player: Player) -> OverOutcome {
    match outcome.map(|outcome| outcome.winner) {
        None => OverOutcome::Void,
        Some(None) => OverOutcome::Drawn,
        Some(Some(winner)) if winner == player => OverOutcome::Won,
        Some(Some(_)) => OverOutcome::Lost,
    }
}

/// The answer to an offer.
pub(super) fn taken(id: &str, result: &OfferResult) -> Vec<u8> {
    with_fields(json!({ "type": "result", "id": id, "of": "offer" }), result)
}

/// A line with more fields than the first ones.
fn with_fields(mut line: Value, more: &impl Serialize) -> Vec<u8> {
    if let (Value::Object(line), Ok(Value::Object(more))) = (&mut line, serde_json::to_value(more)) {
        line.extend(more);
    }
    line.to_string().into_bytes()
}

/// An error, or the refusal of an offer.
pub(super) fn error(error: ErrorMessage) -> Vec<u8> {
    Message::Error(Box::new(error)).to_body().into_bytes()
}

/// The notice that the ladder goes away, and may be dialled again after a time.
pub(super) fn going_away(message: &str, retry_ms: u64) -> Vec<u8> {
    let notice = json!({ "type": "notice", "kind": "going_away", "message": message, "retry_ms": retry_ms });
    notice.to_string().into_bytes()
}

/// The notice that a bot's owner should know something.
pub(super) fn warning(message: &str) -> Vec<u8> {
    json!({ "type": "notice", "kind": "warning", "message": message }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::{Clock, GameRef, Go, Position, Settings, decode};

    #[test]
    fn a_go_has_its_id_first_and_the_legal_moves_last_if_they_fit() {
        let game = GameRef::Game { game: "ijk".into(), rules: Settings::new() };
        let asked = Go { clock: Some(Clock::PerMove { ms: 5 }), ..Go::new(game, Position::default()) };
        let command = Command::Go(Box::new(asked));
        let head = r#"{"id":"7","x_game":"g81","cmd":"go","#;
        for (legal, end) in [
            (None, r#""clock":{"kind":"per_move","ms":5}}"#),
            (Some(vec!["a1".to_owned(), "b2".to_owned()]), r#","x_legal":["a1","b2"]}"#),
            (Some(vec!["a".repeat(MAX_LINE)]), r#""clock":{"kind":"per_move","ms":5}}"#),
        ] {
            let line = go("7", "g81", command.clone(), legal.as_deref());
            assert_eq!(decode(&line).unwrap().command, command);
            let line = String::from_utf8(line).unwrap();
            assert!(line.starts_with(head) && line.ends_with(end), "{line:.200}");
        }
    }

    #[test]
    fn an_outcome_is_what_it_is_for_the_player() {
        let ended = |winner| Some(Outcome { winner, by: "late".into(), scores: None });
        for (result, player, expected) in [
            (ended(Some(Player::P1)), Player::P1, OverOutcome::Won),
            (ended(Some(Player::P1)), Player::P2, OverOutcome::Lost),
            (ended(None), Player::P1, OverOutcome::Drawn),
            (None, Player::P2, OverOutcome::Void),
        ] {
            assert_eq!(outcome(result.as_ref(), player), expected);
        }
    }
}
