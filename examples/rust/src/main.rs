//! Plays one game of Knight Isolation on 7x7 and prints its moves: `cargo run -- SERVER [TOKEN-FILE]`. The
//! server is a program, `plyd` if none is named, or the address of one that runs: `tcp://HOST:PORT`,
//! `ws://HOST:PORT` or `unix=PATH`; with `--features tls` also `tls://HOST:PORT` and `wss://HOST:PORT`.

use std::error::Error;
use std::time::Duration;

use plyd_client::blocking::Engine;
use plyd_client::{Address, Limit, greeting};
use plyd_protocol::{Hello, NewGame, Outcome, Want};

const PER_MOVE: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let server = arguments.next().unwrap_or_else(|| String::from("plyd"));
    let is_address = server.contains('=') || server.contains("://");
    let address = if is_address { Address::read(&server)? } else { Address::program(server) };
    let token = arguments.next().map(std::fs::read_to_string).transpose()?;
    let token = token.map(|token| token.trim().to_owned());
    let mut plyd = Engine::open_with(&address, Hello { token, ..greeting() })?;
    let mut game = plyd.new_game(NewGame { game: "isolation".into(), ..NewGame::default() })?;
    loop {
        if let Some(outcome) = plyd.inspect(&game, &[Want::Outcome])?.outcome.flatten() {
            println!("{} after {} moves, by: {}", winner(&outcome), game.moves().len(), outcome.by);
            return Ok(plyd.close()?);
        }
        let mut search = plyd.go(&game, &Limit::per_move(PER_MOVE))?;
        let mut better = 0;
        for info in &mut search {
            info?;
            better += 1;
        }
        let best = search.best()?;
        println!("{:>3}. {} ({:?}, improved {better} times)", game.moves().len() + 1, best.mv, best.reason);
        game.push(best.mv);
    }
}

fn winner(outcome: &Outcome) -> String {
    outcome.winner.map_or_else(|| String::from("a draw"), |player| format!("{player:?} wins"))
}
