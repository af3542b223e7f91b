//! Places: which connections are closed or refused when a server over sockets has as many as it allows.
//!
//! The limits are read from `hello`. Those that are too large to be reached within a check are not tried.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, number};

/// The most connections that a check opens.
const MANY: u64 = 600;

/// The longest time that a check waits.
const LONG: Duration = Duration::from_secs(5);

pub(super) const CHECKS: &[Check] = &[
    Check::new("strangers", "the oldest connection without `hello` is closed for a new one", strangers),
    Check::new("connections", "a `hello` without a free place is `too_many_connections`", connections),
    Check::new(
        "address",
        "at an address's limit its oldest connection without `hello` is closed, or the new `hello` refused",
        address,
    ),
    Check::new("late-hello", "a connection whose `hello` does not come in time closes", late_hello),
    Check::new("idle", "an idle connection closes after `idle_ms`, one that searches does not", idle),
];

/// The limits that the server announces; skips the check if the server does not promise what it tests.
fn limits(trial: &Trial<'_>) -> Checked<Value> {
    trial.needs_socket()?;
    let peer = trial.greet()?;
    if peer.has("byte_limits") {
        Ok(peer.hello["limits"].clone())
    } else {
        Err(Stop::skipped("limits of connections are not announced"))
    }
}

/// A limit of connections that is small enough to try.
fn count(limits: &Value, name: &str) -> Checked<u64> {
    match number(limits, name)? {
        0 => Err(Stop::skipped(format!("there is no limit `{name}`"))),
        count if count > MANY => Err(Stop::skipped(format!("{count} connections are too many to try"))),
        count => Ok(count),
    }
}

/// A time that is short enough to wait.
fn time(limits: &Value, name: &str) -> Checked<Duration> {
    match Duration::from_millis(number(limits, name)?) {
        Duration::ZERO => Err(Stop::skipped(format!("there is no limit `{name}`"))),
        time if time > LONG => {
            Err(Stop::skipped(format!("{} ms are longer than a check may take", time.as_millis())))
        }
        time => Ok(time),
    }
}

/// The connection closes after a fatal error of this code, which names the limit.
fn leaves(peer: &mut Conversation<'_>, code: &str, limit: &str) -> Checked {
    peer.closed()?;
    let last = peer.log.last().map_or(Value::Null, |heard| heard.message.clone());
    let wanted =
        json!({ "type": "error", "id": null, "line": 0, "code": code, "limit": limit, "fatal": true });
    like(&last, &wanted)?;
    if code == "too_many_connections" {
        number(&last, "retry_ms")?;
    }
    Ok(())
}

/// Says `hello` on new connections until one is refused a place by that limit; returns those that have one.
fn fill<'t>(trial: &Trial<'t>, most: u64, limit: &str) -> Checked<Vec<Conversation<'t>>> {
    let mut greeted = Vec::new();
    for _ in 0..=most {
        let mut peer = trial.open()?;
        if !try_hello(trial, &mut peer, limit)? {
            return Ok(greeted);
        }
        greeted.push(peer);
    }
    Err(Stop::failed(format!("{most} connections at most"), format!("{} said `hello`", greeted.len())))
}

/// Says `hello`; returns whether there was a place. If not, it is refused by that limit, and the connection
/// closes.
fn try_hello(trial: &Trial<'_>, peer: &mut Conversation<'_>, limit: &str) -> Checked<bool> {
    let answer = peer.ask(&trial.hello())?;
    if answer["type"] == "result" {
        return Ok(true);
    }
    let wanted = json!({ "type": "error", "code": "too_many_connections", "limit": limit, "fatal": true });
    like(&answer, &wanted)?;
    number(&answer, "retry_ms")?;
    peer.closed()?;
    Ok(false)
}

fn strangers(trial: &Trial<'_>) -> Checked {
    let limits = limits(trial)?;
    let most = count(&limits, "strangers")?;
    if (1..most + 2).contains(&number(&limits, "connections_per_address")?) {
        return Err(Stop::skipped("an address has fewer places than strangers"));
    }
    let mut greeted = trial.greet()?;
    let mut silent = (0..=most).map(|_| trial.open()).collect::<Checked<Vec<_>>>()?;
    leaves(&mut silent[0], "too_many_connections", "strangers")?;
    // The newest has its place, and no connection that said `hello` loses its own.
    if let Some(mut newest) = silent.pop() {
        like(&newest.ask(&trial.hello())?, &json!({ "type": "result" }))?;
    }
    silent.into_iter().for_each(Conversation::vanish);
    greeted.ping()
}

fn connections(trial: &Trial<'_>) -> Checked {
    let limits = limits(trial)?;
    let most = count(&limits, "connections")?;
    if (1..most + 1).contains(&number(&limits, "connections_per_address")?) {
        return Err(Stop::skipped("an address has fewer places than all together"));
    }
    let mut greeted = fill(trial, most, "connections")?;
    greeted.iter_mut().try_for_each(Conversation::ping)?;
    // Who leaves makes room.
    greeted.pop().into_iter().for_each(Conversation::vanish);
    loop {
        let mut peer = trial.open()?;
        if try_hello(trial, &mut peer, "connections")? {
            return peer.ping();
        }
        holds(!trial.is_late(), "a place after one left", || "none".into())?;
    }
}

fn address(trial: &Trial<'_>) -> Checked {
    let limits = limits(trial)?;
    if trial.is_unix() {
        return Err(Stop::skipped("Unix sockets have no address"));
    }
    let most = count(&limits, "connections_per_address")?;
    if number(&limits, "strangers")? <= most || number(&limits, "connections")? < most {
        return Err(Stop::skipped("all together have fewer places"));
    }
    let mut greeted = trial.greet()?;
    let mut silent = (0..most).map(|_| trial.open()).collect::<Checked<Vec<_>>>()?;
    leaves(&mut silent[0], "too_many_connections", "connections_per_address")?;
    greeted.ping()?;
    silent.into_iter().for_each(Conversation::vanish);
    // If all connections together have no more places, that limit is reached first.
    let limit =
        if number(&limits, "connections")? == most { "connections" } else { "connections_per_address" };
    let mut others = fill(trial, most, limit)?;
    others.iter_mut().chain([&mut greeted]).try_for_each(Conversation::ping)
}

fn late_hello(trial: &Trial<'_>) -> Checked {
    let limits = limits(trial)?;
    let time = time(&limits, "hello_ms")?;
    let since = Instant::now();
    let mut silent = trial.open()?;
    leaves(&mut silent, "timed_out", "hello_ms")?;
    let waited = since.elapsed();
    holds(waited >= time, format!("{} ms for a `hello`", time.as_millis()), || {
        format!("{} ms", waited.as_millis())
    })
}

fn idle(trial: &Trial<'_>) -> Checked {
    let limits = limits(trial)?;
    let time = time(&limits, "idle_ms")?;
    let mut busy = trial.greet()?;
    let game = busy.vast_game()?;
    busy.send(&go("g", &game, endless()))?;
    busy.info("g", "started")?;
    let since = Instant::now();
    let mut idle = trial.greet()?;
    leaves(&mut idle, "timed_out", "idle_ms")?;
    let waited = since.elapsed();
    holds(waited >= time, format!("{} ms of silence", time.as_millis()), || {
        format!("{} ms", waited.as_millis())
    })?;
    // A connection with a search in flight is not idle.
    busy.ping()?;
    holds(busy.is_open("g"), "the search goes on", || "it ended".into())
}
