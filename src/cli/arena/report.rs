//! The result of a match: the running score in a line, and the tables or the JSON at its end.

use std::io::Write;
use std::time::Duration;

use crate::arena::statistics::ratings::{Anchor, Rating, rate};
use crate::arena::statistics::sprt::{Assessment, Verdict};
use crate::arena::statistics::{Estimate, Points, Row, crosstable};
use crate::arena::{ForfeitKind, Format, Header, PairingResult, Shard, Summary};
use crate::cli::columns::{Columns, grouped};
use plyd_protocol::{Seed, Settings};
use serde::Serialize;

use super::forfeits;
use super::reviews::MatchReview;
use crate::cli::failure::Failure;
use crate::cli::styled;
use crate::cli::words::{self, label};
use crate::engine::Entry;
use crate::engine::settings;

/// The rule by which games name a whole board.
const PRESET: &str = "preset";

/// The end of a match, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Report<'m> {
    game: &'static str,
    rules: Settings,
    /// What was played, for people.
    #[serde(skip)]
    played: String,
    seed: Seed,
    /// How many games the match has, or its shard.
    scheduled: usize,
    /// The part of the match that was played, if not the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Shard>,
    ended: Ended,
    /// How many of the openings that were played differ.
    openings: usize,
    /// What reports call the players.
    players: Vec<&'m str>,
    /// The texts that describe them.
    #[serde(skip)]
    texts: &'m [String],
    /// The players' share of the points and their difference, in the order of the summary's results.
    scores: Vec<Strength>,
    /// What the ratings are relative to.
    #[serde(skip)]
    anchor: Anchor,
    /// The players by strength, if more than two play.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<Vec<Rating>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sprt: Option<Assessment>,
    /// Whether answers are forgiven that are late because the machine stood still.
    #[serde(skip)]
    forgives_stalls: bool,
    summary: &'m Summary,
    /// What reviews of the games found, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) review: Option<&'m MatchReview>,
}

/// Why a match ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    /// All its games are played.
    Played,
    /// The test accepted a hypothesis.
    Decided,
    /// It was interrupted, and can be resumed.
    Interrupted,
    /// Games were left out, since a server was overloaded, and can be played later.
    Overloaded,
}

/// What a pairing says about the strength of its first player.
#[derive(Debug, Serialize)]
struct Strength {
    /// The share of the points, from 0 to 1.
    score: Option<Estimate>,
    elo: Option<Estimate>,
    /// The likelihood that it is the stronger one.
    superiority: Option<f64>,
}

impl Strength {
    fn of(points: Points) -> Self {
        Self { score: points.score(), elo: points.elo(), superiority: points.superiority() }
    }
}

impl<'m> Report<'m> {
    /// The end of this match, or of a shard of it.
    pub(super) fn new(
        header: &'m Header,
        shard: Option<Shard>,
        summary: &'m Summary,
        sprt: Option<Assessment>,
        review: Option<&'m MatchReview>,
    ) -> Self {
        let schedule = &header.schedule;
        let scheduled = shard.map_or(schedule.games(), |shard| shard.games(schedule));
        let anchor = if schedule.format() == Format::Ladder { Anchor::Player(0) } else { Anchor::Mean };
        let ended = match &sprt {
            _ if summary.games as usize == scheduled => Ended::Played,
            Some(test) if test.verdict != Verdict::Continue => Ended::Decided,
            _ if (summary.games + summary.unplayed) as usize == scheduled => Ended::Overloaded,
            _ => Ended::Interrupted,
        };
        let count = header.players.len();
        Self {
            game: header.game.name,
            // Drawn starts differ from opening to opening; what was given holds for all.
            rules: header.rules.clone(),
            played: board(header.game, &header.rules),
            seed: header.seed,
            scheduled,
            shard,
            ended,
            openings: summary.openings(),
            players: header.players.iter().map(|text| label(text)).collect(),
            texts: &header.players,
            scores: summary.results.iter().map(|result| Strength::of(result.pairing.points())).collect(),
            anchor,
            ratings: (count > 2).then(|| rate(count, &summary.pairings(), anchor)),
            sprt,
            forgives_stalls: header.strictness.forgives_stalls,
            summary,
            review,
        }
    }

    /// The same of a match whose games begin so.
    pub(super) fn with_openings(self, openings: &str) -> Self {
        Self { played: format!("{}, {openings}", self.played), ..self }
    }

    /// Prints it for people; `is_kept` if what was played is kept for the same command.
    pub(super) fn show(&self, is_kept: bool, out: &mut impl Write) -> Result<(), Failure> {
        match &self.ratings {
            Some(ratings) => {
                writeln!(out, "{}\n{}", self.standings(ratings), self.results())?;
                if let Some(note) = self.without_anchor(ratings) {
                    writeln!(out, "{note}\n")?;
                }
            }
            None => writeln!(out, "{}\n{}", self.duel(), self.pairs())?,
        }
        for warning in self.forfeit_warnings() {
            writeln!(out, "{warning}\n")?;
        }
        if let Some(warning) = repeats_warning(self.summary) {
            writeln!(out, "{warning}\n")?;
        }
        writeln!(out, "{}", self.player_stats())?;
        for ((text, stats), games) in self.texts.iter().zip(&self.summary.players).zip(self.games()) {
            write!(out, "{}", forfeits::explained(self.game, text, stats, games))?;
        }
        if let Some(review) = self.review {
            writeln!(
                out,
                "{}marks behind ~ are estimates, the others are proven\n",
                review.table(&self.players)
            )?;
        }
        let Summary { endings, shortest, longest, moves, games, unplayed, .. } = self.summary;
        let ends: Vec<String> =
            endings.iter().map(|(by, games)| format!("{} {by}", grouped(*games))).collect();
        writeln!(out, "ended by: {}", ends.join(", "))?;
        let (shortest, longest) = shortest.zip(*longest).unwrap_or_default();
        if *unplayed > 0 {
            let unplayed = grouped(*unplayed);
            writeln!(out, "left out because a server was overloaded: {unplayed}; they count for nobody")?;
        }
        if matches!(self.ended, Ended::Interrupted | Ended::Overloaded) {
            let left = words::count(self.scheduled as u64 - games, "game");
            writeln!(out, "left: {left}; {}", words::to_resume("--record", is_kept))?;
        }
        if let Some(shard) = self.shard {
            writeln!(out, "this is shard {shard}: `plyd arena --merge` makes the report of the whole match")?;
        }
        writeln!(out, "played: {}", styled::line(&self.played))?;
        let mean = *moves as f64 / (*games).max(1) as f64;
        Ok(writeln!(
            out,
            "games: {}; moves a game: {mean:.1} ({shortest} to {longest}); openings: {} different, seed {}",
            grouped(*games),
            self.openings,
            self.seed
        )?)
    }

    /// Says of each player that lost all its games by its own faults that they say nothing about strength.
    ///
    /// # Errors
    /// There is such a player. If the report was printed as JSON, the error says so, else the report did.
    pub(super) fn check_players(&self, is_json: bool) -> Result<(), Failure> {
        match &self.hopeless()[..] {
            [] => Ok(()),
            found if is_json => Err(Failure::Failed(found.join("\n"))),
            _ => Err(Failure::Reported),
        }
    }

    /// What to think of a match because of its forfeited games.
    fn forfeit_warnings(&self) -> Vec<String> {
        let hopeless: Vec<_> = self.hopeless().iter().map(|text| format!("warning: {text}")).collect();
        if hopeless.is_empty() { forfeits::warning(self.summary).into_iter().collect() } else { hopeless }
    }

    fn hopeless(&self) -> Vec<String> {
        let players = self.players.iter().zip(&self.summary.players).zip(self.games());
        players.filter_map(|((player, stats), games)| forfeits::hopeless(player, stats, games)).collect()
    }

    /// How many games each player has played.
    fn games(&self) -> Vec<u64> {
        let rows = crosstable(self.players.len(), &self.summary.pairings());
        rows.into_iter().map(|row| row.games).collect()
    }

    /// Two players and the score between them.
    fn duel(&self) -> String {
        let [a, b] = &self.players[..] else { unreachable!("more than two players have ratings") };
        let mut text = format!("{a}\nagainst {b}\n{}\n", standing(self.summary, None));
        if let Some(likely) = self.scores[0].superiority {
            text += &format!("likelihood of superiority {:.1} %\n", 100.0 * likely);
        }
        if let Some(Assessment { llr, lower, upper, verdict }) = self.sprt {
            let words = match verdict {
                Verdict::H0 => "H0 is accepted: elo0 or less",
                Verdict::H1 => "H1 is accepted: elo1 or more",
                Verdict::Continue => "neither hypothesis is accepted",
            };
            text += &format!("LLR {llr:+.2} ({lower:.2} to {upper:.2}): {words}\n");
        }
        text
    }

    fn pairs(&self) -> Columns {
        let mut table = Columns::new(["points of a pair", "0", "1/2", "1", "3/2", "2"]);
        let pairs = self.summary.results[0].pairing.pairs.counts.map(grouped);
        table.row(std::iter::once("pairs".to_owned()).chain(pairs));
        table
    }

    /// What the ratings are relative to, if the player to whom they should be has none.
    fn without_anchor(&self, ratings: &[Rating]) -> Option<String> {
        let Anchor::Player(anchor) = self.anchor else { return None };
        let is_rated = |rating: &Rating| rating.elo.is_some();
        if ratings.iter().any(|rating| rating.player == anchor && is_rated(rating))
            || !ratings.iter().any(is_rated)
        {
            return None;
        }
        Some(format!(
            "`{}` won all its games or lost them all: the ratings are relative to the mean of those that have one",
            self.players[anchor]
        ))
    }

    /// The players by strength, each with its points against each other one.
    fn standings(&self, ratings: &[Rating]) -> Columns {
        let rows = crosstable(self.players.len(), &self.summary.pairings());
        let mut heading: Vec<String> = ["", "player", "Elo", "points", "games"].map(Into::into).into();
        heading.extend((1..=ratings.len()).map(|rank| rank.to_string()));
        let mut table = Columns::new(heading);
        for (rank, Rating { player, elo, .. }) in ratings.iter().enumerate() {
            let Row { points, games, cells } = &rows[*player];
            let mut row = vec![(rank + 1).to_string(), self.players[*player].to_owned()];
            row.push(elo.map_or_else(|| "-".to_owned(), difference));
            row.extend([points.to_string(), grouped(*games)]);
            let against = |other: &Rating| cells[other.player].map(|cell| cell.points.to_string());
            row.extend(ratings.iter().map(|other| against(other).unwrap_or_else(|| "-".to_owned())));
            table.row(row);
        }
        table
    }

    /// What each two players made of their games.
    fn results(&self) -> Columns {
        let mut table = Columns::new(["player", "against", "won", "drawn", "lost", "score", "Elo"]);
        for (PairingResult { pairing, wins, draws, losses }, strength) in
            self.summary.results.iter().zip(&self.scores)
        {
            let [a, b] = pairing.players.map(|index| self.players[index].to_owned());
            let mut row = vec![a, b];
            row.extend([wins, draws, losses].map(|games| grouped(*games)));
            row.push(strength.score.map_or_else(String::new, percent));
            row.push(strength.elo.map_or_else(String::new, difference));
            table.row(row);
        }
        table
    }

    /// What was counted of the players.
    fn player_stats(&self) -> Columns {
        let mut heading = vec!["player", "answers", "mean", "longest"];
        heading.extend(ForfeitKind::ALL.map(ForfeitKind::name));
        heading.push("contradicted proofs");
        if self.forgives_stalls {
            heading.push("forgiven");
        }
        let has_overloaded = self.summary.unplayed > 0;
        if has_overloaded {
            heading.push("overloaded");
        }
        let mut table = Columns::new(heading);
        for (name, stats) in self.players.iter().zip(&self.summary.players) {
            let time = |us| words::time(Duration::from_micros(us));
            let mut row = vec![(*name).to_owned(), grouped(stats.answers)];
            row.extend([time(stats.mean_us()), time(stats.max_us)]);
            let faults = ForfeitKind::ALL.map(|kind| stats.faults.get(&kind).copied().unwrap_or(0));
            row.extend(faults.into_iter().chain([stats.contradicted_proofs]).map(grouped));
            if self.forgives_stalls {
                row.push(grouped(stats.forgiven));
            }
            if has_overloaded {
                row.push(grouped(stats.overloaded));
            }
            table.row(row);
        }
        table
    }
}

/// A game and the rules that were given; if there are none, the preset that is played then.
fn board(game: &Entry, rules: &Settings) -> String {
    let given = rules.iter().map(|(name, value)| match (name, words::setting(value)) {
        (PRESET, value) => value,
        (_, value) => format!("{name}={value}"),
    });
    let preset =
        || game.rules.iter().find(|spec| spec.name == PRESET).and_then(|spec| settings::default(spec.kind));
    let usual = rules.is_empty().then(preset).flatten().map(|preset| preset.to_string());
    let parts = [game.name.to_owned()].into_iter().chain(usual).chain(given);
    parts.collect::<Vec<_>>().join(", ")
}

/// How it stands, in one line: between two players wins, draws, losses, score and Elo of the first, and how
/// far a test is; between more of them each one's points.
pub(super) fn standing(summary: &Summary, test: Option<&Assessment>) -> String {
    let [PairingResult { pairing, wins, draws, losses }] = &summary.results[..] else {
        let rows = crosstable(summary.players.len(), &summary.pairings());
        let points: Vec<String> = rows.iter().map(|row| format!("{}/{}", row.points, row.games)).collect();
        return points.join("  ");
    };
    let mut text = format!("+{wins} ={draws} -{losses}");
    if let Some(score) = pairing.score() {
        text += &format!("  score {}", percent(score));
    }
    if let Some(elo) = pairing.elo() {
        text += &format!("  Elo {}", difference(elo));
    }
    if let Some(Assessment { llr, lower, upper, .. }) = test {
        text += &format!("  LLR {llr:+.2} ({lower:.2} to {upper:.2})");
    }
    text
}

/// What to think of a match in which many games were played more than once; none if they were few.
fn repeats_warning(summary: &Summary) -> Option<String> {
    let Summary { games, repeats, .. } = *summary;
    let is_spoilt = repeats > 0 && repeats * forfeits::FEW >= games;
    is_spoilt.then(|| {
        let repeat = if repeats == 1 { "repeats" } else { "repeat" };
        format!(
            "warning: {} of {} {repeat} an earlier one move for move: they say nothing more of the players, so neither \
             ± nor LLR holds (play more openings, or longer ones: --random-plies, --openings)",
            grouped(repeats),
            words::count(games, "game")
        )
    })
}

pub(super) fn percent(Estimate { value, error }: Estimate) -> String {
    // After two or three pairs it may be larger than all shares: that says nothing, too.
    let error = if error < 1.0 { error } else { f64::INFINITY };
    format!("{:.1} % ± {}", value * 100.0, tenths(error * 100.0))
}

fn difference(Estimate { value, error }: Estimate) -> String {
    // No minus before what is shown as 0.
    let value = (value * 10.0).round() / 10.0 + 0.0;
    format!("{value:+.1} ± {}", tenths(error))
}

/// An error, or `?` if the results do not say how large it is.
fn tenths(error: f64) -> String {
    if error.is_finite() { format!("{error:.1}") } else { "?".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::statistics::Pairs;
    use crate::games::REGISTRY;

    #[test]
    fn a_report_says_what_was_played() {
        for (game, rules, expected) in [
            ("isolation", Settings::new(), "isolation, 7x7"),
            ("isolation", Settings::from_iter([("preset", "11x9")]), "isolation, 11x9"),
            ("isolation", Settings::from_iter([("width", 9), ("height", 5)]), "isolation, height=5, width=9"),
            ("l-game", Settings::new(), "l-game"),
        ] {
            let entry = REGISTRY.iter().find(|entry| entry.name == game).unwrap();
            assert_eq!(board(entry, &rules), expected);
        }
    }

    #[test]
    fn pairs_that_are_all_alike_have_an_error_that_is_not_known() {
        let shown = |counts| {
            let pairs = Pairs { counts };
            [pairs.score().map(percent), pairs.elo().map(difference)].map(Option::unwrap_or_default)
        };
        assert_eq!(shown([0, 0, 0, 0, 9]), ["100.0 % ± ?", ""]);
        assert_eq!(shown([0, 0, 9, 0, 0]), ["50.0 % ± ?", "+0.0 ± ?"]);
        assert_eq!(shown([0, 1, 0, 0, 1])[0], "62.5 % ± ?");
        assert_eq!(shown([0, 2, 3, 4, 1])[0], "60.0 % ± 17.3");
    }
}
