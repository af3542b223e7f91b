//! What a worker may play: it believes nothing of a match beyond what its operator allows.

use std::fmt;
use std::sync::Arc;

use plyd_arena::{Address, Match, Player, Program, Reaper, Stalls};
use plyd_bridge as bridge;
use plyd_core::engine::{AnyRoot, Entry, settings};
use plyd_protocol::{Setting, echo};

use super::description::{DescribedMatch, Location, Traveller};
use super::message::Job;

/// What gives the build of this program for a game, which travellers name.
type Build = dyn Fn(&'static Entry) -> Result<String, String> + Send + Sync;

/// What a worker may play, and by what.
pub struct Permit {
    /// The games that it knows.
    pub games: Vec<&'static Entry>,
    /// What serves its own players.
    pub own: Program,
    /// Its own build for a game.
    pub build: Box<Build>,
    /// Whether players may be servers that it calls.
    pub addresses: bool,
    /// The most threads of a player.
    pub threads: usize,
    /// The largest table of a player, in MiB.
    pub hash_mb: usize,
    /// What ends the players' processes if the worker is killed.
    pub reaper: Option<Arc<Reaper>>,
}

/// Why a worker does not play a pair, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denied(pub String);

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Permit {
    /// The match with one opening, as it may be played here: the opening stands for each round.
    ///
    /// # Errors
    /// What is not allowed or not known here.
    pub fn open(&self, described: &DescribedMatch, job: &Job) -> Result<Match, Denied> {
        let name = &described.game;
        let entry = self.games.iter().find(|entry| entry.name == name);
        let game = *entry.ok_or_else(|| Denied(format!("this worker has no game `{}`", echo(name))))?;
        let players = described.players.iter().map(|traveller| self.player(game, traveller));
        let players = players.collect::<Result<Vec<_>, _>>()?;
        let opening = opening(game, job).map_err(|message| Denied(format!("an opening: {message}")))?;
        let schedule = described.schedule();
        Ok(Match {
            game,
            rules: described.rules.clone(),
            players,
            openings: vec![opening; schedule.rounds()],
            schedule,
            shard: None,
            strictness: described.terms,
            seed: described.seed,
            concurrency: 1,
            cores: None,
            reaper: self.reaper.clone(),
            stalls: described.terms.forgives_stalls.then(Stalls::watch),
        })
    }

    fn player(&self, game: &'static Entry, traveller: &Traveller) -> Result<Player, Denied> {
        let Traveller { name, at, build, options, time, limit, legal } = traveller;
        let denied = |why: String| Denied(format!("player `{}`: {why}", echo(name)));
        let address = match at {
            Location::BuiltIn => {
                let own = (self.build)(game).map_err(denied)?;
                if build.as_deref() != Some(&own) {
                    let theirs = build.as_deref().unwrap_or("no build");
                    return Err(denied(format!("is of `{}`, and this is `{own}`", echo(theirs))));
                }
                let checked = settings::check_options(game, &bridge::given(options));
                checked.map_err(|fault| denied(fault.message))?;
                for (option, most) in [("threads", self.threads), ("hash_mb", self.hash_mb)] {
                    if let Some(Setting::Int(wanted)) = options.get(option)
                        && usize::try_from(*wanted).is_ok_and(|wanted| wanted > most)
                    {
                        return Err(denied(format!(
                            "{option}={wanted} is more than the {most} of this worker"
                        )));
                    }
                }
                Address::Program(self.own.clone())
            }
            Location::Address(_) if !self.addresses => {
                return Err(denied(
                    "is at an address, and this worker calls none (--allow-address)".to_owned(),
                ));
            }
            Location::Address(address) => Address::read(address).map_err(denied)?,
        };
        Ok(Player {
            name: name.clone(),
            address,
            token: None,
            build: build.clone(),
            options: options.clone(),
            time: *time,
            limit: *limit,
            legal: *legal,
        })
    }
}

/// The position where a pair begins.
fn opening(game: &'static Entry, job: &Job) -> Result<Arc<dyn AnyRoot>, String> {
    let rules = settings::rules(game, &bridge::given(&job.rules), 0);
    let start = rules.and_then(|rules| settings::open(game, &rules, Some(&job.start)));
    let root = start.and_then(|start| start.extend(&job.moves)).map_err(|fault| fault.message)?;
    if root.outcome().is_some() { Err("the game is over there".to_owned()) } else { Ok(root) }
}
