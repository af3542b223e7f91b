//! Why a player forfeited games, and what helps: what a report says below its tables.
//!
//! Knows a player by the text that describes it alone, which is all that the records of a match keep.

use crate::arena::{FirstFault, ForfeitKind, PlayerStats, Summary};
use crate::cli::words::{self, label};
use crate::cli::{clock, styled};

/// From this share of forfeited or repeated games on, the score of a match says little about strength: one
/// game of so many.
pub(super) const FEW: u64 = 10;

/// What to think of a match in which many games were forfeited; none if they were few.
pub(super) fn warning(summary: &Summary) -> Option<String> {
    let (games, forfeits) = (summary.games, summary.players.iter().map(PlayerStats::forfeits).sum::<u64>());
    let is_spoilt = forfeits > 0 && forfeits * FEW >= games;
    is_spoilt.then(|| {
        let (games, were) = (words::count(games, "game"), if forfeits == 1 { "was" } else { "were" });
        format!(
            "warning: {forfeits} of {games} {were} forfeited: this is no measure of strength (reasons below)"
        )
    })
}

/// What to think of a player that lost all its games by its own faults; none if it did not.
pub(super) fn hopeless(player: &str, stats: &PlayerStats, games: u64) -> Option<String> {
    let is_hopeless = games > 0 && stats.forfeits() == games;
    is_hopeless.then(|| {
        let faults: Vec<_> =
            stats.faults.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
        let (the, games) = match games {
            1 => ("the only", "game".to_owned()),
            _ => ("all", words::count(games, "game")),
        };
        let (player, faults) = (styled::line(player), faults.join(", "));
        format!("{the} {games} of `{player}` ended by its faults: {faults}; this says nothing about strength")
    })
}

/// What happened in the first game of each reason, and what to do about it; nothing if none was forfeited.
/// The text is that which describes the player.
pub(super) fn explained(game: &str, text: &str, stats: &PlayerStats, games: u64) -> String {
    let forfeits = stats.forfeits();
    if forfeits == 0 {
        return String::new();
    }
    let (called, player) = (styled::line(label(text)), styled::line(text));
    let mut text = format!("`{called}` forfeited {forfeits} of its {}:\n", words::count(games, "game"));
    for (kind, FirstFault { game, message }) in &stats.first_faults {
        let count = stats.faults.get(kind).copied().unwrap_or_default();
        let message = styled::line(message);
        text += &format!("  {} {count}, first in game {game}: {message}\n", kind.name());
    }
    for advice in advice(game, &player, stats) {
        text += &format!("  {advice}\n");
    }
    text + "\n"
}

/// What helps against the reasons that there were.
fn advice(game: &str, player: &str, stats: &PlayerStats) -> Vec<String> {
    let has = |kinds: &[ForfeitKind]| kinds.iter().any(|kind| stats.faults.contains_key(kind));
    let mut found = Vec::new();
    if has(&[ForfeitKind::Late]) {
        found.push(against_lateness(player));
    }
    let Some(program) = player.split(',').find(|part| part.starts_with("cmd=")) else { return found };
    let gets_legal = player.split(',').any(|part| part == "legal=true");
    if !gets_legal && has(&[ForfeitKind::Crash, ForfeitKind::Protocol, ForfeitKind::Illegal]) {
        found.push("does it need the legal moves, `x_legal`? Put `,legal=true` behind it".to_owned());
    }
    if has(&[ForfeitKind::Crash, ForfeitKind::Protocol, ForfeitKind::Timeout, ForfeitKind::Illegal]) {
        found.push(format!("`plyd conform --bot --game {game} \"{program}\"` checks what it answers"));
    }
    found
}

/// What helps a player that answers late, by what its clock is.
fn against_lateness(player: &str) -> String {
    let is_clock = |part: &&str| part.split_once('=').is_some_and(|(name, _)| clock::NAMES.contains(&name));
    let first = match player.split(',').find(is_clock) {
        Some(clock) => format!("let it use a smaller share of its clock, or give it more than {clock}"),
        None => "give it more time, such as time=1s behind it".to_owned(),
    };
    format!(
        "late: {first}; --margin 50ms and --forgive-stalls forgive what the machine took; play fewer games at once"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(faults: &[(ForfeitKind, u64, usize, &str)]) -> PlayerStats {
        let mut stats = PlayerStats::default();
        for (kind, count, game, message) in faults {
            stats.faults.insert(*kind, *count);
            stats.first_faults.insert(*kind, FirstFault { game: *game, message: (*message).to_owned() });
        }
        stats
    }

    #[test]
    fn a_report_says_why_games_were_forfeited_and_what_helps() {
        assert_eq!(explained("isolation", "cmd=./bot", &stats(&[]), 20), "");
        let late = stats(&[(ForfeitKind::Late, 19, 2, "8.0ms after its 100ms")]);
        assert_eq!(
            explained("isolation", "cmd=./bot", &late, 20),
            "`cmd=./bot` forfeited 19 of its 20 games:\n  \
             late 19, first in game 2: 8.0ms after its 100ms\n  \
             late: give it more time, such as time=1s behind it; --margin 50ms and --forgive-stalls forgive what \
             the machine took; play fewer games at once\n\n"
        );
        let text = explained("isolation", "cmd=./bot,legal=true,time=1s", &late, 20);
        assert!(text.contains("a smaller share of its clock, or give it more than time=1s;"), "{text}");
        let once = stats(&[(ForfeitKind::Late, 1, 7, "1.0µs after its 100ms")]);
        let text = explained("isolation", "default", &once, 11);
        assert!(text.starts_with("`default` forfeited 1 of its 11 games:\n"), "{text}");
    }

    #[test]
    fn a_player_that_lost_all_its_games_by_its_faults_says_nothing_about_strength() {
        let fails = stats(&[(ForfeitKind::Late, 1, 2, "late"), (ForfeitKind::Crash, 3, 1, "exit")]);
        let text =
            "all 4 games of `anna` ended by its faults: 1 late, 3 crash; this says nothing about strength";
        assert_eq!(hopeless("anna", &fails, 4).as_deref(), Some(text));
        assert_eq!(hopeless("anna", &fails, 5), None);
        assert_eq!(hopeless("anna", &stats(&[]), 0), None);
        let once = stats(&[(ForfeitKind::Crash, 1, 1, "exit")]);
        assert!(
            hopeless("anna", &once, 1)
                .unwrap()
                .starts_with("the only game of `anna` ended by its faults: 1 crash;")
        );
        let text = explained("ijk", "cmd=./bot,name=anna", &once, 1);
        assert!(
            text.starts_with("`anna` forfeited 1 of its 1 game") && text.contains("\"cmd=./bot\""),
            "{text}"
        );
    }

    #[test]
    fn a_program_is_checked_and_may_need_the_legal_moves() {
        let fails = stats(&[(ForfeitKind::Protocol, 1, 1, "\x1b[2J"), (ForfeitKind::Crash, 1, 2, "exit")]);
        for (player, has_hint) in [
            ("cmd=python3 bot.py,time=1s", true),
            ("cmd=python3 bot.py,legal=true", false),
            ("cmd=python3 bot.py,legal=false", true),
        ] {
            let text = explained("ijk", player, &fails, 2);
            assert!(text.contains("`plyd conform --bot --game ijk \"cmd=python3 bot.py\"`"), "{text}");
            assert_eq!(text.contains(",legal=true` behind"), has_hint, "{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
        // A server that is called and our own players are no programs that a bot's author can mend so.
        for player in ["tcp=localhost:7117", "default"] {
            let text = explained("ijk", player, &fails, 2);
            assert!(!text.contains("conform") && !text.contains("legal"), "{text}");
        }
    }
}
