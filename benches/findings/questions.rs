//! Questions about Sudoku boards that take long to solve: what they cost others, and what they cost a `go`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::Received;
use plyd_protocol::{
    Clock, Command, Describe, DescribeWhat, GameRef, Go, Inspect, Message, Mode, NewGame, Position, Settings,
    Want,
};

use crate::asker::{QUESTIONS, Question, ask};
use crate::boards::{Board, SLOW};
use crate::finding::{Figure, Finding, LOST, figure, stdio, tcp, words};
use crate::markdown::ms;
use crate::samples::Samples;
use crate::server::{Outcome, Peer, Server};

/// Slow questions of one client, and what others get meanwhile.
pub(crate) const SHARED_WORKERS: Finding = Finding {
    lines: &[
        ("eight slow Sudoku questions of one client: another one's `go` of 100 ms", "twice the median alone"),
        ("the same: `describe`", "twice the median alone, or 1 ms"),
        ("the same: `stop` to its `bestmove`", "twice the median alone, or 1 ms"),
        ("the same: CPU time in the 2nd second after the asker left", "none"),
        ("the same eight questions on stdio, then the end of the input: the process ends", "after 11 s"),
    ],
    measure: shared_workers,
};

/// A short `go` behind a move that takes long to judge.
pub(crate) const CLOCK: Finding = Finding {
    lines: &[("`go` of 50 ms after one move on six slow Sudoku boards", "100 ms")],
    measure: clock,
};

/// Boards of the short `go`.
const BOARDS: usize = 6;
/// How long a process may work on after the end of its input: the 10 s that questions have then, and one
/// more.
const END: Duration = Duration::from_secs(11);
/// Answers of each kind that are waited for.
const ROUNDS: usize = 12;
/// Between two of them, so that they are spread over a second.
const PAUSE: Duration = Duration::from_millis(80);

/// Asks, and gives the id of the answer and when it was asked for.
type Ask = fn(&mut Peer) -> Outcome<(Instant, String)>;

/// How the answers came: their times, and whether one did not come in time.
struct Answers {
    times: Samples,
    is_lost: bool,
}

fn shared_workers(build: &Path) -> Outcome<Vec<Figure>> {
    let server = tcp(build, &[])?;
    let alone = answers(&server)?;
    let gone = AtomicBool::new(false);
    let (beside, idle) = thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut seeds = SLOW.iter().cycle();
            ask(server.connect()?, &gone, || {
                let seed = seeds.next().expect("it has no end");
                Question { position: position(*seed), want: Want::Moves }
            })
        });
        thread::sleep(Duration::from_secs(1));
        // What fails here must not leave the asker waiting.
        let beside = answers(&server);
        gone.store(true, Ordering::Relaxed);
        asker.join().map_err(|_| "the asker's thread panicked")??;
        thread::sleep(Duration::from_secs(1));
        let before = server.cpu()?;
        thread::sleep(Duration::from_secs(1));
        Outcome::Ok((beside?, server.cpu()? - before))
    })?;
    let mut figures: Vec<Figure> =
        alone.iter().zip(&beside).zip([0, 1000, 1000]).map(|((a, b), least)| compare(a, b, least)).collect();
    figures.push(figure(format!("{} ms", idle.as_millis()), idle.is_zero()));
    figures.push(end_of_input(build)?);
    Ok(figures)
}

/// How long a process works on that was asked such questions by its standard input, which ended then.
fn end_of_input(build: &Path) -> Outcome<Figure> {
    let mut client = stdio(build, &[])?;
    let session = |number: usize| format!("asker-{number}");
    for number in 0..QUESTIONS {
        let rules = Settings::from_iter([("m", 5), ("n", 5)]);
        let session = session(number);
        let new = NewGame { session, game: "sudoku".into(), rules, ..NewGame::default() };
        let (id, at) = client.request(Command::NewGame(new))?;
        client.wait_final(&id, at + LOST)?;
    }
    for (number, seed) in SLOW.iter().enumerate().take(QUESTIONS) {
        let game = GameRef::Session { session: session(number) };
        let (position, want) = (position(*seed), vec![Want::Moves]);
        client.request(Command::Inspect(Inspect { game, position, want, draft: None }))?;
    }
    client.finish_input();
    let ended = Instant::now();
    Ok(match client.wait_exit(ended + END)? {
        Some(status) => {
            let text = format!("after {:.1} s, {}", ended.elapsed().as_secs_f64(), words(status));
            figure(text, status.success())
        }
        None => figure(format!("not in {} s", END.as_secs()), false),
    })
}

fn compare(alone: &Answers, beside: &Answers, least: i64) -> Figure {
    let Some(alone) = alone.times.percentiles().filter(|_| !alone.is_lost).map(|it| it.p50) else {
        return figure("no answer even alone", false);
    };
    let baseline = format!("alone {} ms", ms(Some(alone)));
    match (beside.is_lost, beside.times.percentiles()) {
        (false, Some(it)) => {
            let text = format!("{} ms, {} at most ({baseline})", ms(Some(it.p50)), ms(Some(it.max)));
            figure(text, it.p50 <= least.max(2 * alone))
        }
        _ => figure(format!("none in {} s ({baseline})", LOST.as_secs()), false),
    }
}

/// All kinds at once, each on a connection of its own.
fn answers(server: &Server) -> Outcome<Vec<Answers>> {
    let kinds: [fn(&Server) -> Outcome<Answers>; 3] = [
        |server| {
            rounds(server, |peer| {
                Ok((Instant::now(), peer.go(|go| (go.clock, go.hard_ms) = (per_move(100), Some(100)))?))
            })
        },
        |server| {
            rounds(server, |peer| {
                let describe = Describe { what: DescribeWhat::Games, game: None };
                Ok((Instant::now(), peer.send(Command::Describe(describe))?))
            })
        },
        |server| {
            rounds(server, |peer| {
                let go = peer.go(|go| go.mode = Mode::Analyse)?;
                thread::sleep(Duration::from_millis(50));
                let stopped = Instant::now();
                peer.stop(&go)?;
                Ok((stopped, go))
            })
        },
    ];
    thread::scope(|scope| {
        let threads = kinds.map(|kind| scope.spawn(move || kind(server)));
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a client's thread panicked")?).collect()
    })
}

/// Asks and waits, some times or until an answer does not come.
fn rounds(server: &Server, ask: Ask) -> Outcome<Answers> {
    let mut answers = Answers { times: Samples::default(), is_lost: false };
    let mut peer = server.connect()?;
    let session = crate::server::SESSION.to_owned();
    let rules = Settings::from_iter([("preset", "11x9")]);
    let new = NewGame { session, game: "isolation".into(), rules, ..NewGame::default() };
    let id = peer.send(Command::NewGame(new))?;
    let mut is_open = peer.wait_for(&id, LOST).is_ok();
    while is_open && answers.times.len() < ROUNDS {
        let (asked, id) = ask(&mut peer)?;
        match peer.wait_for(&id, LOST) {
            Ok(answer) => {
                let Received { at, envelope } = answer.last;
                if let Message::Error(error) = envelope.message {
                    return Err(error.message.into());
                }
                answers.times.add(asked, at);
            }
            Err(_) => is_open = false,
        }
        thread::sleep(PAUSE);
    }
    answers.is_lost = !is_open;
    Ok(answers)
}

fn per_move(ms: i64) -> Option<Clock> {
    Some(Clock::PerMove { ms })
}

/// A start that is soon solved, and a move that is not soon judged.
fn position(seed: u64) -> Position {
    let board = Board::new(seed);
    Position { start: Some(board.start()), moves: vec![board.mv()] }
}

fn clock(build: &Path) -> Outcome<Vec<Figure>> {
    let server = tcp(build, &[])?;
    let mut times = Samples::default();
    for seed in &SLOW[..BOARDS] {
        let mut peer = server.connect()?;
        let game = GameRef::Game { game: "sudoku".into(), rules: Settings::default() };
        let mut go = Go::new(game, position(*seed));
        go.clock = per_move(50);
        let sent = Instant::now();
        let id = peer.send(Command::Go(Box::new(go)))?;
        // What is not answered keeps its thread, and would be in the way of those behind it.
        let Ok(answer) = peer.wait_for(&id, LOST) else { break };
        match answer.last.envelope.message {
            Message::BestMove(_) => times.add(sent, answer.last.at),
            other => return Err(other.to_body().into()),
        }
    }
    let answered = times.len();
    let most = times.percentiles().map(|it| it.max);
    Ok(vec![if answered == BOARDS {
        let p50 = times.percentiles().map(|it| it.p50);
        figure(format!("{} ms, {} at most", ms(p50), ms(most)), most.is_some_and(|most| most <= 100_000))
    } else {
        let before = if answered > 0 {
            format!("{} ms at most on {answered}, then ", ms(most))
        } else {
            String::new()
        };
        figure(format!("{before}none in {} s", LOST.as_secs()), false)
    }])
}
