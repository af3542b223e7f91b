//! What a match is, for workers that know nothing but this: a message that all of its games follow from, but
//! for their openings, which come with the jobs. The hash of the message is the name of the match.

use std::fmt;
use std::str::FromStr;

use plyd_arena::tune::terms::Terms;
use plyd_arena::{Format, Schedule, Strictness, TimeControl};
use plyd_protocol::{Limit, Seed, Settings};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sent_program::{SentProgram, hex};

/// Hexadecimal digits of a match's name.
const ID_DIGITS: usize = 32;

/// The most players of a match, which bounds the pairings that a message can ask for: half a million, which
/// the schedule lists.
const MOST_PLAYERS: usize = 1000;
/// The most pairs of a match.
const MOST_PAIRS: usize = 5_000_000;

/// The name of a match: a hash of its description.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MatchId(String);

/// What is played, as the server keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The version of the messages.
    pub version: u32,
    /// What is played.
    #[serde(flatten)]
    pub task: Task,
}

/// What is played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A match.
    Match(DescribedMatch),
    /// The tuning of an evaluation's weights.
    Tuning(Terms),
}

/// A match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DescribedMatch {
    /// The game.
    pub game: String,
    /// The rules that were given.
    pub rules: Settings,
    /// The seed of chance and of the players' own choices.
    pub seed: Seed,
    /// On what terms games are refereed.
    pub terms: Strictness,
    /// Who meets whom.
    pub format: Format,
    /// How many openings there are.
    pub rounds: usize,
    /// A hash of them.
    pub openings: Seed,
    /// Nodes a second in the game's bench of the machine to which clocks are scaled; none: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<u64>,
    /// The players.
    pub players: Vec<DescribedPlayer>,
}

/// A player as a match describes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DescribedPlayer {
    /// What tables and records call it.
    pub name: String,
    /// Where it is found.
    pub at: Location,
    /// What distinguishes its program from another build of it; records have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Its options, as `newgame` sends them.
    pub options: Settings,
    /// Its clock.
    pub time: TimeControl,
    /// Limits of each search.
    #[serde(with = "limit")]
    pub limit: Limit,
    /// Whether each `go` brings it the legal moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub legal: bool,
}

/// Where a player is found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// In plyd itself, if it is the build that the player names.
    BuiltIn,
    /// At an address that the worker calls, such as `tcp=HOST:PORT`.
    Address(String),
    /// In a program that is sent along.
    Program(SentProgram),
}

impl Description {
    /// The version of the messages. A worker plays only what it understands.
    pub const VERSION: u32 = 1;

    /// The description of a task.
    #[must_use]
    pub fn new(task: Task) -> Self {
        Self { version: Self::VERSION, task }
    }

    /// As it is sent, and its name.
    #[must_use]
    pub fn to_message(&self) -> (Vec<u8>, MatchId) {
        let bytes = serde_json::to_vec(self).expect("it holds only text keys and numbers");
        let id = MatchId::of(&bytes);
        (bytes, id)
    }

    /// Reads a description that was stored under a name.
    ///
    /// # Errors
    /// It is another one than its name says, or none that this version understands.
    pub fn read(bytes: &[u8], id: &MatchId) -> Result<Self, String> {
        if MatchId::of(bytes) != *id {
            return Err("its description is another one than its name says".to_owned());
        }
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let described = |error: serde_json::Error| format!("its description cannot be read: {error}");
        let Versioned { version } = serde_json::from_slice(bytes).map_err(described)?;
        if version != Self::VERSION {
            let known = Self::VERSION;
            return Err(format!(
                "its description has version {version}, and this plyd knows version {known}"
            ));
        }
        let read: Self = serde_json::from_slice(bytes).map_err(described)?;
        match &read.task {
            Task::Match(described) => described.check()?,
            Task::Tuning(terms) => check(terms)?,
        }
        Ok(read)
    }

    /// How many pairs of games there are.
    #[must_use]
    pub fn pairs(&self) -> usize {
        match &self.task {
            Task::Match(described) => described.schedule().games() / 2,
            Task::Tuning(terms) => usize::try_from(terms.scheduled() / 2).unwrap_or(usize::MAX),
        }
    }

    /// What is played, for people.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.task {
            Task::Match(DescribedMatch { game, players, .. }) => {
                let names: Vec<&str> = players.iter().map(|player| &*player.name).collect();
                format!("{game}: {}", names.join(" - "))
            }
            Task::Tuning(terms) => format!("{}: tuning {}", terms.games.game, terms.games.evaluator),
        }
    }
}

impl DescribedMatch {
    /// The pairings, and how often each is played.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule::new(self.format, self.players.len(), self.rounds)
    }

    /// Whether there can be such a match.
    fn check(&self) -> Result<(), String> {
        let (rounds, players) = (self.rounds, self.players.len());
        // Counted before any list of them is made.
        let pairings = self.format.pairings(players).filter(|_| (2..=MOST_PLAYERS).contains(&players));
        let pairs = pairings.and_then(|pairings| pairings.checked_mul(rounds));
        if pairs.is_some_and(|pairs| (1..=MOST_PAIRS).contains(&pairs)) {
            Ok(())
        } else {
            Err(format!("there is no match of {rounds} openings between {players} players"))
        }
    }
}

/// Whether there can be such a tuning.
fn check(terms: &Terms) -> Result<(), String> {
    let pairs = u64::from(terms.iterations).checked_mul(terms.pairs.into());
    if pairs.is_some_and(|pairs| pairs > 0) && terms.weights.iter().all(|weight| weight.min <= weight.max) {
        Ok(())
    } else {
        Err("there is no such tuning".to_owned())
    }
}

impl MatchId {
    /// The name of what these bytes describe.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)[..ID_DIGITS / 2]))
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MatchId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == ID_DIGITS && text.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "give the full name of a match, {ID_DIGITS} hexadecimal digits, as `plyd fleet --json` prints it"
            ))
        }
    }
}

impl TryFrom<String> for MatchId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MatchId> for String {
    fn from(id: MatchId) -> Self {
        id.0
    }
}

/// Limits, which the protocol's own type only writes.
mod limit {
    use plyd_protocol::Limit;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Read {
        nodes: Option<u64>,
        depth: Option<u32>,
        time_ms: Option<u64>,
    }

    pub(super) fn serialize<S: Serializer>(limit: &Limit, serializer: S) -> Result<S::Ok, S::Error> {
        limit.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
        let Read { nodes, depth, time_ms } = Read::deserialize(deserializer)?;
        Ok(Limit { nodes, depth, time_ms })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn description() -> Description {
        let time = TimeControl::Increment {
            base: Duration::from_secs(10),
            increment: Duration::from_millis(100),
            moves: Some(40),
        };
        let player = |name: &str, time, at| DescribedPlayer {
            name: name.to_owned(),
            at,
            build: Some("plyd 1".to_owned()),
            options: Settings::from_iter([("level", 3)]),
            time,
            limit: Limit { nodes: Some(500), ..Limit::default() },
            legal: false,
        };
        let described = DescribedMatch {
            game: "isolation".to_owned(),
            rules: Settings::new(),
            seed: Seed(7),
            terms: Strictness::default(),
            format: Format::RoundRobin,
            rounds: 5,
            openings: Seed(9),
            reference: None,
            players: vec![
                player("a", time, Location::BuiltIn),
                player("b", TimeControl::Unlimited, Location::Address("tcp=h:1".to_owned())),
            ],
        };
        Description::new(Task::Match(described))
    }

    /// The match with a change.
    fn changed(change: &dyn Fn(&mut DescribedMatch)) -> Description {
        let Task::Match(mut described) = description().task else { unreachable!("it is a match") };
        change(&mut described);
        Description::new(Task::Match(described))
    }

    #[test]
    fn a_description_is_read_as_it_was_written_and_under_no_other_name() {
        let (bytes, id) = description().to_message();
        assert_eq!(Description::read(&bytes, &id), Ok(description()));
        let other = MatchId::of(b"x");
        assert!(Description::read(&bytes, &other).unwrap_err().contains("another one"));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn what_decides_a_game_decides_the_name() {
        let id = |change: &dyn Fn(&mut DescribedMatch)| changed(change).to_message().1;
        let ids = [
            id(&|_| ()),
            id(&|of| of.seed = Seed(8)),
            id(&|of| of.rounds = 6),
            id(&|of| of.openings = Seed(1)),
            id(&|of| of.players[0].limit.nodes = Some(501)),
            id(&|of| of.players[0].time = TimeControl::Unlimited),
            id(&|of| of.players[1].build = None),
            id(&|of| of.terms.max_moves = 1),
            id(&|of| of.reference = Some(1)),
        ];
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
    }

    #[test]
    fn what_cannot_be_played_is_refused() {
        for (described, words) in [
            (Description { version: 2, ..description() }, "version 2"),
            (changed(&|of| of.players.truncate(1)), "no match"),
            (changed(&|of| of.rounds = 0), "no match"),
            (changed(&|of| of.rounds = usize::MAX), "no match"),
            (changed(&|of| of.players = vec![of.players[0].clone(); MOST_PLAYERS + 1]), "no match"),
        ] {
            let (bytes, id) = described.to_message();
            let message = Description::read(&bytes, &id).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
        let message = Description::read(b"{}", &MatchId::of(b"{}")).unwrap_err();
        assert!(message.contains("cannot be read"), "{message}");
    }
}
