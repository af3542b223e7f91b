//! Whether ratings find the strengths of simulated players: a sample of what the bench `ratings` plays.

#[path = "../../benches/season/mod.rs"]
mod season;

use season::{Season, SeasonIntervals, coverage, median_error};

const USUAL: Season =
    Season { bots: 15, spread: 300.0, rounds: 60, draws: 0.3, advantage: 0.05, openings: 0.1, taste: 0.05 };

fn seasons(season: Season, count: u64) -> SeasonIntervals {
    let mut found = SeasonIntervals::default();
    (0..count).for_each(|seed| found.add(season.play(seed)));
    found
}

#[test]
fn intervals_of_the_table_hold_the_true_strengths_as_often_as_they_say() {
    for season in [
        USUAL,
        Season { openings: 0.15, advantage: 0.1, taste: 0.0, ..USUAL },
        Season { openings: 0.0, advantage: 0.0, taste: 0.25, ..USUAL },
    ] {
        let found = seasons(season, 60);
        assert_eq!(found.table.len(), 900, "all are connected with the anchors");
        let held = coverage(&found.table);
        assert!((0.93..=0.97).contains(&held), "{season:?}: {held}");
    }
}

#[test]
fn glicko_2_finds_the_strengths_too_but_promises_less() {
    let found = seasons(USUAL, 20);
    assert!(coverage(&found.glicko) > 0.8, "{}", coverage(&found.glicko));
    assert!(median_error(&found.glicko) < 2.0 * median_error(&found.table));
}

#[test]
fn a_season_is_the_same_whenever_it_is_played() {
    let [one, other] = [7, 7].map(|seed| USUAL.play(seed));
    assert_eq!(one, other);
}
