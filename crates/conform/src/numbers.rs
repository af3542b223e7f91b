//! Numbers: integers alone, their ranges, seeds and hashes.

use serde_json::json;

use super::requests::{go, newgame, ping, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, holds, like, text};

/// The largest integer on the wire.
const MOST: i64 = (1 << 53) - 1;

pub(super) const CHECKS: &[Check] = &[
    Check::watched("integers", "the server writes only integers of magnitude 2^53 - 1 at most"),
    Check::watched("hashes", "hashes and seeds are 1 to 16 lower-case hex digits"),
    Check::watched("shares", "`wdl` and `chance` each sum to 1,000,000, `hash_ppm` is at most that"),
    Check::refusals("no-numbers", "NaN, Infinity and 1e400 are `bad_json`"),
    Check::refusals("fractions", "a number with a fraction is `not_integer`, even 1.0"),
    Check::refusals("exponents", "a number with an exponent is `not_integer`"),
    Check::refusals("too-large", "an integer past 2^53 - 1 is `out_of_range`"),
    Check::refusals("ranges", "an integer outside its field's range is `out_of_range`"),
    Check::new("largest", "2^53 - 1 and its negative are accepted if they are in range", largest),
    Check::new("lengths", "a text of 1,024 characters is accepted, a longer one is `out_of_range`", lengths),
    Check::refusals("seeds-refused", "seeds of another shape are refused"),
    Check::new("seeds", "a given seed is returned as it is, an absent one is drawn", seeds),
];

fn largest(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for (index, fields) in [
        json!({ "limit": { "nodes": MOST, "time_ms": MOST, "depth": 1 } }),
        json!({ "clock": { "kind": "per_move", "ms": -MOST } }),
        json!({ "clock": { "kind": "per_move", "ms": MOST }, "limit": { "nodes": 9 } }),
        json!({ "clock": { "kind": "bank", "turn_ms": MOST, "bank_ms": MOST }, "limit": { "nodes": 9 } }),
        json!({ "clock": { "kind": "per_move", "ms": 10 }, "elapsed_ms": MOST, "overhead_ms": MOST }),
        json!({ "limit": { "nodes": 9 }, "hard_ms": MOST, "info": { "min_interval_ms": MOST } }),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("g{index}");
        // `info` is replaced, so that its default stands.
        peer.best(&go(&id, &game, fields))?;
    }
    Ok(())
}

fn lengths(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    // Characters are counted, not bytes.
    for unit in ["e", "ü", "🎲"] {
        let echo = |count: usize| with(ping("p"), &json!({ "echo": unit.repeat(count) }));
        like(&peer.result(&echo(1024))?, &json!({ "echo": unit.repeat(1024) }))?;
        peer.refused(&echo(1025), &json!({ "code": "out_of_range", "pointer": "/echo" }))?;
    }
    let mut peer = trial.open()?;
    let named = |count: usize| json!({ "client": { "name": "n".repeat(count), "version": "1" } });
    let wanted = json!({ "code": "out_of_range", "pointer": "/client/name" });
    peer.refused(&with(trial.hello(), &named(1025)), &wanted)?;
    peer.result(&with(trial.hello(), &named(1024))).map(drop)
}

fn seeds(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for seed in ["0", "f", "5eed", "123456789abcdef0", "ffffffffffffffff"] {
        let result = peer.result(&newgame("s", &game, json!({ "seed": seed })))?;
        like(&result, &json!({ "seed": seed }))?;
    }
    let mut drawn = Vec::new();
    for index in 0..6 {
        let request = with(newgame("s", &game, json!({})), &json!({ "id": format!("n{index}") }));
        drawn.push(text(&peer.result(&request)?, "seed")?.to_owned());
    }
    drawn.sort();
    drawn.dedup();
    holds(drawn.len() > 1, "seeds that are drawn differ", || format!("{drawn:?}"))
}
