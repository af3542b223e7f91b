//! Games from their start to their end.

use plyd_core::zobrist::SplitMix64;
use plyd_protocol::{ChanceInfo, ErrorCode, Record};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bounds::Bounds;
use crate::engine::Conversation;
use crate::error::{ToolError, internal};
use crate::kept::Game;

/// A game that an agent asks for, as it asks.
pub(crate) struct Opening {
    pub(crate) game: String,
    pub(crate) rules: Option<Value>,
    pub(crate) seed: Option<Value>,
    pub(crate) start: Option<String>,
    pub(crate) moves: Vec<String>,
}

/// A game after its last ply, and how it stands.
pub(crate) struct Standing {
    /// The plies since the caller's, which chance chose.
    pub(crate) drawn: Vec<String>,
    to_move: Value,
    outcome: Value,
    text: Value,
    pub(crate) legal: Vec<Value>,
}

impl Standing {
    /// The standing as an agent reads it.
    pub(crate) fn shown(&self, id: &str, game: &Game) -> Value {
        let Self { drawn, to_move, outcome, text, legal } = self;
        json!({
            "game_id": id, "game": game.name, "ply": game.moves.len(), "to_move": to_move, "outcome": outcome,
            "position": text, "legal_count": legal.len(), "drawn_by_chance": drawn,
            "last_move": game.moves.last(),
        })
    }
}

/// Begins a game, with the plies that the caller gives and those that chance draws.
///
/// # Errors
/// There is no such game, or not under these rules; a ply is illegal, or there are too many.
pub(crate) fn begin(
    talk: &Conversation,
    opening: Opening,
    bounds: &Bounds,
) -> Result<(Game, Standing), ToolError> {
    let Opening { game, rules, seed, start, moves } = opening;
    let mut request = json!({ "cmd": "newgame", "session": "game", "game": game });
    for (name, value) in [("rules", rules), ("seed", seed)] {
        if let Some(value) = value {
            request[name] = value;
        }
    }
    talk.ask(request)?;
    let mut position = json!({ "moves": moves });
    if let Some(start) = start {
        position["start"] = json!(start);
    }
    let request = json!({ "cmd": "inspect", "session": "game", "position": position, "want": ["record"] });
    let renamed = |error: ToolError| {
        error
            .renamed("/position/start", "/start")
            .renamed("/position/moves", "/moves")
            .renamed("/position", "/start")
    };
    let mut said = talk.ask(request).map_err(renamed)?;
    let record = Record::deserialize(said["record"].take()).map_err(|error| internal(error.to_string()))?;
    let mut game = Game { name: record.game, rules: record.rules, start: record.start, moves: record.moves };
    let standing = settle(talk, &game, Vec::new(), bounds)?;
    game.moves.extend(standing.drawn.iter().cloned());
    Ok((game, standing))
}

/// Makes a move, and lets chance move behind it. The plies to be added are the move and what is drawn.
///
/// # Errors
/// The move is illegal, the game is over, or it has too many plies.
pub(crate) fn play(
    talk: &Conversation,
    game: &Game,
    mv: &str,
    bounds: &Bounds,
) -> Result<Standing, ToolError> {
    let place = format!("/position/moves/{}", game.moves.len());
    settle(talk, game, vec![mv.to_owned()], bounds).map_err(|error| error.renamed(&place, "/move"))
}

/// How a game stands after further plies and after those of chance, which are drawn here.
///
/// # Errors
/// A ply is illegal, or there are too many.
pub(crate) fn settle(
    talk: &Conversation,
    game: &Game,
    mut plies: Vec<String>,
    bounds: &Bounds,
) -> Result<Standing, ToolError> {
    let given = plies.len();
    loop {
        if game.moves.len() + plies.len() > bounds.plies {
            let message = format!("games of up to {} plies are kept", bounds.plies);
            return Err(ToolError::new(ErrorCode::OutOfRange, message));
        }
        let mut request = game.request("inspect", &plies);
        request["want"] = json!(["to_move", "outcome", "legal", "chance", "text"]);
        let mut said = talk.ask(request)?;
        if said["to_move"] == "chance" && said["outcome"].is_null() {
            plies.push(draw(&said["chance"])?);
            continue;
        }
        let legal = match said["legal"].take() {
            Value::Array(legal) if said["outcome"].is_null() => legal,
            _ => Vec::new(),
        };
        let drawn = plies.split_off(given);
        let [to_move, outcome, text] = ["to_move", "outcome", "text"].map(|field| said[field].take());
        return Ok(Standing { drawn, to_move, outcome, text, legal });
    }
}

/// One of the outcomes of chance, each as often as its probability says.
fn draw(outcomes: &Value) -> Result<String, ToolError> {
    let outcomes = Vec::<ChanceInfo>::deserialize(outcomes).map_err(|error| internal(error.to_string()))?;
    let seed = getrandom::u64().map_err(|error| internal(error.to_string()))?;
    let probabilities: Vec<u32> = outcomes.iter().map(|outcome| outcome.ppm).collect();
    let drawn = SplitMix64::new(seed).outcome(&probabilities);
    drawn.map(|index| outcomes[index].mv.clone()).ok_or_else(|| internal("chance has no outcome"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_draws_what_is_possible() {
        let outcomes = json!([{"move": "~a", "ppm": 0}, {"move": "~b", "ppm": 1_000_000}]);
        for _ in 0..100 {
            assert_eq!(draw(&outcomes).unwrap(), "~b");
        }
        assert!(draw(&json!([])).is_err());
    }
}
