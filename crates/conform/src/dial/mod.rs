//! A bot that dials out: the suite is its ladder.
//!
//! The program under test is started for each check with the address of a ladder of its own and the file of a
//! token. In reading order: `ladder`, which the program dials; `visit`, a connection that it opened; then the
//! checks: `games`, of what it offers and plays, and `life`, of its connections.

mod games;
mod ladder;
mod life;
mod visit;

use super::trial::Check;

pub(super) const CHECKS: &[Check] = &[
    Check::new("offer", "the first line is an `offer`: who it is and what it plays", games::offer),
    Check::new("turn", "it says nothing more until the offer is answered, over one connection", games::turn),
    Check::new("pings", "each request is answered once, a `ping` among them", games::pings),
    Check::new("moves", "it plays whole games by legal moves", games::moves),
    Check::new("in-turn", "each `go` stands for itself, also in several games in turn", games::in_turn),
    Check::new(
        "at-once",
        "it plays its games at the same time; `overloaded`, it plays when it is asked again",
        games::at_once,
    ),
    Check::new("concurrency", "it plays as many games at once as it said, and no more", games::concurrency),
    Check::new("limit", "it plays on the games of the answer, also if it offers fewer by now", games::limit),
    Check::new("over", "a game that is over leaves its place to another one", games::over),
    Check::new("busy", "there is one `go` at a time in a game", games::busy),
    Check::new(
        "other-games",
        "a game that it does not play is an error and nothing worse",
        games::other_games,
    ),
    Check::new("odd-lines", "what it does not know is answered, and changes nothing", games::odd_lines),
    Check::new("broken-lines", "a line that is no request costs a connection at most", games::broken_lines),
    Check::new("again", "it dials again after pauses that double", life::again),
    Check::new("jitter", "programs that lost their ladder together do not come back together", life::jitter),
    Check::new("retry", "`retry_ms` is added to the pause", life::retry),
    Check::new("going-on", "games go on over the next connection, or are given up", life::going_on),
    Check::new("stale", "searches of an earlier connection are not answered on the next", life::stale),
    Check::new("refused", "it does not dial again once it was refused for good", life::refused),
    Check::new(
        "disabled",
        "disabled while it plays, it stays away, and its log has the reason",
        life::disabled,
    ),
    Check::new("unavailable", "it dials again if the ladder has no place or ends", life::unavailable),
    Check::new("heartbeat", "it stays while the ladder gives signs of life", life::heartbeat),
    Check::new(
        "silence",
        "a ladder that is silent for three heartbeats is gone, and dialled again",
        life::silence,
    ),
    Check::new("token", "its token stands in no log, even if the ladder repeats it", life::token),
    Check::new("leaves", "at SIGTERM it plays its games to their end, and no further one", life::leaves),
    Check::new("leaves-idle", "without games it leaves at once", life::leaves_idle),
    Check::new("leaves-dialling", "while nobody answers it ends at SIGTERM", life::leaves_dialling),
];
