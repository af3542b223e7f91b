//! Plays one game of Knight Isolation on 7x7 and prints its moves: `cargo run -- SERVER [TOKEN-FILE]`. The
//! server is a program, `plyd` if none is named, or the address of one that runs: `tcp://HOST:PORT`,
//! `ws://HOST:PORT` or `unix=PATH`; with `--features tls` also `tls://HOST:PORT` and `wss://HOST:PORT`.

mod client;

use client::{Client, Error};
use plyd_protocol::client::LineError;
use plyd_protocol::{Clock, Command, GameRef, Go, Inspect, NewGame, Outcome, Position, ResultBody, Want};

const SESSION: &str = "game";
const MOVE_MS: i64 = 50;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let place = client::place(&arguments.next().unwrap_or_else(|| String::from("plyd")))?;
    let token = arguments.next().map(std::fs::read_to_string).transpose().map_err(LineError::Connect)?;
    let mut client = Client::open(&place, token.map(|token| token.trim().to_owned()))?;
    client.ask(Command::NewGame(NewGame {
        session: SESSION.into(),
        game: "isolation".into(),
        ..NewGame::default()
    }))?;
    let mut moves = Vec::new();
    loop {
        if let Some(outcome) = outcome(&mut client, &moves)? {
            println!("{} after {} moves, by: {}", winner(&outcome), moves.len(), outcome.by);
            return Ok(());
        }
        let clock = Some(Clock::PerMove { ms: MOVE_MS });
        let mut better = 0;
        let best = client.search(Go { clock, ..Go::new(session(), position(&moves)) }, |_| better += 1)?;
        println!("{:>3}. {} ({:?}, improved {better} times)", moves.len() + 1, best.mv, best.reason);
        moves.push(best.mv);
    }
}

fn outcome(client: &mut Client, moves: &[String]) -> Result<Option<Outcome>, Error> {
    let inspect = Inspect { game: session(), position: position(moves), want: Want::usual() };
    match client.ask(Command::Inspect(inspect))? {
        ResultBody::Inspect(result) => Ok(result.outcome.flatten()),
        _ => Err(Error::Unasked),
    }
}

fn session() -> GameRef {
    GameRef::Session { session: SESSION.into() }
}

fn position(moves: &[String]) -> Position {
    Position { start: None, moves: moves.to_vec() }
}

fn winner(outcome: &Outcome) -> String {
    outcome.winner.map_or_else(|| String::from("a draw"), |player| format!("{player:?} wins"))
}
