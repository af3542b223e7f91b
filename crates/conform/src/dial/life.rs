//! What a bot that dials promises about its connections: when it comes back, when it stays away, and how it
//! leaves.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::ladder::{Ladder, Waited};
use super::visit::{HEARTBEAT_MS, Visit};
use crate::trial::Trial;
use crate::verdict::{Checked, Stop, Verdict, holds};

/// The pauses before the first dials again, each shortened by half at most.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How much longer a pause may be without a warning; a busy machine makes it longer.
const LATE: Duration = Duration::from_millis(500);
/// A pause fails if it is longer than this many times its length plus this time.
const FAR_TOO_LATE: (u32, Duration) = (3, Duration::from_secs(10));
/// The programs that lose their ladders at the same instant.
const TOGETHER: usize = 4;
/// Programs that come back within this time of each other, each time, do not choose their pauses at random.
const CLOSE: Duration = Duration::from_millis(100);
/// How long a program that was refused must not dial: longer than its first pause.
const AWAY: Duration = Duration::from_secs(3);
/// The pause that a ladder asks for.
const RETRY: Duration = Duration::from_secs(2);
/// Why a ladder disables a bot.
const REASON: &str = "five forfeits in a row, all of them late";
/// The heartbeat of a ladder that falls silent, and after how many missing beats the bot must give it up.
const SLOW_BEAT: Duration = Duration::from_secs(2);
const SILENT_BEATS: u32 = 3;
/// A heartbeat, and how many beats are sent: more than a silent ladder may miss.
const BEAT: Duration = Duration::from_secs(1);
const BEATS: usize = 4;

/// Cuts programs off, again and again, and measures how long each takes to dial again; a row for each pause.
fn pauses(trial: &Trial<'_>, programs: usize) -> Checked<Vec<Vec<Duration>>> {
    let ladders: Checked<Vec<_>> = (0..programs).map(|_| Ladder::start(trial)).collect();
    let mut ladders = ladders?;
    let mut rows = Vec::new();
    let mut visits = ladders.iter_mut().map(|ladder| ladder.called()).collect::<Checked<Vec<_>>>()?;
    for _ in PAUSES {
        // A program that has offered itself waits for the answer.
        visits.iter_mut().try_for_each(|visit| visit.offer().map(drop))?;
        let cut = Instant::now();
        drop(visits);
        let mut back: Vec<Option<(TcpStream, Duration)>> = ladders.iter().map(|_| None).collect();
        while back.iter().any(Option::is_none) {
            for (ladder, back) in ladders.iter().zip(&mut back).filter(|(_, back)| back.is_none()) {
                *back = ladder.accept()?.map(|stream| (stream, cut.elapsed()));
            }
            if trial.is_late() {
                return Err(Stop::failed("the program dials again", "it does not"));
            }
            thread::sleep(Duration::from_millis(1));
        }
        let (streams, pauses): (Vec<_>, Vec<_>) = back.into_iter().flatten().unzip();
        rows.push(pauses);
        visits =
            streams.into_iter().map(|stream| Visit::new(stream, trial.deadline)).collect::<Checked<_>>()?;
    }
    Ok(rows)
}

/// Judges a pause that should last from `least` to `most`.
fn lasts(pause: Duration, least: Duration, most: Duration) -> Checked {
    let expected = || format!("a pause of {} to {} ms", least.as_millis(), most.as_millis());
    let came = || format!("{} ms", pause.as_millis());
    let (times, more) = FAR_TOO_LATE;
    if pause < least || pause > most * times + more {
        return Err(Stop::failed(expected(), came()));
    }
    if pause > most + LATE { Err(Stop::slow(expected(), came())) } else { Ok(()) }
}

pub(super) fn again(trial: &Trial<'_>) -> Checked {
    let rows = pauses(trial, 1)?;
    rows.iter().zip(PAUSES).try_for_each(|(row, whole)| lasts(row[0], whole / 2, whole))
}

pub(super) fn jitter(trial: &Trial<'_>) -> Checked {
    let rows = pauses(trial, TOGETHER)?;
    let spread = |row: &Vec<Duration>| {
        let ends = row.iter().max().zip(row.iter().min());
        ends.map_or(Duration::ZERO, |(last, first)| *last - *first)
    };
    let expected = format!("{TOGETHER} programs that come back at different instants");
    holds(rows.iter().map(spread).any(|spread| spread > CLOSE), expected, || {
        format!("they came within {:?} of each other", rows.iter().map(spread).collect::<Vec<_>>())
    })?;
    let mut all =
        rows.iter().zip(PAUSES).flat_map(|(row, whole)| row.iter().map(move |pause| (*pause, whole)));
    all.try_for_each(|(pause, whole)| lasts(pause, whole / 2, whole))
}

pub(super) fn retry(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let notice = json!({ "type": "notice", "kind": "going_away", "message": "back soon", "retry_ms": RETRY.as_millis() as u64 });
    bot.visit.ping("before")?;
    bot.visit.say(&notice)?;
    let cut = Instant::now();
    drop(bot);
    let _back = ladder.called()?;
    lasts(cut.elapsed(), RETRY + PAUSES[0] / 2, RETRY + PAUSES[0])
}

pub(super) fn going_on(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    let after = bot.play("first", "game", &start)?;
    drop(bot);
    let mut bot = ladder.joined(&["game"])?;
    let most = bot.concurrency();
    // The game counts as one of those that it plays, before it is asked for a move in it.
    bot.plays_no_more_than(most.saturating_sub(1), "next", &start)?;
    if after.outcome().is_none() {
        bot.play("second", "game", &after)?;
    }
    drop(bot);
    // The ladder has given up this game, and all others.
    let mut bot = ladder.joined(&[])?;
    bot.plays_no_more_than(most, "last", &start)
}

pub(super) fn stale(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    bot.begin("old", "game", &start)?;
    bot.visit.ping("read")?;
    drop(bot);
    let mut bot = ladder.joined(&["game"])?;
    // An answer to the earlier request would answer what nobody asked on this connection.
    bot.play("fresh", "game", &start)?;
    bot.visit.ping("behind")
}

pub(super) fn refused(trial: &Trial<'_>) -> Checked {
    for code in ["auth_failed", "forbidden"] {
        let mut ladder = Ladder::start(trial)?;
        let mut visit = ladder.called()?;
        let offer = visit.offer()?;
        visit.refuse(&offer, &json!({ "code": code, "message": "not this bot" }))?;
        drop(visit);
        stays_away(trial, &mut ladder, code)?;
    }
    Ok(())
}

/// Fails if the program dials a ladder that has refused it by this error.
fn stays_away(trial: &Trial<'_>, ladder: &mut Ladder<'_>, code: &str) -> Checked {
    let waited = ladder.wait(trial.deadline.min(Instant::now() + AWAY))?;
    let expected = format!("no further dial after `{code}`");
    holds(!matches!(waited, Waited::Called(_)), expected, || "it dials again".to_owned())
}

pub(super) fn disabled(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    bot.begin("first", "game", &start)?;
    bot.visit.ping("read")?;
    let error = json!({
        "type": "error", "id": null, "line": 0, "code": "forbidden", "message": REASON, "fatal": true,
    });
    bot.visit.say(&error)?;
    bot.visit.end();
    stays_away(trial, &mut ladder, "forbidden")?;
    let log = ladder.log();
    holds(log.contains(REASON), format!("a log with the reason: {REASON}"), || {
        log.lines().last().unwrap_or_default().to_owned()
    })
}

pub(super) fn unavailable(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    for code in ["too_many_connections", "shutting_down"] {
        let mut visit = ladder.called().map_err(|stop| stop.at(code))?;
        let offer = visit.offer()?;
        visit.refuse(&offer, &json!({ "code": code, "message": "later", "retry_ms": 100 }))?;
    }
    let mut bot = ladder.joined(&[])?;
    bot.visit.ping("after")
}

pub(super) fn heartbeat(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut visit = ladder.called()?;
    let offer = visit.offer()?;
    visit.take(&offer, BEAT.as_millis() as u64)?;
    for beat in 0..BEATS {
        thread::sleep(BEAT * 9 / 10);
        visit.ping(&format!("beat-{beat}"))?;
    }
    let second = ladder.accept()?;
    holds(second.is_none(), "one connection, as long as the ladder gives signs of life", || {
        "a second one".to_owned()
    })
}

pub(super) fn silence(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut visit = ladder.called()?;
    let offer = visit.offer()?;
    let silent = Instant::now();
    visit.take(&offer, SLOW_BEAT.as_millis() as u64)?;
    visit.closed("the bot leaves a ladder that is silent")?;
    let gone = SLOW_BEAT * SILENT_BEATS;
    let noticed = lasts(silent.elapsed(), gone, gone);
    if noticed.as_ref().is_err_and(|stop| stop.verdict == Verdict::Failed) {
        return noticed;
    }
    drop(visit);
    let mut bot = ladder.joined(&[])?;
    bot.visit.ping("back")?;
    noticed
}

pub(super) fn token(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    bot.visit.ping("ping")?;
    ladder.keeps_its_token()?;
    // Not even if the ladder repeats it.
    let token = ladder.token.clone();
    bot.visit.say(&json!({ "type": "notice", "kind": "warning", "message": token }))?;
    let over = json!({ "id": "over", "cmd": "over", "x_game": token, "outcome": token, "message": token });
    bot.visit.ask(&over)?;
    bot.visit.say(&json!({ "type": "notice", "kind": "going_away", "message": token }))?;
    drop(bot);
    let mut visit = ladder.called()?;
    ladder.keeps_its_token()?;
    let offer = visit.offer()?;
    visit.refuse(&offer, &json!({ "code": "auth_failed", "message": format!("{token} is withdrawn") }))?;
    drop(visit);
    let _dials_or_ends = ladder.wait(trial.deadline.min(Instant::now() + AWAY))?;
    ladder.keeps_its_token()
}

pub(super) fn leaves(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    let after = bot.play("first", "game", &start)?;
    bot.visit.games = vec!["game".to_owned()];
    ladder.terminate();
    let last = bot.visit.next("an `offer` of no further game")?;
    let is_last = last["cmd"] == "offer" && last["concurrency"] == 0;
    holds(is_last, "an `offer` with `concurrency` 0 at SIGTERM", || last.to_string())?;
    bot.visit.take(&last, HEARTBEAT_MS)?;
    if after.outcome().is_none() {
        bot.play("second", "game", &after)?;
    }
    // The second game of a pair was begun with the first one.
    bot.visit.over_before("over-first", "game", "next")?;
    bot.play("third", "next", &start)?;
    let further = bot.asked("further", "another", &start)?;
    let expected = "`too_many_sessions` for a game that begins after the last offer";
    holds(further["code"] == "too_many_sessions", expected, || further.to_string())?;
    bot.visit.over("over", "next")?;
    bot.visit.closed("the bot closes the connection after its last game")?;
    ladder.ended("after its last game")
}

pub(super) fn leaves_idle(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    bot.visit.ping("ping")?;
    ladder.terminate();
    let last = bot.visit.next("an `offer` of no further game")?;
    let is_last = last["cmd"] == "offer" && last["concurrency"] == 0;
    holds(is_last, "an `offer` with `concurrency` 0 at SIGTERM", || last.to_string())?;
    bot.visit.take(&last, HEARTBEAT_MS)?;
    bot.visit.closed("a bot without games closes the connection")?;
    ladder.ended("once it has left")
}

pub(super) fn leaves_dialling(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let visit = ladder.called()?;
    ladder.close();
    drop(visit);
    // It is between two dials, or dials in vain.
    thread::sleep(PAUSES[0]);
    ladder.terminate();
    ladder.ended("at SIGTERM while nobody answers")
}
