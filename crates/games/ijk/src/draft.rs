//! What can be changed in a position's text by hand: the tiles, who is to move, and what some rules add.

use super::board::{Board, Case, LAST, Tile, places};
use super::notation::{Layout, letter, place_text};
use super::planes::Planes;
use super::rules::Ijk;
use super::variant::{Skip, Variant};
use plyd_core::effort::Effort;
use plyd_core::game::{Choice, Draft, Edit, OpenError, Rules, Side, TextFault, mover_edit, offset_in};
use std::sync::Arc;

impl Layout {
    /// The text with a tile, or none, on a cell.
    fn with(&self, place: (usize, usize), tile: Option<Tile>) -> String {
        let tile_at = |row, column| {
            if (row, column) == place { tile } else { self.board.tile(Planes::cell(row, column)) }
        };
        Self { board: Planes::from_tiles(self.size, tile_at), ..self.clone() }.text()
    }

    /// The tiles that can stand on a cell.
    fn tile_edit(&self, text: &str, place: (usize, usize)) -> Edit {
        let now = self.board.tile(Planes::cell(place.0, place.1));
        let tiles = [Case::Upper, Case::Lower]
            .into_iter()
            .flat_map(|case| (1..=LAST).map(move |letter| Tile { letter, case }));
        let choices = tiles.map(|tile| {
            let is_so = now == Some(tile);
            let after = self.with(place, Some(tile).filter(|_| !is_so));
            Choice::new(letter(tile), text, &after).piece("tile").owner(Some(tile.case.side())).so(is_so)
        });
        let empty = Choice::new("Empty", text, &self.with(place, None)).so(now.is_none());
        Edit::at("Cell", place, choices.chain([empty]).collect())
    }

    /// What can be changed; `variant` is none if the text contradicts the rules.
    fn edits(&self, text: &str, variant: Option<&Variant>) -> Vec<Edit> {
        let chance = self.awaits || variant.is_some_and(|variant| variant.chance);
        let mut edits: Vec<Edit> = places(self.size).map(|place| self.tile_edit(text, place)).collect();
        edits.push(mover_edit(text, self.mover, |mover| Self { mover, ..self.clone() }.text()));
        let flips = variant.is_some_and(|variant| variant.skip == Skip::Flip);
        if self.last.is_some() || flips {
            let choice = |place| {
                let is_so = self.last == Some(place);
                // Where no rule needs it, it can go.
                let last = Some(place).filter(|_| flips || !is_so);
                Choice::new(place_text(place), text, &Self { last, ..self.clone() }.text()).so(is_so)
            };
            edits.push(Edit::of("Tile placed last", places(self.size).map(choice).collect()));
        }
        if chance {
            let choice = |(label, awaits): (&str, bool)| {
                Choice::new(label, text, &Self { awaits, ..self.clone() }.text()).so(self.awaits == awaits)
            };
            let choices = [("A player’s move", false), ("A tile, which chance places", true)].map(choice);
            edits.push(Edit::of("Next comes", choices.into()));
        }
        let empty = Self { board: Planes::default(), mover: Side::First, ..self.clone() };
        edits.push(Edit::of("Board", vec![Choice::new("Clear", text, &empty.text())]));
        edits
    }

    /// What is wrong under some rules with the layout that was read from a text.
    fn wrong(&self, text: &str, variant: &Variant) -> Result<(), TextFault> {
        let found = if variant.chance {
            self.position::<true, Planes>(&Ijk::new(*variant)).map(drop)
        } else {
            self.position::<false, Planes>(&Ijk::new(*variant)).map(drop)
        };
        // Rules object to nothing but the cell that stands after the mover, or is missing there.
        let last = text.split(' ').nth(2).map_or(text.len(), |word| offset_in(text, word));
        found.map_err(|error| TextFault { offset: last, ..TextFault::from(error) })
    }
}

/// A text as a draft.
pub(super) fn edits(rules: &Rules, given: &str, _effort: &Arc<Effort>) -> Draft {
    match Layout::read(given) {
        Err(fault) => Draft::unreadable(given, fault),
        Ok(layout) => {
            let variant = Variant::choose(rules, Some(layout.stated_rules()));
            let of_rules = match &variant {
                Ok(variant) => layout.wrong(given, variant),
                Err(error) => Err(OpenError::clone(error).into()),
            };
            let fault = layout.check(given).and(of_rules).err();
            let text = layout.text();
            let edits = layout.edits(&text, variant.as_ref().ok());
            Draft { board: Some(layout.board()), edits, fault, text }
        }
    }
}
