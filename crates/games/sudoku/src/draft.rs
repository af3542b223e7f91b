//! What can be changed in a position's text by hand: values, points, declared moves, who is to move, and the
//! cells that players are allowed.

use super::layout::{Layout, ascending};
use super::presets::{Choice as GameChoice, Preset};
use super::rules::{Fill, Sudoku};
use super::state_text;
use super::written::{TABOO, cell_text, scores_text};
use plyd_core::effort::Effort;
use plyd_core::game::{Change, Choice, Draft, Edit, Game, Rules, Side, TextFault, mover_edit, offset_in};
use std::sync::Arc;

/// The most points that a player can come to, for each region of a kind: a row, a column and a block together
/// score 7 at most.
const POINTS_A_REGION: i32 = 7;

/// A layout whose text is being changed.
struct Editor<'a> {
    layout: &'a Layout,
    head: String,
    /// What stands behind it, as [`Layout::parts`] has it: a choice changes one part, so that the others need
    /// not be written for each choice.
    parts: [String; 4],
}

/// The parts that choices change.
const SCORES: usize = 0;
const DECLARED: usize = 1;
const ALLOWED: usize = 3;

impl<'a> Editor<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self { layout, head: layout.head(), parts: layout.parts() }
    }

    /// Where a part begins.
    fn start(&self, part: usize) -> usize {
        self.head.len() + self.parts[..part].iter().map(String::len).sum::<usize>()
    }

    /// A choice that changes a part behind the cells.
    fn behind(&self, label: impl Into<String>, part: usize, next: &str) -> Choice {
        let mut choice = Choice::new(label, &self.parts[part], next);
        choice.change.from += self.start(part);
        choice.change.to += self.start(part);
        choice
    }

    /// The values of the cells, with owners in games that have them.
    fn values(&self, is_bound: bool) -> Vec<Edit> {
        let owners: &[Option<Side>] =
            if is_bound { &[None, Some(Side::First), Some(Side::Second)] } else { &[None] };
        // The first words are the shape.
        let words = self.head.split(' ').skip(2).enumerate();
        let cells = words.map(|(cell, word)| {
            let from = offset_in(&self.head, word);
            let choice =
                |label: String, put: String| Choice::of(label, Change { from, to: from + word.len(), put });
            let now = (self.layout.values[cell], self.layout.owners[cell]);
            let values = owners.iter().flat_map(|&owner| {
                (1..=self.layout.side() as u8).map(move |value| {
                    let is_so = now == (value, owner);
                    let put = if is_so { ".".to_owned() } else { cell_text(value, owner) };
                    choice(value.to_string(), put).piece("value").owner(owner).so(is_so)
                })
            });
            let empty = choice("Empty".to_owned(), ".".to_owned()).so(now.0 == 0);
            Edit::at("Cell", self.layout.place(cell), values.chain([empty]).collect())
        });
        cells.collect()
    }

    /// Which values are declared taboo at each cell.
    fn declared(&self) -> Vec<Edit> {
        let known = &self.layout.taboo;
        let start = self.start(DECLARED);
        // Where each of those that are declared begins, and where the last one ends.
        let mut ends = vec![start + if known.is_empty() { 0 } else { TABOO.len() }];
        for &mv in known {
            ends.push(ends[ends.len() - 1] + self.layout.taboo_word(mv).len());
        }
        let change = |mv: Fill| match known.binary_search(&mv) {
            Ok(_) if known.len() == 1 => Change { from: start, to: ends[1], put: String::new() },
            Ok(at) => Change { from: ends[at], to: ends[at + 1], put: String::new() },
            Err(at) => {
                let before = if known.is_empty() { TABOO } else { "" };
                Change { from: ends[at], to: ends[at], put: before.to_owned() + &self.layout.taboo_word(mv) }
            }
        };
        let edit = |cell: usize| {
            let choice = |value: u8| {
                let mv = Fill { cell: cell as u16, value };
                let is_so = known.binary_search(&mv).is_ok();
                Choice::of(value.to_string(), change(mv)).so(is_so)
            };
            let choices = (1..=self.layout.side() as u8).map(choice).collect();
            Edit::at("Declared taboo", self.layout.place(cell), choices)
        };
        (0..self.layout.values.len()).map(edit).collect()
    }

    /// Who may play at each cell.
    fn allowed(&self, lists: &[Vec<u16>; 2]) -> Vec<Edit> {
        let edit = |cell: usize| {
            let choice = |side: Side| {
                let is_so = lists[side.index()].contains(&(cell as u16));
                let mut next = lists.clone();
                next[side.index()] = toggled(&next[side.index()], cell as u16);
                let next = self.layout.allowed_text(&next.map(Some));
                self.behind(format!("Player {}", side.index() + 1), ALLOWED, &next)
                    .owner(Some(side))
                    .so(is_so)
            };
            Edit::at("May play here", self.layout.place(cell), Side::ALL.map(choice).into())
        };
        (0..self.layout.values.len()).map(edit).collect()
    }

    /// What concerns no cell.
    fn whole(&self, keeps_lists: bool) -> Vec<Edit> {
        let text = self.layout.text();
        let mover =
            mover_edit(&text, self.layout.mover, |mover| Layout { mover, ..self.layout.clone() }.text());
        let points = Side::ALL.map(|side| {
            let now = self.layout.scores[side.index()];
            let most = POINTS_A_REGION * self.layout.side() as i32;
            let choice = |points: i32| {
                let mut scores = self.layout.scores;
                scores[side.index()] = points;
                self.behind(points.to_string(), SCORES, &scores_text(scores))
                    .owner(Some(side))
                    .so(points == now)
            };
            let choices = (0..=most).chain(Some(now).filter(|&now| now > most)).map(choice).collect();
            Edit::of(["Points of player 1", "Points of player 2"][side.index()], choices)
        });
        let cells = self.layout.values.len();
        let empty = Layout {
            values: vec![0; cells],
            owners: vec![None; cells],
            taboo: Vec::new(),
            scores: [0; 2],
            mover: Side::First,
            // Without lists that the rules refuse there is a position that can be played.
            allowed: if keeps_lists { self.layout.allowed.clone() } else { [None, None] },
            ..self.layout.clone()
        };
        let clear = Edit::of("Board", vec![Choice::new("Clear", &text, &empty.text())]);
        [mover].into_iter().chain(points).chain([clear]).collect()
    }
}

/// The cells with `cell` added, or without it if it is among them.
fn toggled(cells: &[u16], cell: u16) -> Vec<u16> {
    if cells.contains(&cell) {
        cells.iter().copied().filter(|&known| known != cell).collect()
    } else {
        ascending(cells.iter().copied().chain([cell]).collect())
    }
}

/// A text as a draft.
pub(super) fn edits(rules: &Rules, given: &str, effort: &Arc<Effort>) -> Draft {
    let is_state = state_text::is_one(given);
    let read = if is_state { state_text::parse(given).map_err(TextFault::from) } else { Layout::read(given) };
    let mut layout = match read {
        Err(fault) => return Draft::unreadable(given, fault),
        Ok(layout) => layout,
    };
    let choice = GameChoice::new(rules, Some(&layout.stated_rules()));
    let is_bound = match &choice {
        Ok(choice) => choice.preset != Preset::Classic,
        Err(_) => layout.stated_rules().has_owners,
    };
    let lists = choice.as_ref().ok().and_then(|choice| choice.allowed.clone());
    let keeps_lists = choice.is_ok();
    let position = choice.map_err(TextFault::from).and_then(|choice| {
        let game = Sudoku::new(choice);
        layout.clone().position(&game.heeding(effort).unwrap_or_else(|| game.clone()))
    });
    let fault = position.err().map(|fault| match fault.cell {
        // The position knows the cell, and not where it is written.
        Some((row, column)) if !is_state => {
            let word = given.split_whitespace().nth(2 + row * layout.side() + column);
            TextFault { offset: word.map_or(0, |word| offset_in(given, word)), ..fault }
        }
        _ => fault,
    });
    layout.taboo = ascending(layout.taboo);
    let editor = Editor::new(&layout);
    let mut edits = editor.values(is_bound);
    edits.extend(editor.declared());
    edits.extend(lists.iter().flat_map(|lists| editor.allowed(lists)));
    edits.extend(editor.whole(keeps_lists));
    let mut board = layout.board();
    board.marks = layout.value_marks("declared", &layout.taboo);
    Draft { text: layout.text(), board: Some(board), edits, fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_the_board_mends_lists_that_the_rules_refuse() {
        let classic = Rules::new(vec![("preset", "classic".into())]);
        let given = format!("2 2{} ; scores 0 0 ; mover 1 ; allowed1 0,0 ; allowed2 0,1", " .".repeat(16));
        let draft = edits(&classic, &given, &Effort::free());
        assert!(draft.fault.is_some(), "the rules refuse the lists");
        let clear = draft.edits.iter().find(|edit| edit.what == "Board").unwrap();
        let cleared = edits(&classic, &clear.choices[0].change.apply(&draft.text), &Effort::free());
        assert_eq!((cleared.fault, cleared.text.contains("allowed")), (None, false));
    }
}
