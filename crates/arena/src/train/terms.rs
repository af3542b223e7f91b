//! What a training is: everything on which its result depends, as its file records it.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::trials::Games;

/// Everything on which the result depends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// The game, and how games begin and end.
    #[serde(flatten)]
    pub games: Games,
    /// How many games there are.
    pub scheduled: u32,
    /// Games between two changes of the weights.
    pub batch: u32,
    /// The depth to which each move is searched, in plies.
    pub depth: u32,
    /// The lambda of TD(lambda), from 0 to 1: how much of a position's return is the return of the next one.
    pub lambda: f64,
    /// The rate of the first game: by what part of its error a position moves its own value. It falls
    /// linearly to 0.
    pub rate: f64,
}

impl Terms {
    /// The first part in which other terms differ, as the command line calls it.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        let differs = [
            (self.scheduled != other.scheduled, "--games"),
            (self.batch != other.batch, "--batch"),
            (self.depth != other.depth, "--depth"),
            (self.lambda != other.lambda, "--lambda"),
            (self.rate != other.rate, "--rate"),
        ];
        let all = self.games.differences(&other.games).into_iter().chain(differs);
        all.into_iter().find_map(|(differs, name)| differs.then_some(name))
    }

    /// The command that gives these terms, without what does not change the result.
    #[must_use]
    pub fn command(&self) -> String {
        let more = [
            ("games", self.scheduled.to_string()),
            ("batch", self.batch.to_string()),
            ("depth", self.depth.to_string()),
            ("lambda", self.lambda.to_string()),
            ("rate", self.rate.to_string()),
        ];
        self.games.command("train", &more)
    }
}

/// How far a training has come: its file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The terms of the training.
    #[serde(rename = "train")]
    pub terms: Terms,
    /// How many games were learned from.
    pub games: u32,
    /// The weights, in the parts of a unit in which the learner keeps them.
    pub weights: Vec<i32>,
}

impl Checkpoint {
    /// Reads a file; none if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is no file of a training.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file at a path; the one before stays whole until then.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        fs::write(&beside, serde_json::to_vec(self)?)?;
        fs::rename(&beside, path)
    }
}
