//! Clients that take all they can get: endless searches, and long lines.

use std::path::Path;
use std::time::Duration;

use crate::endless::{Phase, phase};
use crate::finding::{Figure, Finding, figure, tcp};
use crate::floods::{pings, pings_beside};
use crate::markdown::ms;
use crate::samples::Samples;
use crate::server::Outcome;

/// Endless searches beside honest moves.
pub(crate) const ENDLESS: Finding = Finding {
    lines: &[
        (
            "250 endless searches of one client: moves of 100 ms of two others, late at the median",
            "control + 5 ms",
        ),
        ("the same: late at the 99th percentile", "control + 20 ms"),
        ("the same: moves of depth 0", "none"),
        ("the same: `ping` at the median", "1 ms"),
        ("50 clients with 100 ms a move: moves that come late", "1 %; what does not fit is `overloaded`"),
    ],
    measure: endless,
};

/// Floods beside signs of life.
pub(crate) const FLOOD: Finding = Finding {
    lines: &[
        ("four connections flood lines of 14 KB, one text each: another one's `ping` at the median", "1 ms"),
        ("the same with 3,500 texts in each line", "two lines of each"),
    ],
    measure: flood,
};

const TIME: Duration = Duration::from_secs(8);
const LINE_BYTES: usize = 14 << 10;
/// Honest clients that are more than two cores can carry.
const CROWD: u64 = 50;

fn endless(build: &Path) -> Outcome<Vec<Figure>> {
    let Phase { seen, pings } = phase(build, TIME, 1, 2, true)?;
    let (late, control) = (seen.late.percentiles(), seen.control.percentiles());
    let (late, control) = late.zip(control).ok_or("no move was answered")?;
    let shown = |late, control| format!("{} ms (control {})", ms(Some(late)), ms(Some(control)));
    let (moves, shallow) = (seen.late.len() + seen.refused, seen.shallow + seen.refused);
    let share = if seen.refused > 0 {
        format!("{} of {moves}, {} more unanswered", seen.shallow, seen.refused)
    } else {
        format!("{shallow} of {moves}")
    };
    Ok(vec![
        figure(shown(late.p50, control.p50), late.p50 <= control.p50.max(0) + 5000),
        figure(shown(late.p99, control.p99), late.p99 <= control.p99.max(0) + 20_000),
        figure(share, shallow == 0),
        pings
            .percentiles()
            .map_or(figure("none", false), |it| figure(format!("{} ms", ms(Some(it.p50))), it.p50 < 1000)),
        crowd(build)?,
    ])
}

/// More clients than the cores can carry, and none that takes more than a move at a time.
fn crowd(build: &Path) -> Outcome<Figure> {
    let Phase { seen, .. } = phase(build, TIME, 1, CROWD, false)?;
    let (late, moves) = (seen.late.late(), seen.late.len());
    let mut text = format!("{late} of {moves}");
    if seen.refused > 0 {
        text += &format!(", {} more without a move in {} `overloaded`", seen.refused, seen.overloaded);
    }
    Ok(figure(text, moves > 0 && late * 100 <= moves))
}

fn flood(build: &Path) -> Outcome<Vec<Figure>> {
    let cheap =
        format!("{{\"id\":\"p\",\"cmd\":\"ping\",\"x_padding\":\"{}\"}}\n", "x".repeat(LINE_BYTES - 40));
    let moves = "\"a\",".repeat(LINE_BYTES / 4);
    let dear = format!(
        "{{\"id\":\"i\",\"cmd\":\"inspect\",\"game\":\"l-game\",\"position\":{{\"moves\":[{}]}}}}\n",
        moves.trim_end_matches(',')
    );
    let server = tcp(build, &[])?;
    let mut peer = server.connect()?;
    let mut costs = Samples::default();
    for _ in 0..50 {
        let sent = peer.client.send_line(dear.trim_end().as_bytes())?;
        costs.add(sent, peer.wait("i")?.last.at);
    }
    let alone = pings(&server, TIME / 8)?.0;
    let p50 = |samples: &Samples| samples.percentiles().map(|it| it.p50).ok_or("no answer");
    let (cost, alone) = (p50(&costs)?, p50(&alone)?);
    let [cheap, dear] = [cheap, dear].map(|line| pings_beside(&server, TIME / 3, line.as_bytes()));
    let (cheap, dear) = (p50(&cheap?.0)?, p50(&dear?.0)?);
    let shown = |p50, more: String| format!("{} ms (alone {}{more})", ms(Some(p50)), ms(Some(alone)));
    let more = format!(", a line {}", ms(Some(cost)));
    Ok(vec![
        figure(shown(cheap, String::new()), cheap < 1000),
        figure(shown(dear, more), dear < alone + 8 * cost),
    ])
}
