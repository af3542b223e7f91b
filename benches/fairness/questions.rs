//! A client that keeps eight slow questions in flight, beside one that searches, asks and stops; and the CPU
//! time that is used once the asker is gone.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::ClientError;
use plyd::zobrist::SplitMix64;
use plyd_protocol::{
    Clock, Command, Describe, DescribeWhat, Message, Mode, NewGame, Position, Settings, Want,
};

use crate::Promises;
use crate::asker::{Question, ask};
use crate::boards;
use crate::control::Control;
use crate::markdown::{Table, ms};
use crate::samples::Samples;
use crate::server::{Outcome, Peer, Server};

/// How long an answer is waited for.
const LOST: Duration = Duration::from_secs(5);
/// After so many answers that did not come in that time no more are asked for.
const ENOUGH: usize = 3;

/// What is measured of the other client.
const KINDS: [(&str, Measure); 3] = [("`go` of 20 ms", go), ("`describe`", describe), ("`stop`", stop)];

/// Asks once, and notes in the samples how long it took and in the control's that it did; false where no
/// answer came.
type Measure = fn(&mut Peer, &mut Control, &mut SplitMix64, &mut Samples) -> Outcome<bool>;

/// A row: one kind of request in one phase.
#[derive(Default)]
struct Row {
    times: Samples,
    control: Samples,
    lost: usize,
}

/// Measures alone, beside the questions, and after them, on one daemon.
pub(crate) fn measure(daemon: &Path, time: Duration, seed: u64) -> Outcome<(Table, Promises)> {
    let server = Server::start(daemon, &[])?;
    let each = time / KINDS.len() as u32;
    let alone = rows(&server, each)?;
    let gone = AtomicBool::new(false);
    let (beside, asked, idle) = thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut random = SplitMix64::new(seed);
            let position = |random: &mut _| Position { start: Some(boards::slow(random)), moves: Vec::new() };
            ask(server.connect()?, &gone, || Question { position: position(&mut random), want: Want::Legal })
        });
        thread::sleep(Duration::from_secs(1));
        let beside = rows(&server, each);
        gone.store(true, Ordering::Relaxed);
        let asked = asker.join().map_err(|_| "the asker's thread panicked")?;
        // Its connection was closed when its thread ended.
        thread::sleep(Duration::from_secs(1));
        let before = server.cpu()?;
        thread::sleep(Duration::from_secs(1));
        Outcome::Ok((beside?, asked?, server.cpu()? - before))
    })?;

    let mut table = Table::new([
        "another client's",
        "n alone",
        "p50, ms",
        "p99",
        "control p99",
        "n beside",
        "p50, ms",
        "p99",
        "control p99",
        "without answer",
    ]);
    let mut promises = Promises::new();
    for ((name, _), (alone, beside)) in KINDS.iter().zip(alone.iter().zip(&beside)) {
        let mut cells = vec![(*name).to_owned()];
        for row in [alone, beside] {
            let times = row.times.percentiles();
            cells.push(row.times.len().to_string());
            cells.push(ms(times.map(|it| it.p50)));
            cells.push(ms(times.map(|it| it.p99)));
            cells.push(ms(row.control.percentiles().map(|it| it.p99)));
        }
        cells.push(beside.lost.to_string());
        table.row(cells);
        let figures = (alone.times.percentiles(), beside.times.percentiles(), beside.control.percentiles());
        let (Some(alone), Some(times), Some(control)) = figures else {
            promises.add(&format!("{name} is answered"), "no answer".to_owned(), false);
            continue;
        };
        let ratio = times.p50 as f64 / alone.p50.max(1) as f64;
        let promise = format!("{name} at p50 within twice the time alone");
        promises.add(&promise, format!("{ratio:.2}"), ratio <= 2.0 && beside.lost == 0);
        let later = times.p99 - alone.p99;
        let promise = format!("{name} at p99 later than alone by twice the control's p99 at most");
        let measured = format!("{} ms (control {})", ms(Some(later)), ms(Some(control.p99)));
        promises.add(&promise, measured, later <= 2 * control.p99 && beside.lost == 0);
    }
    promises.add(
        "no CPU time from 1 s to 2 s after the asker left",
        format!("{} ms", idle.as_millis()),
        idle.is_zero(),
    );
    promises.add("questions asked, answered meanwhile", format!("{}, {}", asked.0, asked.1), true);
    Ok((table, promises))
}

/// Measures each kind for so long.
fn rows(server: &Server, each: Duration) -> Outcome<Vec<Row>> {
    let mut random = SplitMix64::new(7);
    let mut rows = Vec::new();
    for (_, measure) in KINDS {
        let mut control = Control::start();
        let mut row = Row::default();
        let mut peer = None;
        let end = Instant::now() + each;
        while Instant::now() < end && row.lost < ENOUGH {
            if peer.is_none() {
                peer = player(server)?;
            }
            let is_answered = match &mut peer {
                Some(peer) => measure(peer, &mut control, &mut random, &mut row.times)?,
                None => false,
            };
            if !is_answered {
                row.lost += 1;
                peer = None;
            }
        }
        row.control = control.take();
        rows.push(row);
    }
    Ok(rows)
}

/// A connection with a session; none where opening it takes too long.
fn player(server: &Server) -> Outcome<Option<Peer>> {
    let mut peer = server.connect()?;
    let new = NewGame {
        session: crate::server::SESSION.into(),
        game: "isolation".into(),
        rules: Settings::from_iter([("preset", "11x9")]),
        ..NewGame::default()
    };
    let id = peer.send(Command::NewGame(new))?;
    Ok(arrival(&mut peer, &id)?.is_some().then_some(peer))
}

/// When the final message came, which is to be no error; none where it did not come in time.
fn arrival(peer: &mut Peer, id: &str) -> Outcome<Option<Instant>> {
    match peer.wait_for(id, LOST) {
        Ok(answer) => match answer.last.envelope.message {
            Message::Error(error) => Err(format!("{}: {}", id, error.message).into()),
            _ => Ok(Some(answer.last.at)),
        },
        Err(ClientError::Line(plyd::client::LineError::TimedOut)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Waits 1 to 4 ms, as the control does.
fn wait(control: &mut Control, random: &mut SplitMix64) {
    let due = Instant::now() + Duration::from_micros(1000 + random.below(3000) as u64);
    control.sleep_to(due);
    thread::sleep(due.saturating_duration_since(Instant::now()));
}

fn go(peer: &mut Peer, control: &mut Control, random: &mut SplitMix64, times: &mut Samples) -> Outcome<bool> {
    wait(control, random);
    let sent = Instant::now();
    let id = peer.go(|go| (go.clock, go.hard_ms) = (Some(Clock::PerMove { ms: 20 }), Some(20)))?;
    let at = arrival(peer, &id)?;
    at.into_iter().for_each(|at| times.add(sent, at));
    Ok(at.is_some())
}

fn describe(
    peer: &mut Peer,
    control: &mut Control,
    random: &mut SplitMix64,
    times: &mut Samples,
) -> Outcome<bool> {
    wait(control, random);
    let sent = Instant::now();
    let id = peer.send(Command::Describe(Describe { what: DescribeWhat::Games, game: None }))?;
    let at = arrival(peer, &id)?;
    at.into_iter().for_each(|at| times.add(sent, at));
    Ok(at.is_some())
}

fn stop(
    peer: &mut Peer,
    control: &mut Control,
    random: &mut SplitMix64,
    times: &mut Samples,
) -> Outcome<bool> {
    let id = peer.go(|go| go.mode = Mode::Analyse)?;
    wait(control, random);
    let sent = Instant::now();
    let stop = peer.stop(&id)?;
    let at = arrival(peer, &id)?;
    at.into_iter().for_each(|at| times.add(sent, at));
    Ok(at.is_some() && arrival(peer, &stop)?.is_some())
}
