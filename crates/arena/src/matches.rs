//! What a match is: who plays what, from which openings, on what terms. `run` plays it.

use std::sync::Arc;

use plyd_bridge as bridge;
use plyd_client::Reaper;
use plyd_core::engine::{AnyRoot, Entry};
use plyd_protocol::{Seed, Settings};

use super::cores::Cores;
use super::player::Player;
use super::schedule::{Format, Schedule};
use super::shard::Shard;
use super::spectator::Spectator;
use super::stalls::Stalls;
use super::strictness::Strictness;

/// A match: each two players who meet play each opening twice, with sides swapped.
///
/// ```no_run
/// use std::collections::HashSet;
/// use std::convert::Infallible;
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
/// use std::time::Duration;
///
/// use plyd_arena::{Address, Match, NoOpening, Player, Program, Summary, TimeControl, openings};
/// use plyd_core::play::Position;
/// use plyd_protocol::Settings;
///
/// let plyd = Address::Program(Program { path: "plyd".into(), arguments: Vec::new() });
/// let time = TimeControl::PerMove(Duration::from_millis(50));
/// let strong = Player { time, ..Player::new("strong", plyd.clone()) };
/// let weak = Player { time, options: Settings::from_iter([("level", 3)]), ..Player::new("weak", plyd) };
///
/// // Ten openings of two random moves, each played twice with sides swapped.
/// let start = Position::start(&plyd_games::isolation::ENTRY);
/// let openings = openings(|_, _| Ok::<_, NoOpening>(Arc::clone(start.root())), 2, 10, 0)?;
/// let games = Match::new(start.game(), vec![strong, weak], openings);
/// games.try_players()?;
///
/// let mut summary = Summary::new(&games.schedule, games.players.len());
/// let Ok(()) = games.run(&HashSet::new(), &AtomicBool::new(false), |game| {
///     match game {
///         Ok(game) => {
///             println!("game {}: {:?}", game.number, game.record.result);
///             summary.add(&game);
///         }
///         Err(unplayed) => summary.leave_out(&unplayed),
///     }
///     Ok::<_, Infallible>(())
/// });
/// if let Some(elo) = summary.pairings()[0].elo() {
///     println!("{:.0} Elo, and {:.0} around it", elo.value, elo.error);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Match {
    /// The game.
    pub game: &'static Entry,
    /// The rules that were given, as the players receive them.
    pub rules: Settings,
    /// The players.
    pub players: Vec<Player>,
    /// The pairings, and how often each is played.
    pub schedule: Schedule,
    /// The position where the games of each round begin, as many as the schedule has rounds.
    pub openings: Vec<Arc<dyn AnyRoot>>,
    /// The part of the match that is played; none: the whole.
    pub shard: Option<Shard>,
    /// How strict the referee is.
    pub strictness: Strictness,
    /// The seed of chance and of the players' own choices.
    pub seed: Seed,
    /// How many games are played at once.
    pub concurrency: usize,
    /// The cores of games that are played at once; none: the system decides.
    pub cores: Option<Cores>,
    /// What ends the players' processes if this one is killed; none: they see the end of their input.
    pub reaper: Option<Arc<Reaper>>,
    /// Measures how long the machine stood still, for all matches that are played at once: an answer that is
    /// late by no more than that is forgiven; none: no late answer is.
    pub stalls: Option<Arc<Stalls>>,
    /// Sees the games as they are played; none: nobody does.
    pub spectator: Option<Arc<dyn Spectator>>,
}

impl Match {
    /// A round robin under the rules of the openings, one game at a time: each opening is a round.
    #[must_use]
    pub fn new(game: &'static Entry, players: Vec<Player>, openings: Vec<Arc<dyn AnyRoot>>) -> Self {
        let rules = openings.first().map_or_else(Settings::new, |opening| bridge::rules(&opening.rules()));
        Self {
            game,
            rules,
            schedule: Schedule::new(Format::RoundRobin, players.len(), openings.len()),
            players,
            openings,
            shard: None,
            strictness: Strictness::default(),
            seed: Seed::default(),
            concurrency: 1,
            cores: None,
            reaper: None,
            stalls: None,
            spectator: None,
        }
    }
}
