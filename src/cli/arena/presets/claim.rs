//! What a report claims of a match, and whether our games confirm it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::arena::PairingResult;
use crate::arena::statistics::{Estimate, Z_95};

/// A claim about the first player's games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// So many games won and lost.
    Score { won: u32, lost: u32 },
    /// Every game is won.
    AllWon,
    /// No game is lost.
    NoLoss,
    /// More than half of the points.
    MoreThanHalf,
    /// Half of the points at most.
    HalfAtMost,
    /// No game has more moves.
    Longest(u32),
}

/// Whether games bear a claim out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// They do.
    Holds,
    /// They are too few to decide.
    Open,
    /// They contradict it.
    Differs,
}

impl Verdict {
    /// For tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Open => "open",
            Self::Differs => "differs",
        }
    }
}

impl Claim {
    /// What a match says to the claim: the two players' games, and the moves of the longest one.
    pub(super) fn verdict(self, result: &PairingResult, longest: usize) -> Verdict {
        let games = result.wins + result.draws + result.losses;
        let sure = |holds| if holds { Verdict::Holds } else { Verdict::Differs };
        let Some(ours) = result.pairing.score() else { return Verdict::Open };
        let centre = centre(result, ours);
        let error = centre.error;
        let likely = |holds| if games < FEW { Verdict::Open } else { sure(holds) };
        // What holds for a few games is not yet borne out; one game is enough to contradict.
        let sure = |holds| if holds && games < FEW { Verdict::Open } else { sure(holds) };
        match self {
            Self::Score { won, lost } => {
                let theirs = published(won, lost);
                likely((ours.value - theirs.value).abs() <= error.hypot(theirs.error))
            }
            Self::AllWon => sure(result.draws + result.losses == 0),
            Self::NoLoss => sure(result.losses == 0),
            Self::MoreThanHalf if centre.value - error > 0.5 => likely(true),
            Self::MoreThanHalf if centre.value + error <= 0.5 => likely(false),
            Self::HalfAtMost if centre.value + error <= 0.5 => likely(true),
            Self::HalfAtMost if centre.value - error > 0.5 => likely(false),
            Self::MoreThanHalf | Self::HalfAtMost => Verdict::Open,
            Self::Longest(moves) => sure(longest <= moves as usize),
        }
    }
}

/// The score of a match for tables, with the error that verdicts are made by.
pub(super) fn score(result: &PairingResult) -> Option<Estimate> {
    let ours = result.pairing.score()?;
    Some(Estimate { error: centre(result, ours).error, ..ours })
}

/// The middle of a score's interval: if all pairs were alike, the share is moved along with its error.
fn centre(result: &PairingResult, ours: Estimate) -> Estimate {
    let games = result.wins + result.draws + result.losses;
    if ours.has_error() { ours } else { adjusted(ours.value, games as f64 / 2.0) }
}

/// The fewest games that bear a claim out, or contradict it by their number.
const FEW: u64 = 10;

/// A published result as a share of the points.
fn published(won: u32, lost: u32) -> Estimate {
    let games = f64::from(won + lost);
    let value = f64::from(won) / games;
    Estimate { value, error: adjusted(value, games).error }
}

/// The share of the points of games, or of pairs, that do not depend on each other, as if two more of each
/// kind were played (Agresti and Coull, 1998): the plain error of 20 : 0 would be 0.
fn adjusted(share: f64, games: f64) -> Estimate {
    let value = (share * games + 2.0) / (games + 4.0);
    Estimate { value, error: Z_95 * (value * (1.0 - value) / (games + 4.0)).sqrt() }
}

impl FromStr for Claim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = |text: &str| {
            let (won, lost) = text.split_once('-')?;
            Some(Self::Score { won: won.parse().ok()?, lost: lost.parse().ok()? })
        };
        match text {
            "all won" => Ok(Self::AllWon),
            "no loss" => Ok(Self::NoLoss),
            "more than half" => Ok(Self::MoreThanHalf),
            "half at most" => Ok(Self::HalfAtMost),
            _ => text
                .strip_suffix(" moves at most")
                .and_then(|moves| Some(Self::Longest(moves.parse().ok()?)))
                .or_else(|| numbers(text))
                .ok_or_else(|| format!("`{text}` is no claim")),
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Score { won, lost } => write!(f, "{won}-{lost}"),
            Self::AllWon => f.write_str("all won"),
            Self::NoLoss => f.write_str("no loss"),
            Self::MoreThanHalf => f.write_str("more than half"),
            Self::HalfAtMost => f.write_str("half at most"),
            Self::Longest(moves) => write!(f, "{moves} moves at most"),
        }
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::statistics::Pairing;

    /// A pairing with so many wins, draws and losses, each pair of two games that ended alike; an odd game is
    /// left out of the pairs.
    fn result(wins: u64, draws: u64, losses: u64) -> PairingResult {
        let mut pairing = Pairing::new([0, 1]);
        for (half_points, games) in [(2, wins), (1, draws), (0, losses)] {
            (0..games / 2).for_each(|_| pairing.pairs.add(2 * half_points));
        }
        PairingResult { pairing, wins, draws, losses }
    }

    #[test]
    fn games_bear_claims_out_or_do_not() {
        for (claim, wins, draws, losses, longest, expected) in [
            ("15-5", 14, 0, 6, 9, Verdict::Holds),
            ("15-5", 0, 0, 20, 9, Verdict::Differs),
            ("20-0", 20, 0, 0, 9, Verdict::Holds),
            ("20-0", 100, 0, 100, 9, Verdict::Differs),
            ("10-10", 0, 20, 0, 9, Verdict::Holds),
            ("all won", 20, 0, 0, 9, Verdict::Holds),
            ("all won", 18, 2, 0, 9, Verdict::Differs),
            ("no loss", 18, 2, 0, 9, Verdict::Holds),
            ("no loss", 18, 0, 2, 9, Verdict::Differs),
            ("more than half", 90, 0, 10, 9, Verdict::Holds),
            ("more than half", 52, 0, 48, 9, Verdict::Open),
            ("more than half", 10, 0, 90, 9, Verdict::Differs),
            ("more than half", 0, 200, 0, 9, Verdict::Open),
            ("more than half", 2, 0, 0, 9, Verdict::Open),
            ("more than half", 8, 0, 0, 9, Verdict::Open),
            ("more than half", 10, 0, 0, 9, Verdict::Holds),
            ("more than half", 0, 0, 2, 9, Verdict::Open),
            ("half at most", 0, 0, 2, 9, Verdict::Open),
            ("half at most", 2, 0, 0, 9, Verdict::Open),
            ("all won", 2, 0, 0, 9, Verdict::Open),
            ("all won", 0, 0, 2, 9, Verdict::Differs),
            ("20-0", 2, 0, 0, 9, Verdict::Open),
            ("19-1", 0, 0, 2, 9, Verdict::Open),
            ("half at most", 0, 20, 0, 9, Verdict::Open),
            ("half at most", 0, 2, 38, 9, Verdict::Holds),
            ("half at most", 90, 0, 10, 9, Verdict::Differs),
            ("half at most", 48, 0, 52, 9, Verdict::Open),
            ("32 moves at most", 20, 0, 0, 32, Verdict::Holds),
            ("32 moves at most", 20, 0, 0, 33, Verdict::Differs),
            ("15-5", 0, 0, 0, 0, Verdict::Open),
        ] {
            let parsed: Claim = claim.parse().unwrap();
            assert_eq!(parsed.to_string(), claim);
            assert_eq!(parsed.verdict(&result(wins, draws, losses), longest), expected, "{claim} {wins}");
        }
        for claim in ["", "15", "15-", "a-b", "won", "x moves at most"] {
            assert!(claim.parse::<Claim>().is_err(), "{claim}");
        }
    }
}
