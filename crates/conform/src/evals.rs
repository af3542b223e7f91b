//! The point of view of a value. How much a position is worth is the server's own opinion; for whom it is
//! good is not.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::describe::known;
use super::requests::{after, go, inspect};
use super::trial::Trial;
use super::verdict::{Checked, Stop, holds, list, text};

/// Boards of isolation where player 1 stands in the open and player 2 has one jump left, which the other
/// cannot take away at once; the rows without the mover.
const LOPSIDED: [&str; 4] = [
    "2....../..x..../......./......./......./....1../.......",
    "2.x..../..x..../......./......./....1../......./.......",
    "2....../..x..../...x.../......./.....1./......./.......",
    "2....../..x..../......./......./......./...1.../.......",
];

/// `moves` of a position beside what `inspect` reports of the position after each.
pub(super) fn of_moves(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let mut count = 0;
    for (index, game) in known(trial, &peer)?.into_iter().enumerate() {
        let mut position = json!({});
        for ply in 0..6_usize {
            let id = format!("i{index}-{ply}");
            let result =
                peer.result(&inspect(&id, &game, &position, &["to_move", "moves", "eval", "chance"]))?;
            if result["to_move"] == "chance" {
                let drawn = text(&list(&result, "chance")?[0], "move")?.to_owned();
                position = after(&position, &[drawn]);
                continue;
            }
            let moves = list(&result, "moves")?;
            // Some of them; the same in each run.
            for entry in moves.iter().step_by(moves.len().div_ceil(6).max(1)) {
                count += usize::from(agrees(&mut peer, &game, &position, &result["to_move"], entry)?);
            }
            let Some(entry) = moves.get((ply * 7 + 3) % moves.len().max(1)) else { break };
            position = after(&position, &[text(entry, "move")?.to_owned()]);
        }
    }
    if count > 0 { Ok(()) } else { Err(Stop::skipped("no position is evaluated")) }
}

/// Whether an entry of `moves` has an evaluation to compare. It must equal the next position's, from the
/// view of the player who moved.
fn agrees(
    peer: &mut Conversation<'_>,
    game: &Value,
    position: &Value,
    mover: &Value,
    entry: &Value,
) -> Checked<bool> {
    let next = after(position, &[text(entry, "move")?.to_owned()]);
    let result = peer.result(&inspect("after", game, &next, &["to_move", "eval", "outcome"]))?;
    let (Some(here), Some(there)) = (entry["eval"].as_i64(), result["eval"].as_i64()) else {
        return Ok(false);
    };
    if result["to_move"] == "chance" || !result["outcome"].is_null() {
        return Ok(false);
    }
    let wanted = if result["to_move"] == *mover { there } else { -there };
    holds(
        here.abs_diff(wanted) <= 1,
        format!("an `eval` of {wanted}, as {} has it after the move", result["to_move"]),
        || format!("{entry} at {position} of {game}"),
    )?;
    Ok(here.abs_diff(0) > 1)
}

/// The summed evaluations of the lopsided boards with either side to move, so that no single board decides. A
/// board without a value is left out.
fn sums(
    peer: &mut Conversation<'_>,
    worth: impl Fn(&mut Conversation<'_>, &Value) -> Checked<Option<i64>>,
) -> Checked {
    peer.needs("isolation")?;
    let (mut strong, mut weak, mut count) = (0, 0, 0);
    for rows in LOPSIDED {
        // The same with the players' names exchanged, so that it is the mover's view and not the first
        // player's.
        let exchanged: String = rows
            .chars()
            .map(|cell| match cell {
                '1' => '2',
                '2' => '1',
                cell => cell,
            })
            .collect();
        for (rows, ahead, behind) in [(rows, 1, 2), (&*exchanged, 2, 1)] {
            let mut of = |mover: u32| worth(peer, &json!({ "start": format!("{rows} {mover}") }));
            if let (Some(more), Some(less)) = (of(ahead)?, of(behind)?) {
                strong += more;
                weak += less;
                count += 1;
            }
        }
    }
    if count == 0 {
        return Err(Stop::skipped("there is no value to be judged"));
    }
    holds(
        strong > weak,
        "more if the player in the open is to move than if the one with one jump left is",
        || format!("{strong} and {weak} thousandths in all"),
    )
}

/// The evaluation is from the mover's view.
pub(super) fn of_positions(trial: &Trial<'_>) -> Checked {
    let game = json!({ "game": "isolation" });
    sums(&mut trial.greet()?, |peer, position| {
        Ok(peer.result(&inspect("i", &game, position, &["eval"]))?["eval"].as_i64())
    })
}

/// The score of a search is from its mover's view, whoever that is. Only one ply is searched: deeper scores
/// no longer reflect the board.
pub(super) fn of_searches(trial: &Trial<'_>) -> Checked {
    let game = json!({ "game": "isolation" });
    sums(&mut trial.greet()?, |peer, position| {
        let fields = json!({ "position": position, "limit": { "depth": 1 } });
        let best = peer.best(&go("g", &game, fields))?;
        let score = &best["lines"][0]["score"];
        let chances = || score["wdl"][0].as_i64()?.checked_sub(score["wdl"][2].as_i64()?);
        Ok(score["eval"].as_i64().or_else(chances))
    })
}
