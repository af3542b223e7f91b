//! The value bar at the table: when it is shown, and where its value comes from.

use std::time::Duration;

use crate::bridge;
use crate::cli::styled::Text;
use crate::play::Position;
use plyd_protocol::{Line, Player};

use super::search::Purpose;
use super::table::{Note, Table};
use super::value_bar::PositionValue;

/// How long a position is looked at for the bar alone.
const GLANCE: Duration = Duration::from_millis(300);

/// The advantage that decides, if the game does not open here.
const DECISIVE: i32 = 3000;

impl Table {
    /// Shows the bar from now on, or no longer.
    pub(super) fn turn_bar(&mut self, is_on: bool) {
        self.bar = is_on;
        if is_on {
            self.say("the bar shows who is ahead; `bar off` hides it");
            self.show_bar();
            self.measure();
        } else {
            self.say("the bar is hidden; `bar` shows it again");
        }
    }

    /// Looks at the position for the bar, if nothing else does.
    pub(super) fn measure(&mut self) {
        if !self.bar || self.value.is_some() || self.search.is_some() {
            return;
        }
        if let Some(player) = self.mover() {
            self.begin(Purpose::Value(player), Some(GLANCE));
        }
    }

    /// Takes the value of the position from lines of a search for a side.
    pub(super) fn learn_value(&mut self, lines: &[Line], by: Player) {
        if let Some(score) = lines.first().and_then(|line| line.score) {
            self.value = Some(PositionValue { score, by });
        }
    }

    /// Says what the bar shows, where nothing else does.
    pub(super) fn show_bar(&mut self) {
        if let Some(line) = self.bar_line() {
            self.notes.push(Note::Progress(line));
        }
    }

    /// The bar; none if it is off or nothing is known.
    pub(super) fn bar_line(&mut self) -> Option<Text> {
        let value = self.value.filter(|_| self.bar)?;
        value.bar(self.decisive())
    }

    /// The advantage with which most games under these rules are won.
    fn decisive(&mut self) -> i32 {
        if let Some(known) = self.decisive {
            return known;
        }
        let rules = bridge::given(&self.history.rules);
        let position = Position::open(self.entry, &rules, Some(&self.history.start));
        *self.decisive.insert(position.map_or(DECISIVE, |position| position.root().decisive()))
    }
}
