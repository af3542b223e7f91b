//! What an operator plans with: the memory of a session of each game, and the moves that a core finds in a
//! second.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use plyd_protocol::{Command, NewGame};

use crate::control::Control;
use crate::markdown::{Table, ms};
use crate::server::{Outcome, Peer, SESSION, Server};
use crate::{Args, GAME, RULES, Row, cores};

/// Players for each core, one after another.
const CROWDS: [usize; 5] = [1, 2, 4, 8, 16];

/// Measures both and prints them.
pub(crate) fn print(args: &Args) -> Outcome<()> {
    let mut memory = Table::new(["a session of", "KiB when opened", "KiB after a move"]);
    for game in Server::start(&args.daemon, &[])?.connect()?.games {
        let [opened, searched] = session(&game, args)?;
        memory.row([game, format!("{opened:.1}"), format!("{searched:.1}")]);
    }
    let mut moves = Table::new([
        "players a core",
        "moves a second a core",
        "nodes a move",
        "past their time, p50, ms",
        "p99",
        "control p99",
        "late",
        "depth 0",
        "`overloaded`",
        "no move",
    ]);
    for players in CROWDS {
        let row = busy(players * cores(), args)?;
        let (times, control) = (row.times.percentiles(), row.control.percentiles());
        let answers = row.times.len();
        let rate = answers as f64 / (args.seconds as f64 * cores() as f64);
        moves.row([
            players.to_string(),
            format!("{rate:.1}"),
            (row.nodes / answers.max(1) as u64).to_string(),
            ms(times.map(|it| it.p50)),
            ms(times.map(|it| it.p99)),
            ms(control.map(|it| it.p99)),
            row.times.late().to_string(),
            row.shallow.to_string(),
            row.overloaded.to_string(),
            row.refused.to_string(),
        ]);
    }
    Ok(writeln!(
        io::stdout(),
        "{} on {} cores: {} sessions of each game with the default options, moves of {} ms\n\n{}\n{}",
        args.daemon.display(),
        cores(),
        args.sessions,
        args.move_ms,
        memory.into_text(),
        moves.into_text()
    )?)
}

/// The KiB of a session of that game, when it is opened and after its first move.
fn session(game: &str, args: &Args) -> Outcome<[f64; 2]> {
    let server = Server::start(&args.daemon, &[])?;
    // The connections are there before, so that they do not count.
    let mut peers = (0..args.sessions).map(|_| server.connect()).collect::<Outcome<Vec<Peer>>>()?;
    let before = server.proc_status("VmRSS:")?;
    let each = || -> Outcome<f64> {
        Ok(server.proc_status("VmRSS:")?.saturating_sub(before) as f64 / f64::from(args.sessions.max(1)))
    };
    for peer in &mut peers {
        let (session, game) = (SESSION.to_owned(), game.to_owned());
        peer.ask(Command::NewGame(NewGame { session, game, ..NewGame::default() }))?;
    }
    let opened = each()?;
    // One after another, so that each has a core for its time.
    for peer in &mut peers {
        Row::default().ask(peer, Instant::now() + Duration::from_millis(args.move_ms))?;
    }
    Ok([opened, each()?])
}

/// Lets so many players ask for one move after another.
fn busy(players: usize, args: &Args) -> Outcome<Row> {
    let server = Server::start(&args.daemon, &[])?;
    let (end, time) =
        (Instant::now() + Duration::from_secs(args.seconds), Duration::from_millis(args.move_ms));
    thread::scope(|scope| {
        let players: Vec<_> = (0..players)
            .map(|_| {
                scope.spawn(|| -> Outcome<Row> {
                    let (mut peer, mut row) = (server.connect()?, Row::default());
                    peer.open(GAME, plyd_protocol::Settings::from_iter([RULES]))?;
                    let mut control = Control::start();
                    while Instant::now() < end {
                        let due = Instant::now() + time;
                        control.sleep_to(due);
                        row.ask(&mut peer, due)?;
                    }
                    row.control = control.take();
                    Ok(row)
                })
            })
            .collect();
        let mut all = Row::default();
        for player in players {
            all.add(player.join().map_err(|_| "a player's thread panicked")??);
        }
        Ok(all)
    })
}
