//! Times: clocks and limits are kept, and immediate answers come at once.
//!
//! Each wait is measured beside a control, a thread that only sleeps to the same instant: what delays the
//! control delays an honest server, too. A server is judged by the median of its delay beyond its control's,
//! and a late tail is reported as slow. If the machine also stops busy threads (such as a search), and not
//! only sleepers, the best round is judged instead: a server that does not heed its clock is late each time.
//! For the same reason a check that fails by its times alone is made up to three times.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::{Conversation, Heard};
use super::proofs;
use super::requests::{endless, go, ping, stop, update, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like};

/// How often each wait is measured.
const ROUNDS: usize = 7;

/// A server whose median delay beyond the control's is larger than this has not heeded its time.
const TOO_LATE: Duration = Duration::from_millis(25);

/// A machine that stops a busy thread for so long is too busy to judge a server by its median.
const BUSY: Duration = Duration::from_millis(4);

/// How long a thread spins before each round to measure that.
const PROBE: Duration = Duration::from_millis(20);

/// An answer with a longer delay beyond the control's is reported as slow.
const LATE: Duration = Duration::from_millis(5);

pub(super) const CHECKS: &[Check] = &[
    Check::new("per-move", "the clock per_move is kept", per_move),
    Check::new("increment", "the clock increment is kept; the increment is added after the move", increment),
    Check::new("delay", "the clock delay is kept", delay),
    Check::new("bank", "the clock bank is kept", bank),
    Check::new("spent", "a go with a clock at 0 or less is answered at once", spent),
    Check::new("elapsed", "`elapsed_ms` is taken off the clock", elapsed),
    Check::new("overhead", "the answer is written `overhead_ms` early", overhead),
    Check::new("hard", "`hard_ms` ends the search with the reason `deadline`", hard),
    Check::new("hard-first", "`hard_ms` comes before a later clock", hard_first),
    Check::new("time-limit", "a limit of time is kept, and used up", time_limit),
    Check::new("endless", "a search without a limit goes on until it is stopped", goes_on),
    Check::new("ponder-clock", "a ponder ignores its clock", ponder_clock),
    Check::new("update-clock", "a clock set by `update` runs from its arrival", update_clock),
    Check::new("proven", "a proven position is answered at once", proven),
    Check::new("first-best", "the first `best` comes within 10 ms", first_best),
    Check::new("stop-delay", "the move follows a stop at once", stop_delay),
    Check::new("ping-delay", "a ping is answered at once beside a search", ping_delay),
];

/// One measured wait.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// How late it came.
    late: Duration,
    /// How late the control was.
    control: Duration,
    /// The longest time for which a busy thread of ours was stopped before.
    stopped: Duration,
}

impl Sample {
    /// Whether the machine stopped a busy thread for long.
    pub(super) fn is_disturbed(&self) -> bool {
        self.stopped > BUSY
    }

    pub(super) fn excess(&self) -> Duration {
        self.late.saturating_sub(self.control)
    }
}

/// Runs an action whose answer is due `due` after it was sent, beside a control.
pub(super) fn measured<T>(
    due: Duration,
    action: impl FnOnce() -> Checked<(Instant, Instant, T)>,
) -> Checked<(Sample, T)> {
    let stopped = longest_stop();
    let began = Instant::now();
    thread::scope(|scope| {
        let control = scope.spawn(move || {
            let due = began + due;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            due.elapsed()
        });
        let (sent, came, answer) = action()?;
        let control = control.join().unwrap_or_default();
        Ok((Sample { late: came.saturating_duration_since(sent + due), control, stopped }, answer))
    })
}

/// The longest pause of a thread that does nothing but read the clock.
fn longest_stop() -> Duration {
    let began = Instant::now();
    let (mut last, mut longest) = (began, Duration::ZERO);
    while last - began < PROBE {
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
    }
    longest
}

/// Judges the delays of answers that may come until `allowed` after they are due.
pub(super) fn judge(what: &str, samples: &[Sample], allowed: Duration) -> Checked {
    let mut excess: Vec<Duration> = samples.iter().map(Sample::excess).collect();
    excess.sort();
    let (median, worst) = (excess[excess.len() / 2], excess[excess.len() - 1]);
    let mut controls: Vec<Duration> = samples.iter().map(|sample| sample.control).collect();
    controls.sort();
    let stopped = samples.iter().map(|sample| sample.stopped).max().unwrap_or_default();
    let judged = if stopped > BUSY { excess[0] } else { median };
    let came = format!(
        "{} ms later than a sleeping thread in the median of {}, {} ms at best and {} ms at worst; the thread {} and {} ms late, a \
         busy one stopped for {} ms",
        median.as_millis(),
        samples.len(),
        excess[0].as_millis(),
        worst.as_millis(),
        controls[controls.len() / 2].as_millis(),
        controls[controls.len() - 1].as_millis(),
        stopped.as_millis(),
    );
    if judged > allowed + TOO_LATE {
        Err(Stop::late(what, came))
    } else if worst > allowed + LATE {
        Err(Stop::slow(what, came))
    } else {
        Ok(())
    }
}

/// Requests moves that are due after `due`; each answer must have the reason.
fn timed(trial: &Trial<'_>, fields: &Value, due: Duration, reason: &str) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    for round in 0..ROUNDS {
        let request =
            go(&format!("g{round}"), &game, with(fields.clone(), &json!({ "info": { "events": [] } })));
        let (sample, best) = measured(due, || answer(&mut peer, &request))?;
        like(&best, &json!({ "type": "bestmove", "reason": reason }))
            .map_err(|stop| stop.at(&fields.to_string()))?;
        samples.push(sample);
    }
    judge(&format!("an answer within {} ms to {fields}", due.as_millis()), &samples, Duration::ZERO)
}

/// Sends a request; returns when it was sent, when its answer came, and the answer.
pub(super) fn answer(peer: &mut Conversation<'_>, request: &Value) -> Checked<(Instant, Instant, Value)> {
    let sent = peer.send(request)?;
    let heard = peer.last_heard(request["id"].as_str().unwrap_or_default())?;
    Ok((sent, heard.at, heard.message))
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn per_move(trial: &Trial<'_>) -> Checked {
    timed(trial, &json!({ "clock": { "kind": "per_move", "ms": 60 } }), ms(60), "clock")
}

fn increment(trial: &Trial<'_>) -> Checked {
    let clock =
        json!({ "kind": "increment", "me_ms": 60, "opp_ms": 90_000, "inc_ms": 30_000, "moves_to_go": 1 });
    timed(trial, &json!({ "clock": clock }), ms(60), "clock")
}

fn delay(trial: &Trial<'_>) -> Checked {
    timed(trial, &json!({ "clock": { "kind": "delay", "me_ms": 30, "delay_ms": 30 } }), ms(60), "clock")
}

fn bank(trial: &Trial<'_>) -> Checked {
    timed(trial, &json!({ "clock": { "kind": "bank", "turn_ms": 30, "bank_ms": 30 } }), ms(60), "clock")
}

fn spent(trial: &Trial<'_>) -> Checked {
    for clock in [
        json!({ "kind": "per_move", "ms": 0 }),
        json!({ "kind": "per_move", "ms": -50 }),
        json!({ "kind": "increment", "me_ms": -1, "inc_ms": 60_000 }),
        json!({ "kind": "bank", "turn_ms": 0, "bank_ms": 0 }),
    ] {
        timed(trial, &json!({ "clock": clock }), ms(5), "clock")?;
    }
    Ok(())
}

fn elapsed(trial: &Trial<'_>) -> Checked {
    let fields = json!({ "clock": { "kind": "per_move", "ms": 60_000 }, "elapsed_ms": 59_950 });
    timed(trial, &fields, ms(50), "clock")
}

fn overhead(trial: &Trial<'_>) -> Checked {
    let fields = json!({ "clock": { "kind": "per_move", "ms": 60_000 }, "overhead_ms": 59_950 });
    timed(trial, &fields, ms(50), "clock")
}

fn hard(trial: &Trial<'_>) -> Checked {
    timed(trial, &with(endless(), &json!({ "hard_ms": 40 })), ms(40), "deadline")
}

fn hard_first(trial: &Trial<'_>) -> Checked {
    let fields = json!({ "clock": { "kind": "per_move", "ms": 600_000 }, "hard_ms": 40 });
    timed(trial, &fields, ms(40), "deadline")
}

fn time_limit(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    for round in 0..ROUNDS {
        let request = go(&format!("g{round}"), &game, json!({ "limit": { "time_ms": 60 } }));
        let mut spent = Duration::ZERO;
        let (sample, best) = measured(ms(60), || {
            // On a busy machine the server may have the line long before this thread notes that it is sent.
            let before = Instant::now();
            let answer = answer(&mut peer, &request)?;
            spent = answer.1.saturating_duration_since(before);
            Ok(answer)
        })?;
        like(&best, &json!({ "type": "bestmove", "reason": "limit" }))?;
        holds(spent >= ms(45), "a limit of 60 ms that is used up", || format!("{} ms", spent.as_millis()))?;
        samples.push(sample);
    }
    judge("an answer after a limit of 60 ms", &samples, Duration::ZERO)
}

/// A search runs longer than its clock allows.
fn outlives(trial: &Trial<'_>, fields: &Value) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.send(&go("g", &game, fields.clone()))?;
    peer.info("g", "started")?;
    let since = Instant::now();
    while since.elapsed() < ms(150) {
        peer.ping()?;
    }
    holds(peer.is_open("g"), "it goes on until it is stopped", || format!("{fields} ended"))?;
    peer.result(&stop("g"))?;
    like(&peer.last("g")?, &json!({ "reason": "stopped" }))
}

fn goes_on(trial: &Trial<'_>) -> Checked {
    outlives(trial, &endless())?;
    outlives(trial, &json!({ "mode": "analyse" }))?;
    outlives(trial, &json!({ "clock": { "kind": "anytime", "hint_ms": 10 } }))
}

fn ponder_clock(trial: &Trial<'_>) -> Checked {
    outlives(trial, &json!({ "mode": "ponder", "clock": { "kind": "per_move", "ms": 20 } }))
}

fn update_clock(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    for round in 0..ROUNDS {
        let id = format!("g{round}");
        peer.send(&go(&id, &game, json!({ "mode": "ponder" })))?;
        peer.info(&id, "started")?;
        let change = json!({ "mode": "move", "clock": { "kind": "per_move", "ms": 60 } });
        let (sample, best) = measured(ms(60), || {
            let sent = peer.send(&update(&id, change))?;
            let heard = peer.last_heard(&id)?;
            Ok((sent, heard.at, heard.message))
        })?;
        like(&best, &json!({ "type": "bestmove", "reason": "clock" }))?;
        samples.push(sample);
    }
    judge("an answer within 60 ms of an update", &samples, Duration::ZERO)
}

/// The times that a server is given to prove a few moves; the first that always suffices is what it needs.
const PROOFS: [u64; 3] = [80, 300, 1000];

fn proven(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let (game, position) = proofs::decided(&peer)?.swap_remove(0);
    let at = json!({ "position": position });
    let answers =
        |peer: &mut Conversation<'_>, id: &str, fields: &Value, within: u64, reason: Option<&str>| {
            let (mut samples, mut held) = (Vec::new(), Vec::new());
            let mut are_proven = true;
            for round in 0..ROUNDS {
                let from = peer.log.len();
                let request = go(&format!("{id}-{round}"), &game, with(fields.clone(), &at));
                let (sample, best) = measured(ms(within), || answer(peer, &request))?;
                if let Some(reason) = reason {
                    like(&best, &json!({ "reason": reason })).map_err(|stop| stop.at(&fields.to_string()))?;
                }
                are_proven &= best["reason"] == "proven";
                // From the first message with these very lines to the end; zero if there was none.
                let is_final = |heard: &&Heard| heard.message["lines"] == best["lines"];
                let (first, last) = (peer.log[from..].iter().find(is_final), peer.log.last());
                let late = first.zip(last).map_or(Duration::ZERO, |(first, last)| last.at - first.at);
                held.push(Sample { late, ..sample });
                samples.push(sample);
            }
            if reason.is_some() {
                judge(
                    &format!("the end as soon as the proof is published, with {fields}"),
                    &held,
                    Duration::ZERO,
                )?;
            }
            judge(&format!("an answer within {within} ms to {fields}"), &samples, Duration::ZERO)?;
            Ok(are_proven)
        };
    // With a limit the answer comes by then, proven or not; without one only the proof ends the search.
    let mut enough = None;
    for within in PROOFS {
        let limit = json!({ "limit": { "time_ms": within } });
        if answers(&mut peer, &format!("limit{within}"), &limit, within, None)? {
            enough = Some(within);
            break;
        }
    }
    let Some(within) = enough else {
        return Err(Stop::skipped("the server does not prove a small board within a second each time"));
    };
    for (index, fields) in [
        endless(),
        json!({ "mode": "analyse" }),
        json!({ "mode": "ponder" }),
        json!({ "clock": { "kind": "per_move", "ms": 600_000 } }),
        json!({ "clock": { "kind": "anytime" } }),
    ]
    .into_iter()
    .enumerate()
    {
        answers(&mut peer, &format!("g{index}"), &fields, within, Some("proven"))?;
    }
    Ok(())
}

fn first_best(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    for round in 0..2 * ROUNDS {
        let id = format!("g{round}");
        let (sample, ()) = measured(Duration::ZERO, || {
            let sent = peer.send(&go(&id, &game, endless()))?;
            let heard = peer.info(&id, "best")?;
            Ok((sent, heard.at, ()))
        })?;
        samples.push(sample);
        peer.result(&stop(&id))?;
        peer.last(&id)?;
    }
    judge("a first `best` within 10 ms", &samples, ms(10))
}

fn stop_delay(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    for round in 0..2 * ROUNDS {
        let id = format!("g{round}");
        peer.send(&go(&id, &game, endless()))?;
        peer.info(&id, "best")?;
        let (sample, best) = measured(Duration::ZERO, || {
            let sent = peer.send(&stop(&id))?;
            let heard = peer.last_heard(&id)?;
            Ok((sent, heard.at, heard.message))
        })?;
        like(&best, &json!({ "reason": "stopped" }))?;
        samples.push(sample);
    }
    judge("a move within 1 ms of the stop", &samples, ms(1))
}

fn ping_delay(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.send(&go("g", &game, endless()))?;
    peer.info("g", "started")?;
    let mut samples = Vec::new();
    for round in 0..4 * ROUNDS {
        let (sample, _) = measured(Duration::ZERO, || answer(&mut peer, &ping(&format!("p{round}"))))?;
        samples.push(sample);
    }
    judge("an answer to a ping within 1 ms", &samples, ms(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn a_median_fails_and_a_tail_is_slow() {
        let verdict = |late: &[u64], control: u64, stopped: u64| {
            let sample = |&late: &u64| Sample { late: ms(late), control: ms(control), stopped: ms(stopped) };
            let samples: Vec<Sample> = late.iter().map(sample).collect();
            judge("", &samples, Duration::ZERO).map_err(|stop| stop.verdict)
        };
        assert_eq!(verdict(&[0, 1, 4], 0, 0), Ok(()));
        assert_eq!(verdict(&[0, 1, 500], 0, 0), Err(Verdict::Slow));
        assert_eq!(verdict(&[0, 60, 60], 0, 0), Err(Verdict::Failed));
        // If the machine wakes threads late or stops busy ones, a server that is in time once does not fail.
        assert_eq!(verdict(&[60, 60, 60], 58, 0), Ok(()));
        assert_eq!(verdict(&[0, 60, 60], 0, 20), Err(Verdict::Slow));
        assert_eq!(verdict(&[60, 60, 60], 0, 20), Err(Verdict::Failed));
        assert_eq!(verdict(&[600, 600, 600], 58, 20), Err(Verdict::Failed));
    }
}
