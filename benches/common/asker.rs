//! A client that keeps eight slow questions about Sudoku boards in flight, each in a session of its own:
//! questions of one session are worked on one after the other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plyd_protocol::{Command, GameRef, Inspect, NewGame, Position, Settings, Want};

use crate::server::{Outcome, Peer};

/// The questions that are in flight.
pub(crate) const QUESTIONS: usize = 8;

/// What is asked.
pub(crate) struct Question {
    pub(crate) position: Position,
    pub(crate) want: Want,
}

/// Asks until it is to go; gives how many questions it asked and how many of them were answered.
pub(crate) fn ask(
    mut peer: Peer,
    gone: &AtomicBool,
    mut question: impl FnMut() -> Question,
) -> Outcome<(usize, usize)> {
    let mut ask = |peer: &mut Peer, session: String| {
        let Question { position, want } = question();
        let game = GameRef::Session { session };
        peer.send(Command::Inspect(Inspect { game, position, want: vec![want], draft: None }))
    };
    let mut sessions = HashMap::new();
    for number in 0..QUESTIONS {
        let session = format!("asker-{number}");
        let rules = Settings::from_iter([("m", 5), ("n", 5)]);
        let new = NewGame { session: session.clone(), game: "sudoku".into(), rules, ..NewGame::default() };
        peer.ask(Command::NewGame(new))?;
        sessions.insert(ask(&mut peer, session.clone())?, session);
    }
    let (mut asked, mut answered) = (QUESTIONS, 0);
    while !gone.load(Ordering::Relaxed) {
        let deadline = Instant::now() + Duration::from_millis(50);
        let Ok(ended) = peer.client.wait_for(deadline, plyd::client::is_final) else {
            continue;
        };
        let id = plyd::client::message_id(&ended.envelope.message).unwrap_or_default();
        let session = sessions.remove(id).ok_or("an answer to no question")?;
        answered += 1;
        sessions.insert(ask(&mut peer, session.clone())?, session);
        asked += 1;
    }
    Ok((asked, answered))
}
