//! The table in words: who plays, who is to move, and how the game ended.

use crate::cli::styled::{Text, Tone};
use crate::cli::{picture, words};
use plyd_protocol::{Player, ToMove};

use super::seats;
use super::table::Table;

impl Table {
    /// A side with the name of who plays it, such as "p1 (me)".
    pub(super) fn named(&self, player: Player) -> String {
        let side = words::side_name(player);
        format!("{side} ({})", self.seats[seats::index(player)].name(&self.common))
    }

    /// Who is to move, or how the game ended, in a sentence.
    pub(super) fn status(&self) -> Text {
        if let Some(outcome) = self.outcome() {
            return Text::new(
                &format!("{}.", words::ending(self.entry, &outcome, self.only_me())),
                Tone::Strong,
            );
        }
        let mut text = match self.mover() {
            Some(player) => {
                Text::new(&format!("{} to move", self.named(player)), picture::tone(Some(player)))
            }
            None => Text::from(words::to_move(ToMove::Chance)),
        };
        if self.history.looking {
            let place = format!(", ply {} of {}", self.history.at(), self.history.len());
            text.push(&place, Tone::Plain);
        }
        let waits = self.mover().is_some_and(|player| !self.seats[seats::index(player)].is_me());
        if self.paused && waits && self.search.is_none() {
            text.push("; the engine waits for `continue`", Tone::Plain);
        }
        text
    }

    /// The side of the person at the keyboard, if it is one alone.
    fn only_me(&self) -> Option<Player> {
        match [0, 1].map(|index| self.seats[index].is_me()) {
            [true, false] => Some(Player::P1),
            [false, true] => Some(Player::P2),
            _ => None,
        }
    }

    /// Why nobody can move here, as a clause.
    pub(super) fn standstill(&self) -> String {
        match self.outcome() {
            Some(_) => "the game is over".to_owned(),
            None => self.status().plain(),
        }
    }
}
