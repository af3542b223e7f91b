//! `plyd arena --nats`: the pairs of a match are played by workers elsewhere; what they send is judged by the
//! rules, and then goes where the games of a local match go.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use plyd_fleet::{
    CoordinatorStatus, DescribedMatch, DescribedPlayer, Description, Ending, Job, Location, MatchId,
    PairResult, Refusal, SentProgram, Server, Signer, Task, Work,
};

use crate::arena::{Address, Match, PlayedGame, Player, Schedule};
use crate::cli::failure::Failure;
use crate::cli::interrupt::Halt;
use crate::cli::nats::{QueueArgs, warn_refused};
use crate::cli::{build, own, signed_build};
use crate::engine::Entry;

use super::{Taking, Totals, report};

/// Pairs that are queued ahead.
const QUEUED: u32 = 1000;
/// The same for a match that may end at any pair.
const QUEUED_SPRT: u32 = 64;

#[derive(Debug, clap::Args)]
pub(super) struct FleetArgs {
    #[command(flatten)]
    queue: QueueArgs,
    /// With --nats: pairs of games that are queued ahead at most [default: 1000, with --sprt 64]
    #[arg(long, value_name = "N", requires = "nats", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queued: Option<u32>,
    /// With --nats: sign the programs of players (`cmd=`) with the seed of an nkey in this file; workers run
    /// programs that are signed by a key they trust
    #[arg(long, value_name = "FILE", requires = "nats")]
    sign: Option<PathBuf>,
    /// With --nats: scale clocks to a machine of so many nodes a second in the game's bench, so that a slower
    /// worker has more time
    #[arg(long, value_name = "NODES", requires = "nats", value_parser = clap::value_parser!(u64).range(1..))]
    reference: Option<u64>,
}

impl FleetArgs {
    /// The server, if workers are to play.
    pub(super) fn server(&self) -> Option<Server> {
        self.queue.server()
    }

    /// The key that signs programs, if there is one.
    fn signer(&self) -> Result<Option<Signer>, Failure> {
        let Some(path) = &self.sign else { return Ok(None) };
        let wrong = |why: String| Failure::Usage(format!("--sign {}: {why}", path.display()));
        let seed = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Signer::read(&seed).map(Some).map_err(wrong)
    }
}

/// Has workers of this server play what is left of a match; says why that ended.
pub(super) fn play(
    (server, args): (&Server, &FleetArgs),
    the_match: &Match,
    totals: &mut Totals,
    record: Option<&Path>,
    halt: &Halt,
) -> Result<Ending, Failure> {
    let archive = record.map(|path| super::archive(path, the_match, totals)).transpose()?;
    if totals.is_complete() {
        return Ok(Ending::Done);
    }
    let default = if totals.sprt.is_some() { QUEUED_SPRT } else { QUEUED };
    let queued = args.queued.unwrap_or(default) as usize;
    let mut programs = Vec::new();
    let description = describe(the_match, args, &mut programs)?;
    let title = description.title();
    let (description, id) = description.to_message();
    let _nobody_reads = writeln!(io::stderr(), "match {id}: workers of {} play it", server.shown());
    let is_scaled = args.reference.is_some();
    let lacking = (1..=the_match.schedule.games() / 2).filter(|pair| {
        let games = [2 * pair - 1, 2 * pair];
        !games.iter().all(|number| totals.played.contains(number))
    });
    let lacking = lacking.collect();
    let mut pairs = Pairs {
        id,
        title,
        description,
        programs,
        queued,
        is_scaled,
        lacking,
        taking: Taking::new(the_match, archive, totals),
    };
    let ended = plyd_fleet::coordinate(server, args.queue.ack_wait, &mut pairs, halt.flag())?;
    warn_refused(&ended);
    Ok(ended.why)
}

/// Has records name plyd's own players by the signature of the game, which is the same wherever they play the
/// same: workers compare it with theirs.
pub(super) fn name_by_signature(game: &'static Entry, players: &mut [Player]) -> Result<(), Failure> {
    let own = Address::Program(own::server()?);
    let signed = signed_build::build(game)?;
    for player in players {
        match &player.address {
            address if *address == own => player.build = Some(signed.clone()),
            // Where it lies and how old it is says nothing elsewhere.
            Address::Program(program) => player.build = build::content(program.path.as_ref()),
            _ => {}
        }
    }
    Ok(())
}

/// A match as workers get it.
///
/// Programs of its players are added to those that are sent along.
fn describe(
    the_match: &Match,
    args: &FleetArgs,
    programs: &mut Vec<(SentProgram, Vec<u8>)>,
) -> Result<Description, Failure> {
    let signer = args.signer()?;
    let players = the_match.players.iter().map(|player| described(player, signer.as_ref(), programs));
    let players = players.collect::<Result<Vec<_>, _>>()?;
    Ok(Description::new(Task::Match(DescribedMatch {
        game: the_match.game.name.to_owned(),
        rules: the_match.rules.clone(),
        seed: the_match.seed,
        terms: the_match.strictness,
        format: the_match.schedule.format(),
        rounds: the_match.schedule.rounds(),
        openings: the_match.openings_hash(),
        reference: args.reference,
        players,
    })))
}

/// A player as workers get it.
fn described(
    player: &Player,
    signer: Option<&Signer>,
    programs: &mut Vec<(SentProgram, Vec<u8>)>,
) -> Result<DescribedPlayer, Failure> {
    let refused = |why: &str| Err(Failure::Usage(format!("--player {}: {why}", player.name)));
    if player.token.is_some() {
        return refused(
            "with --nats a token would be sent to all workers; let the server know them otherwise",
        );
    }
    let at = match &player.address {
        Address::Program(program) if *program == own::server()? => Location::BuiltIn,
        Address::Program(program) => {
            let content = match fs::read(&program.path) {
                Ok(content) if !content.is_empty() => content,
                Ok(_) => return refused("the program's file is empty"),
                Err(error) => {
                    return refused(&format!("with --nats give the path of the program's file: {error}"));
                }
            };
            let arguments = program.arguments.iter().map(|argument| argument.to_str().map(str::to_owned));
            let Some(arguments) = arguments.collect() else { return refused("its arguments are no text") };
            let sent = SentProgram::new(&content, arguments, signer);
            if !programs.iter().any(|(known, _)| known.hash == sent.hash) {
                programs.push((sent.clone(), content));
            }
            Location::Program(sent)
        }
        address => Location::Address(address.to_string()),
    };
    Ok(DescribedPlayer {
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
    /// The programs that are sent along, with their content.
    programs: Vec<(SentProgram, Vec<u8>)>,
    /// How many are queued ahead at most.
    queued: usize,
    /// Whether workers scale the clocks.
    is_scaled: bool,
    /// Those of which a game was not taken, from 1.
    lacking: BTreeSet<usize>,
    taking: Taking<'t>,
}

impl Pairs<'_> {
    fn schedule(&self) -> &Schedule {
        &self.taking.the_match.schedule
    }

    /// Whether these are the games of a pair.
    fn judge(&self, pair: usize, games: &[PlayedGame; 2], scale: Option<u32>) -> Result<(), String> {
        let [least, most] = PairResult::SCALES;
        if scale.is_some() != self.is_scaled || scale.is_some_and(|scale| !(least..=most).contains(&scale)) {
            return Err("its clocks were scaled in another way than the match has it".to_owned());
        }
        for (game, number) in games.iter().zip([2 * pair - 1, 2 * pair]) {
            if game.number != number {
                return Err(format!("game {} is not of pair {pair}", game.number));
            }
            self.taking.the_match.verify(game, scale.unwrap_or(1000))?;
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

    fn programs(&self) -> &[(SentProgram, Vec<u8>)] {
        &self.programs
    }

    fn wanted(&self) -> Vec<usize> {
        self.lacking.iter().copied().take(self.queued).collect()
    }

    fn lacks(&self, pair: usize) -> bool {
        self.lacking.contains(&pair)
    }

    fn job(&self, pair: usize) -> Job {
        let scheduled = self.schedule().game(2 * (pair - 1)).expect("it is one that is wanted");
        Job::new(self.taking.the_match.openings[scheduled.round].as_ref(), None)
    }

    fn take(&mut self, pair: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let PairResult { worker, scale, games } = serde_json::from_slice(bytes)?;
        self.judge(pair, &games, scale).map_err(|why| Refusal::False { worker: Some(worker), why })?;
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
