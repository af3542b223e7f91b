//! The tools as agents see them: names, what they do, and their arguments as JSON Schema.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::bounds::Bounds;

/// What a tool does to games.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    Adds,
    Ends,
}

/// The tools, in the order in which one needs them.
pub(crate) fn tools(bounds: &Bounds) -> Vec<Tool> {
    use Effect::{Adds, Ends, Reads};
    let game_id = json!({ "type": "string", "description": "The game_id that new_game returned" });
    let name = json!({ "type": "string", "description": "The name of a game, from list_games" });
    let texts = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    let limit = json!({
        "type": "object",
        "description": "What ends the search; the first that is reached. Without it: the usual time",
        "properties": {
            "time_ms": { "type": "integer", "minimum": 0, "maximum": bounds.search_ms() },
            "nodes": { "type": "integer", "minimum": 1 },
            "depth": { "type": "integer", "minimum": 1, "maximum": 1000 },
        },
        "additionalProperties": false,
    });
    let level = json!({ "type": "integer", "minimum": 1, "description": "Strength, 1 for a beginner; without it the strongest" });
    let count = |what: &str| json!({ "type": "integer", "minimum": 1, "maximum": bounds.listed, "description": what });
    vec![
        tool("list_games", Reads, "List the games: their names and what they are.", &[], json!({})),
        tool(
            "describe_game",
            Reads,
            "Describe one game: its rules' settings, how positions and moves are written, how a game can end, levels.",
            &["game"],
            json!({ "game": name }),
        ),
        tool(
            "new_game",
            Adds,
            "Begin a game and keep it under a game_id. Both sides are yours to move: p1 and p2. Where a game has \
             chance, chance moves by itself. Give start and moves to continue a position or a record.",
            &["game"],
            json!({
                "game": name,
                "rules": { "type": "object", "description": "Settings of the rules, from describe_game; others keep their defaults" },
                "seed": { "type": "string", "pattern": "^[0-9a-f]{1,16}$", "description": "Seed of what the rules draw, such as a start: up to 16 hexadecimal digits" },
                "start": { "type": "string", "description": "A position's text instead of the initial one" },
                "moves": texts("Plies played since, in order"),
            }),
        ),
        tool(
            "legal_moves",
            Reads,
            "List the legal moves of the side to move, as make_move takes them.",
            &["game_id"],
            json!({
                "game_id": game_id,
                "offset": { "type": "integer", "minimum": 0, "description": "How many to skip" },
                "most": count("How many to list"),
            }),
        ),
        tool(
            "make_move",
            Adds,
            "Make a move for the side to move; says how the game stands after it, and the outcome if it is over.",
            &["game_id", "move"],
            json!({ "game_id": game_id, "move": { "type": "string", "description": "One of legal_moves" } }),
        ),
        tool(
            "best_move",
            Reads,
            "Search for the best move of the side to move; does not make it. Scores are from its view.",
            &["game_id"],
            json!({ "game_id": game_id, "limit": limit, "level": level }),
        ),
        tool(
            "analyse",
            Reads,
            "Search the position for several best moves, each with its line, its score in thousandths from the mover's \
             view, and a proof where the result is certain.",
            &["game_id"],
            json!({ "game_id": game_id, "limit": limit, "lines": count("How many lines; 3 without it") }),
        ),
        tool(
            "review_game",
            Reads,
            "Review all moves of a game: what each kept and what it gave away, by proofs where there are some and by \
             estimates elsewhere, with the better move where there was one.",
            &["game_id"],
            json!({
                "game_id": game_id,
                "time_ms": { "type": "integer", "minimum": 1, "maximum": bounds.search_ms(), "description": "Time for the whole game; the maximum without it" },
            }),
        ),
        tool(
            "draw_board",
            Reads,
            "Draw the board with its last move: as text, as a picture (PNG), or as both.",
            &["game_id"],
            json!({ "game_id": game_id, "as": { "enum": ["text", "image", "both"], "description": "both without it" } }),
        ),
        tool(
            "end_game",
            Ends,
            "Forget a game, and make room for another.",
            &["game_id"],
            json!({ "game_id": game_id }),
        ),
    ]
}

fn tool(
    name: &'static str,
    effect: Effect,
    about: &'static str,
    required: &[&str],
    arguments: Value,
) -> Tool {
    let schema = json!({
        "type": "object", "properties": arguments, "required": required, "additionalProperties": false,
    });
    let schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    let reads = matches!(effect, Effect::Reads);
    let hints = ToolAnnotations::from_raw(
        None,
        Some(reads),
        Some(matches!(effect, Effect::Ends)),
        Some(reads),
        Some(false),
    );
    Tool::new(name, about, Arc::new(schema)).with_annotations(hints)
}
