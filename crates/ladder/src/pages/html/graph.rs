//! Curves as SVG paths, so that a page shows them without a script.

use plyd_protocol::{Bound, Player, ProofOutcome, Score};

use super::words::whole;
use crate::pages::model::{CurvePoint, Ply};

/// Width and height of a rating's curve, with room for labels on the left and below.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 48.0;
const EDGE: f64 = 10.0;

/// The size of the graph of a game's scores, that of the boards' page.
const SCORES: (f64, f64) = (300.0, 90.0);

/// How a rating went.
pub(in crate::pages) struct RatingCurve {
    /// The SVG's `viewBox`.
    pub(in crate::pages) view: String,
    /// The path of the rating.
    pub(in crate::pages) line: String,
    /// The outline of its interval.
    pub(in crate::pages) band: String,
    /// Heights and labels of the lines behind it.
    pub(in crate::pages) marks: Vec<(String, String)>,
    /// Where those lines begin and end.
    pub(in crate::pages) from: f64,
    pub(in crate::pages) to: f64,
}

/// The curve of these points, if there are two at least. It has room for all ratings and for the interval of
/// the last one: those of the first ones, far wider, go on beyond it.
pub(in crate::pages) fn rating(points: &[CurvePoint]) -> Option<RatingCurve> {
    let [_, _, ..] = points else { return None };
    let last = &points[points.len() - 1];
    let low = points.iter().map(|point| point.elo).fold(last.low, f64::min);
    let high = points.iter().map(|point| point.elo).fold(last.high, f64::max);
    let span = (high - low).max(50.0);
    let x = |at: usize| LEFT + at as f64 / (points.len() - 1) as f64 * (WIDTH - LEFT - EDGE);
    let y = |elo: f64| (EDGE + (high - elo) / span * (HEIGHT - 2.0 * EDGE)).clamp(0.0, HEIGHT);
    let spot = |at: usize, elo: f64| format!("{:.1} {:.1}", x(at), y(elo));
    let all = || points.iter().enumerate();
    let line: Vec<String> = all().map(|(at, point)| spot(at, point.elo)).collect();
    let above = all().map(|(at, point)| spot(at, point.high));
    let below = all().rev().map(|(at, point)| spot(at, point.low));
    let band: Vec<String> = above.chain(below).collect();
    let step = [25.0, 50.0, 100.0, 200.0, 500.0, 1000.0].into_iter().find(|step| span / step <= 5.0);
    let step = step.unwrap_or(5000.0);
    let mut marks = Vec::new();
    let mut elo = (low / step).ceil() * step;
    while elo <= high {
        marks.push((format!("{:.1}", y(elo)), whole(elo)));
        elo += step;
    }
    Some(RatingCurve {
        view: format!("0 0 {WIDTH} {HEIGHT}"),
        line: format!("M{}", line.join("L")),
        band: format!("M{}Z", band.join("L")),
        marks,
        from: LEFT,
        to: WIDTH - EDGE,
    })
}

/// The scores of a game, from player 1's view.
pub(in crate::pages) struct Scores {
    /// The SVG's `viewBox`.
    pub(in crate::pages) view: String,
    /// Where neither leads.
    pub(in crate::pages) middle: f64,
    /// The path of each player's scores.
    pub(in crate::pages) lines: [String; 2],
}

/// The graph of the scores that the players announced, if there are any.
pub(in crate::pages) fn scores(moves: &[Ply]) -> Option<Scores> {
    let (width, height) = SCORES;
    let evals = moves.iter().filter_map(|ply| ply.score.as_ref()?.eval).map(i64::unsigned_abs);
    let mut evals: Vec<u64> = evals.filter(|eval| *eval > 0).collect();
    evals.sort_unstable();
    // What half of the way up means: as much as the game shows.
    let scale = evals.get(evals.len() / 2).map_or(3000.0, |eval| (*eval as f64).max(1000.0));
    let mut lines = [Vec::new(), Vec::new()];
    for (at, ply) in moves.iter().enumerate() {
        let (Some(player), Some(level)) =
            (ply.player, ply.score.as_ref().and_then(|score| level(score, scale)))
        else {
            continue;
        };
        let (side, level) = if player == Player::P1 { (0, level) } else { (1, -level) };
        let x = (at + 1) as f64 / moves.len() as f64 * width;
        let y = height / 2.0 - level * (height / 2.0 - 6.0);
        lines[side].push(format!("{x:.1} {y:.1}"));
    }
    if lines.iter().all(Vec::is_empty) {
        return None;
    }
    let path =
        |line: Vec<String>| if line.is_empty() { String::new() } else { format!("M{}", line.join("L")) };
    Some(Scores { view: format!("0 0 {width} {height}"), middle: height / 2.0, lines: lines.map(path) })
}

/// A score as a height from -1 to 1, as the boards' page has it.
fn level(score: &Score, scale: f64) -> Option<f64> {
    if let Some(proof) = &score.proof {
        match (proof.outcome, score.bound) {
            (ProofOutcome::Win, Bound::Exact | Bound::Lower) => return Some(1.0),
            (ProofOutcome::Loss, Bound::Exact | Bound::Upper) => return Some(-1.0),
            (_, Bound::Exact) => return Some(0.0),
            _ => {}
        }
    }
    if let Some([win, _, loss]) = score.wdl {
        return Some((f64::from(win) - f64::from(loss)) / 1e6);
    }
    let eval = score.eval? as f64;
    Some(0.95 * eval / (eval.abs() + scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_curve_stays_within_its_frame() {
        let point = |elo: f64| CurvePoint { at_ms: 0, elo, low: elo - 700.0, high: elo + 700.0 };
        for elos in [&[1500.0, 1500.0][..], &[1500.0, -8000.0, 9000.0, 0.0]] {
            let points: Vec<CurvePoint> = elos.iter().map(|elo| point(*elo)).collect();
            let curve = rating(&points).unwrap();
            let numbers = curve.band.split(['M', 'L', 'Z', ' ']).filter(|part| !part.is_empty());
            for number in numbers {
                assert!(
                    (0.0..=WIDTH).contains(&number.parse::<f64>().unwrap()),
                    "{number} in {}",
                    curve.band
                );
            }
            assert!((1..=6).contains(&curve.marks.len()), "{:?}", curve.marks);
        }
        assert!(rating(&[point(1500.0)]).is_none());
    }

    #[test]
    fn both_players_scores_are_drawn_from_one_view() {
        let ply = |player: &str, score: serde_json::Value| Ply {
            mv: "a".into(),
            player: serde_json::from_value(json!(player)).unwrap(),
            time_us: None,
            granted_us: None,
            left_us: None,
            score: serde_json::from_value(score).unwrap(),
        };
        let win = json!({ "bound": "exact", "proof": { "outcome": "win" } });
        let loss = json!({ "bound": "exact", "proof": { "outcome": "loss" } });
        let drawn = scores(&[ply("p1", win), ply("p2", loss)]).unwrap();
        assert_eq!(drawn.lines, ["M150.0 6.0", "M300.0 6.0"]);
        assert!(scores(&[ply("p1", json!(null))]).is_none());
        assert!(scores(&[]).is_none());
    }
}
