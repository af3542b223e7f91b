//! How strong bots are: [`glicko`] while they play, [`table`] by all their games; [`progress`] is what is
//! kept of the first.
//!
//! Both are in Elo around the anchors: house bots whose ratings are fixed, so that a rating means the same
//! next year.

pub mod glicko;
pub mod progress;
pub mod table;
