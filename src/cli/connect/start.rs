//! The bot before it dials: its processes are started, and what would cost it its games is found, since a
//! ladder disables a bot that forfeits a few.

use std::rc::Rc;
use std::time::{Duration, Instant};

use plyd_protocol::{ClientInfo, Offer, OfferedGame};
use serde_json::{Value, json};

use super::answer::Object;
use super::lane::{Bot, Lane};
use crate::cli::failure::Failure;

/// How long a bot may take to start before it is offered all the same.
const START: Duration = Duration::from_secs(10);
/// How long one that has answered may take to open its games, before it is offered all the same.
const OPEN: Duration = Duration::from_secs(60);

/// Starts a process of the bot for each game at once, and completes the offer by what the bot says it is.
///
/// # Errors
/// The bot does not start, has ended already, or refuses its options or a game that is offered.
pub(super) fn start(bot: &Rc<Bot>, offer: &mut Offer) -> Result<Vec<Lane>, Failure> {
    let lanes = (0..offer.concurrency).map(|_| Lane::start(bot)).collect::<Result<Vec<_>, _>>();
    let mut lanes = lanes.map_err(|error| Failure::Failed(error.to_string()))?;
    let deadline = Instant::now() + START;
    for lane in &mut lanes {
        lane.settle(deadline).map_err(|why| {
            Failure::Failed(format!(
                "the bot cannot play: {why}; it must keep running and answer each line that it reads"
            ))
        })?;
    }
    if let Some(first) = lanes.first_mut().filter(|first| first.has_sessions()) {
        try_games(first, bot, &offer.games, Instant::now() + OPEN)?;
    }
    offer.engine = lanes.iter_mut().find_map(|lane| lane.engine.take()).map(|engine| {
        let text = |field| engine.get(field).and_then(Value::as_str).map(str::to_owned);
        ClientInfo { name: text("name"), version: text("version") }
    });
    Ok(lanes)
}

/// Opens each game that is offered, with the bot's options; all that it has if it has options and offers all.
///
/// # Errors
/// What the bot has against one of them.
fn try_games(lane: &mut Lane, bot: &Bot, offered: &[OfferedGame], deadline: Instant) -> Result<(), Failure> {
    let mut games = Vec::new();
    for game in offered {
        games.extend(game.presets.iter().map(|preset| (game.game.clone(), Some(preset))));
        if game.presets.is_empty() {
            games.push((game.game.clone(), None));
        }
    }
    if offered.is_empty() && !bot.options.is_empty() {
        games.extend(known(lane, deadline).into_iter().map(|game| (game, None)));
    }
    for (game, preset) in games {
        let mut opened = Object::new();
        opened.insert("game".into(), json!(game));
        opened.extend(preset.map(|preset| ("rules".to_owned(), json!({ "preset": preset }))));
        let Some(answer) = lane.ask(lane.newgame(&opened), deadline) else { return Ok(()) };
        let text = |field| answer.get(field).and_then(Value::as_str);
        // An error that names nothing of the request is of the bot's state, and may pass.
        let (Some("error"), Some(place)) = (text("type"), text("pointer")) else { continue };
        let mut why = format!("the bot refuses {game} at {place}: {}", text("message").unwrap_or_default());
        if offered.is_empty() {
            why.push_str("; name the games that it shall play by --game");
        }
        return Err(Failure::Failed(why));
    }
    Ok(())
}

/// The games that the bot says it has.
fn known(lane: &mut Lane, deadline: Instant) -> Vec<String> {
    let Value::Object(question) = json!({ "cmd": "describe", "what": "games" }) else { return Vec::new() };
    let answer = lane.ask(question, deadline).unwrap_or_default();
    let body = answer.get("body").and_then(Value::as_array);
    let names = body.into_iter().flatten().filter_map(|game| Some(game.get("name")?.as_str()?.to_owned()));
    names.collect()
}
