//! `plyd arena --nats`: the pairs of a match are played by workers elsewhere; what they send is judged by the
//! rules, and then goes where the games of a local match go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use plyd_fleet::{
    CoordinatorStatus, DescribedMatch, Description, Job, Location, MatchId, PairResult, Refusal, Task,
    Traveller, Work,
};

use crate::arena::{Address, Match, PlayedGame, Player, Schedule};
use crate::bridge;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Halt;
use crate::cli::nats::EntryArgs;
use crate::cli::{own, parse, signed_build};
use crate::engine::Entry;

use super::{Taking, Totals, report};

/// Pairs that are queued ahead.
const QUEUED: u32 = 1000;
/// The same for a match that may end at any pair.
const QUEUED_SPRT: u32 = 64;

/// What an interrupt does.
const LEFT: &str =
    "the workers play on what is queued; the same command takes the match up again, here or elsewhere";

#[derive(Debug, clap::Args)]
pub(super) struct FleetArgs {
    /// Have workers play the games: put them into a queue of this server of NATS, nats://HOST:PORT or
    /// tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    #[arg(conflicts_with_all = ["preset", "merge", "shard", "concurrency", "pin"])]
    pub(super) nats: Option<String>,
    #[command(flatten)]
    entry: EntryArgs,
    /// With --nats: pairs of games that are queued ahead at most [default: 1000, with --sprt 64]
    #[arg(long, value_name = "N", requires = "nats", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queued: Option<u32>,
    /// With --nats, if the queue is not there yet: how long a worker may say nothing before its pair goes to
    /// another
    #[arg(long, value_name = "TIME", requires = "nats", default_value = "30s", value_parser = parse::duration)]
    ack_wait: Duration,
}

/// Has workers of this server play what is left of a match.
pub(super) fn play(
    (url, args): (&str, &FleetArgs),
    the_match: &Match,
    totals: &mut Totals,
    record: Option<&Path>,
) -> Result<(), Failure> {
    let archive = record.map(|path| super::archive(path, the_match, totals)).transpose()?;
    if totals.is_complete() {
        return Ok(());
    }
    let default = if totals.sprt.is_some() { QUEUED_SPRT } else { QUEUED };
    let queued = args.queued.unwrap_or(default) as usize;
    let description = describe(the_match)?;
    let title = description.title();
    let (description, id) = description.to_message();
    tracing::info!(%id, "the match");
    let halt = Halt::on_interrupt(LEFT)?;
    let lacking = (1..=the_match.schedule.games() / 2).filter(|pair| {
        let games = [2 * pair - 1, 2 * pair];
        !games.iter().all(|number| totals.played.contains(number))
    });
    let lacking = lacking.collect();
    let mut pairs =
        Pairs { id, title, description, queued, lacking, taking: Taking::new(the_match, archive, totals) };
    let server = args.entry.server(url);
    let ended = plyd_fleet::coordinate(&server, args.ack_wait, &mut pairs, halt.flag())?;
    for (worker, count) in &ended.refused {
        tracing::warn!("{count} results of worker `{worker}` were refused, and their pairs played again");
    }
    Ok(())
}

/// Has records name plyd's own players by the signature of the game, which is the same wherever they play the
/// same: workers compare it with theirs.
pub(super) fn name_by_signature(game: &'static Entry, players: &mut [Player]) -> Result<(), Failure> {
    let own = Address::Program(own::server()?);
    let build = signed_build::build(game)?;
    players.iter_mut().filter(|player| player.address == own).for_each(|player| {
        player.build = Some(build.clone());
    });
    Ok(())
}

/// A match as it travels.
fn describe(the_match: &Match) -> Result<Description, Failure> {
    let players = the_match.players.iter().map(traveller).collect::<Result<Vec<_>, _>>()?;
    Ok(Description::new(Task::Match(DescribedMatch {
        game: the_match.game.name.to_owned(),
        rules: the_match.rules.clone(),
        seed: the_match.seed,
        terms: the_match.strictness,
        format: the_match.schedule.format(),
        rounds: the_match.schedule.rounds(),
        openings: the_match.openings_hash(),
        players,
    })))
}

fn traveller(player: &Player) -> Result<Traveller, Failure> {
    let refused = |why: &str| Err(Failure::Usage(format!("--player {}: {why}", player.name)));
    if player.token.is_some() {
        return refused(
            "with --nats a token would travel to all workers; let the server know them otherwise",
        );
    }
    let at = match &player.address {
        Address::Program(program) if *program == own::server()? => Location::BuiltIn,
        Address::Program(_) => return refused("a program does not travel"),
        address => Location::Address(address.to_string()),
    };
    Ok(Traveller {
        name: player.name.clone(),
        at,
        build: player.build.clone(),
        options: player.options.clone(),
        time: player.time,
        limit: player.limit,
        legal: player.legal,
    })
}

/// The pairs of a match, and what is done with their games.
struct Pairs<'t> {
    id: MatchId,
    /// What is played, for people.
    title: String,
    description: Vec<u8>,
    /// How many are queued ahead at most.
    queued: usize,
    /// Those of which a game was not taken, from 1.
    lacking: BTreeSet<usize>,
    taking: Taking<'t>,
}

impl Pairs<'_> {
    fn schedule(&self) -> &Schedule {
        &self.taking.the_match.schedule
    }

    /// Whether these are the games of a pair.
    fn judge(&self, pair: usize, games: &[PlayedGame; 2]) -> Result<(), String> {
        for (game, number) in games.iter().zip([2 * pair - 1, 2 * pair]) {
            if game.number != number {
                return Err(format!("game {} is not of pair {pair}", game.number));
            }
            self.taking.the_match.verify(game)?;
        }
        Ok(())
    }
}

impl Work for Pairs<'_> {
    fn id(&self) -> &MatchId {
        &self.id
    }

    fn description(&self) -> &[u8] {
        &self.description
    }

    fn wanted(&self) -> Vec<usize> {
        self.lacking.iter().copied().take(self.queued).collect()
    }

    fn lacks(&self, pair: usize) -> bool {
        self.lacking.contains(&pair)
    }

    fn job(&self, pair: usize) -> Job {
        let scheduled = self.schedule().game(2 * (pair - 1)).expect("it is one that is wanted");
        let opening = &self.taking.the_match.openings[scheduled.round];
        Job {
            rules: bridge::rules(&opening.rules()),
            start: opening.start_text(),
            moves: opening.played().to_vec(),
        }
    }

    fn take(&mut self, pair: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let read = serde_json::from_slice(bytes);
        let PairResult { worker, games } = read
            .map_err(|error| Refusal::False { worker: None, why: format!("it cannot be read: {error}") })?;
        self.judge(pair, &games).map_err(|why| Refusal::False { worker: Some(worker), why })?;
        for game in games {
            // The record may have one of the two, or both.
            if self.taking.totals.played.insert(game.number) {
                self.taking.take(&game).map_err(Refusal::Io)?;
            }
        }
        self.lacking.remove(&pair);
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.taking.totals.is_complete()
    }

    fn status(&self, refused: &BTreeMap<String, u64>) -> CoordinatorStatus {
        let totals = &*self.taking.totals;
        CoordinatorStatus {
            id: self.id.clone(),
            title: self.title.clone(),
            pairs: self.schedule().games() / 2 - self.lacking.len(),
            scheduled: self.schedule().games() / 2,
            standing: report::standing(&totals.summary, totals.assessment().as_ref()),
            refused: refused.clone(),
        }
    }
}
