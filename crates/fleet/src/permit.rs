//! What a worker may play: it believes nothing of a match beyond what its operator allows.

use std::path::Path;
use std::sync::Arc;

use plyd_arena::tune::terms::Terms;
use plyd_arena::{Address, Match, Player, Program, Reaper};
use plyd_bridge as bridge;
use plyd_core::engine::{AnyRoot, Entry, settings};
use plyd_protocol::{Setting, echo};

use super::denied::Denied;
use super::description::{DescribedMatch, DescribedPlayer, Location};
use super::given_back::GivenBack;
use super::message::Job;
use super::programs::Programs;
use super::sent_program::SentProgram;

/// What gives the build of this program for a game, which described players name.
type OwnBuild = dyn Fn(&'static Entry) -> Result<String, String> + Send + Sync;

/// What gives the command that starts a program with its arguments.
type Confined = dyn Fn(&Path, &[String]) -> Program + Send + Sync;

/// What a worker may play, and by what.
pub struct Permit {
    /// The games that it knows.
    pub games: Vec<&'static Entry>,
    /// What serves its own players.
    pub own: Program,
    /// Its own build for a game.
    pub build: Box<OwnBuild>,
    /// Whether players may be servers that it calls.
    pub addresses: bool,
    /// The programs of matches that may run here; none: no program may.
    pub programs: Option<Programs>,
    /// What starts such a program, within limits.
    pub confined: Box<Confined>,
    /// The most threads of a player.
    pub threads: usize,
    /// The largest table of a player, in MiB.
    pub hash_mb: usize,
    /// What ends the players' processes if the worker is killed.
    pub reaper: Option<Arc<Reaper>>,
}

impl Permit {
    /// The match with one opening, as it may be played here: the opening stands for each round. Nothing
    /// watches yet whether the machine stands still.
    ///
    /// # Errors
    /// What is not allowed or not known here, or no opening.
    pub(super) fn open(&self, described: &DescribedMatch, job: &Job) -> Result<Match, GivenBack> {
        let game = self.game(&described.game)?;
        let players = described.players.iter().map(|described| self.player(game, described));
        let players = players.collect::<Result<Vec<_>, _>>()?;
        let opening = opening(game, job)?;
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
            stalls: None,
            spectator: None,
        })
    }

    /// The programs of a match that are to be had from the server before it is opened.
    pub(super) fn programs<'d>(
        &self,
        described: &'d DescribedMatch,
    ) -> impl Iterator<Item = (&Programs, &'d SentProgram)> {
        let players = described.players.iter();
        players.filter_map(|player| match (&player.at, &self.programs) {
            (Location::Program(program), Some(programs)) => Some((programs, program)),
            _ => None,
        })
    }

    /// The game of a tuning.
    ///
    /// # Errors
    /// What is not known here or of another build.
    pub(super) fn tuned(&self, terms: &Terms) -> Result<&'static Entry, Denied> {
        let game = self.game(&terms.games.game)?;
        let denied = |why: String| Denied(format!("a tuning: {why}"));
        self.check_build(game, terms.games.build.as_deref()).map_err(denied)?;
        Ok(game)
    }

    /// The game of that name.
    ///
    /// # Errors
    /// There is none here.
    pub(super) fn game(&self, name: &str) -> Result<&'static Entry, Denied> {
        let entry = self.games.iter().find(|entry| entry.name == name);
        entry.copied().ok_or_else(|| Denied(format!("this worker has no game `{}`", echo(name))))
    }

    /// Whether what plays by itself here is what is asked for.
    fn check_build(&self, game: &'static Entry, build: Option<&str>) -> Result<(), String> {
        let own = (self.build)(game)?;
        if build == Some(&*own) {
            return Ok(());
        }
        Err(format!("is of `{}`, and this is `{own}`", echo(build.unwrap_or("no build"))))
    }

    fn player(&self, game: &'static Entry, described: &DescribedPlayer) -> Result<Player, Denied> {
        let DescribedPlayer { name, at, build, options, time, limit, legal } = described;
        let denied = |why: String| Denied(format!("player `{}`: {why}", echo(name)));
        let address = match at {
            Location::BuiltIn => {
                self.check_build(game, build.as_deref()).map_err(denied)?;
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
            Location::Program(program) => match &self.programs {
                None => {
                    return Err(denied(
                        "is a program, and this worker runs none (--allow-programs)".to_owned(),
                    ));
                }
                Some(programs) => {
                    programs.check(program).map_err(denied)?;
                    Address::Program((self.confined)(&programs.path(program), &program.arguments))
                }
            },
            Location::Address(address) => {
                let address = Address::read(address).map_err(denied)?;
                if names_a_file(&address) {
                    return Err(denied(
                        "its address names a file, and a worker opens none for others".to_owned(),
                    ));
                }
                address
            }
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

/// Whether calling the address opens a file, a socket or a program of this machine.
fn names_a_file(address: &Address) -> bool {
    match address {
        Address::Tcp(_) | Address::WebSocket(_) => false,
        Address::Tls(secured) | Address::SecureWebSocket(secured) => {
            secured.ca.is_some() || secured.identity.is_some()
        }
        Address::Unix(_) | Address::Program(_) => true,
    }
}

/// The position where a pair begins.
pub(super) fn opening(game: &'static Entry, job: &Job) -> Result<Arc<dyn AnyRoot>, GivenBack> {
    let rules = settings::rules(game, &bridge::given(&job.rules), 0);
    let start = rules.and_then(|rules| settings::open(game, &rules, Some(&job.start)));
    let root = start
        .and_then(|start| start.extend(&job.moves))
        .map_err(|fault| GivenBack::Malformed(format!("an opening: {}", fault.message)))?;
    if root.outcome().is_some() {
        return Err(GivenBack::Malformed("an opening: the game is over there".to_owned()));
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_names_a_file_is_known() {
        for (address, is_one) in [
            ("tcp=10.0.0.1:7117", false),
            ("ws=10.0.0.1:7117", false),
            ("tls=engine.example:7117", false),
            ("wss=engine.example:7117", false),
            ("tls=engine.example:7117?ca=/etc/passwd", true),
            ("wss=engine.example:7117?cert=a&key=b", true),
            ("unix=/run/docker.sock", true),
        ] {
            assert_eq!(names_a_file(&Address::read(address).unwrap()), is_one, "{address}");
        }
    }
}
