//! Prompts: what a person picks to play or to analyse.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role,
};

/// The prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str, about: &str, is_required| {
        PromptArgument::new(name).with_description(about).with_required(is_required)
    };
    vec![
        Prompt::new(
            "play",
            Some("Play a game against me"),
            Some(vec![
                argument("game", "The game's name, such as isolation", true),
                argument("side", "Which side I take: p1 (moves first) or p2", false),
                argument("level", "How strong my opponent is, 1 for a beginner", false),
            ]),
        ),
        Prompt::new(
            "analyse",
            Some("Analyse a game that was played"),
            Some(vec![
                argument("game", "The game's name, such as isolation", true),
                argument("moves", "The moves in order, separated by blanks", true),
            ]),
        ),
    ]
}

/// One prompt with its arguments filled in.
///
/// # Errors
/// There is no such prompt, or an argument is missing.
pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let arguments = request.arguments.as_ref();
    let text = match request.name.as_str() {
        "play" => {
            let side = given(arguments, "side").unwrap_or_else(|| "p1".to_owned());
            let level =
                given(arguments, "level").map(|level| format!(" with level {level}")).unwrap_or_default();
            format!(
                "Let us play {game}; I take {side}. Read describe_game for it, begin with new_game, and draw the board \
                 after each move. When it is my turn, ask me for my move and make it with make_move; explain a refusal \
                 and ask again. When it is the other side's turn, take best_move{level} and make that move. At the end \
                 say who won and why, and offer review_game.",
                game = needed(arguments, "game")?,
            )
        }
        "analyse" => format!(
            "Analyse this game of {game}: {moves}\nEnter it by new_game with its moves, then use review_game. Show the \
             board where the game turned (new_game with fewer moves, draw_board and analyse there), tell proofs from \
             estimates, and sum up what each side should learn.",
            game = needed(arguments, "game")?,
            moves = needed(arguments, "moves")?,
        ),
        _ => return Err(ErrorData::invalid_params("there is no such prompt; prompts/list lists them", None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn given(arguments: Option<&JsonObject>, name: &str) -> Option<String> {
    Some(arguments?.get(name)?.as_str()?.to_owned())
}

fn needed(arguments: Option<&JsonObject>, name: &str) -> Result<String, ErrorData> {
    let missing = || ErrorData::invalid_params(format!("the prompt needs the argument `{name}`"), None);
    given(arguments, name).ok_or_else(missing)
}
