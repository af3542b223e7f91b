//! What the editors of all games keep to: see [`plyd_core::game::Draft`].

use std::sync::Arc;

use plyd_core::effort::Effort;
use plyd_core::engine::AnyRoot;
use plyd_core::engine::conformance::{Sample, chosen, is_whole};
use plyd_core::game::{Choice, Draft, Edit, OpenError};
use plyd_core::zobrist::SplitMix64;
use proptest::prelude::*;

use crate::REGISTRY;

/// The boards and variants on which positions are set up.
const RULES: &[(&str, &[&str])] = &[
    ("isolation", &["", "width=3,height=4", "preset=11x9", "width=15,height=8"]),
    ("colosseum", &["size=5", "", "size=10", "size=12"]),
    ("ijk", &["", "preset=v1", "preset=v1,mode=nondet", "preset=text,mode=nondet", "size=3"]),
    ("l-game", &["", "neutrals=both"]),
    ("sudoku", &["m=2,n=2", "m=2,n=3,preset=rows", "m=2,n=2,preset=random,seed=5", "m=2,n=2,preset=border"]),
];

/// All of them, of the games that are tested.
fn samples() -> Vec<Sample> {
    let entries = chosen(REGISTRY);
    let rules_of = |name| RULES.iter().find(|(game, _)| *game == name).map_or(&[""][..], |(_, rules)| rules);
    let editable = entries.into_iter().filter(|entry| entry.edits.is_some());
    editable
        .flat_map(|entry| rules_of(entry.name).iter().map(|rules| Sample::new(entry, rules, "").unwrap()))
        .collect()
}

/// A text as a draft, after checking all that must hold for any text.
fn draft(sample: &Sample, text: &str) -> Draft {
    let effort = Effort::free();
    let draft = (sample.entry.edits.unwrap())(&sample.rules, text, &effort);
    let error = open(sample, text).err();
    let found = draft.fault.as_ref();
    assert_eq!(found.map(|fault| &fault.error), error.as_ref(), "{sample}: {text:?}");
    if let Some(fault) = found {
        assert!(text.is_char_boundary(fault.offset), "{sample}: {text:?}: {fault:?}");
    }
    let Some(board) = &draft.board else {
        assert!(draft.edits.is_empty() && found.is_some() && draft.text == text, "{sample}: {text:?}");
        return draft;
    };
    let cells = draft.edits.iter().filter_map(|edit| edit.cell).chain(found.and_then(|fault| fault.cell));
    for (row, column) in cells {
        assert!(row < board.rows && column < board.cols, "{sample}: {text:?}: {row},{column}");
    }
    let effort = Effort::free();
    let again = (sample.entry.edits.unwrap())(&sample.rules, &draft.text, &effort);
    assert_eq!((&again.text, &again.board), (&draft.text, &draft.board), "{sample}: {text:?}");
    draft
}

/// The position that a text is.
fn open(sample: &Sample, text: &str) -> Result<Arc<dyn AnyRoot>, OpenError> {
    (sample.entry.open)(&sample.rules, Some(text), &Effort::free())
}

/// The text of a position that a random game comes to.
fn random_position(sample: &Sample, random: &mut SplitMix64) -> String {
    let mut root = sample.root().unwrap();
    for _ in 0..random.below(50) {
        let chance = root.chance().into_iter().map(|outcome| outcome.mv);
        let moves: Vec<String> = root.legal().into_iter().chain(chance).collect();
        if moves.is_empty() {
            break;
        }
        root = root.extend(&moves[random.below(moves.len())..][..1]).unwrap();
    }
    root.text()
}

/// What identifies a choice in any draft.
fn key(choice: &Choice) -> (&str, Option<&str>, Option<usize>) {
    (&choice.label, choice.piece, choice.owner.map(|side| side.index()))
}

/// The edit of another draft for the same place.
fn same<'a>(draft: &'a Draft, edit: &Edit) -> &'a Edit {
    let found = draft
        .edits
        .iter()
        .find(|other| (other.what, other.cell, other.side) == (edit.what, edit.cell, edit.side));
    found.unwrap_or_else(|| panic!("{}: no {} at {:?}", draft.text, edit.what, edit.cell))
}

/// Makes one position from another, cell by cell, as a person would who sees the other one; gives how many
/// choices that took.
fn set_up(sample: &Sample, from: &str, to: &str) -> usize {
    let goal = draft(sample, to);
    assert_eq!((goal.fault.as_ref(), goal.text.as_str()), (None, to), "{sample}");
    let mut now = draft(sample, from);
    let mut chosen = 0;
    // A piece that is elsewhere may have to be moved twice.
    for _ in 0..3 {
        for edit in &goal.edits {
            let is_wanted = |choice: &Choice| {
                edit.choices.iter().any(|wanted| wanted.is_so && key(wanted) == key(choice))
            };
            loop {
                let here = same(&now, edit);
                let lacking = here.choices.iter().find(|choice| !choice.is_so && is_wanted(choice));
                let surplus = || {
                    let surplus = |choice: &&Choice| {
                        choice.is_so && !is_wanted(choice) && choice.change.apply(&now.text) != now.text
                    };
                    here.choices.iter().find(surplus)
                };
                let Some(choice) = lacking.or_else(surplus) else { break };
                let next = choice.change.apply(&now.text);
                let next = draft(sample, &next);
                assert!(next.board.is_some(), "{sample}: {}", next.text);
                assert_ne!(next.text, now.text, "{sample}: {choice:?}");
                now = next;
                chosen += 1;
            }
        }
        let reached = open(sample, &now.text);
        if reached.is_ok_and(|root| root.text() == to) {
            assert_eq!(now.fault, None);
            return chosen;
        }
    }
    panic!("{sample}: from {from} to {to} one comes to {}", now.text);
}

#[test]
fn any_position_can_be_set_up_cell_by_cell() {
    let mut random = SplitMix64::new(26);
    let mut chosen = 0;
    let rounds = if is_whole() { 3 } else { 1 };
    for sample in samples() {
        let start = sample.root().unwrap().text();
        for _ in 0..rounds {
            let to = random_position(&sample, &mut random);
            chosen += set_up(&sample, &start, &to);
            chosen += set_up(&sample, &to, &start);
        }
    }
    assert!(chosen > 100 || chosen > 0 && chosen_is_partial(), "{chosen}");
}

/// Whether only one of the games is tested.
fn chosen_is_partial() -> bool {
    chosen(REGISTRY).len() < REGISTRY.len()
}

#[test]
fn a_draft_shows_what_its_position_shows() {
    let mut random = SplitMix64::new(6);
    for sample in samples() {
        for _ in 0..5 {
            let text = random_position(&sample, &mut random);
            let drawn = draft(&sample, &text).board.unwrap();
            let board = sample.at(&text).root().unwrap().board();
            assert_eq!((drawn.pieces, drawn.walls), (board.pieces, board.walls), "{sample}: {text}");
            assert_eq!((drawn.rows, drawn.cols, drawn.blocks), (board.rows, board.cols, board.blocks));
            assert_eq!((drawn.row_labels, drawn.col_labels), (board.row_labels, board.col_labels));
        }
    }
}

#[test]
fn a_fault_says_where_it_is() {
    type Case = (&'static str, &'static str, &'static str, usize, Option<(usize, usize)>);
    let table: &[Case] = &[
        ("isolation", "", "1../.1./..2 1", 5, Some((1, 1))),
        ("isolation", "", "..2/.../... 1", 2, Some((0, 2))),
        ("isolation", "", "1../.../... 1", 12, None),
        ("isolation", "", ".../.z./... 1", 5, None),
        ("isolation", "", ".../.../...", 11, None),
        ("isolation", "preset=7x7", ".../.../... 1", 0, None),
        ("colosseum", "", "6 2,2 2,2 - 1", 6, Some((2, 2))),
        ("colosseum", "", "6 0,0 5,5 12R,12R 1", 14, Some((1, 2))),
        ("colosseum", "", "6 0,0 5,6 - 1", 6, None),
        ("colosseum", "", "6 0,0 5,5 - 1 é", 14, None),
        ("ijk", "", "Aa/Aa + ~", 8, None),
        ("ijk", "", "A./.z +", 4, Some((1, 1))),
        ("ijk", "preset=v1", "A.../..../..../.... +", 21, None),
        ("ijk", "preset=v1,mode=nondet", "A.../..../..../.... + b2", 22, None),
        ("l-game", "", "3 1 W 3 3 4 4 2 4 E 1", 6, Some((2, 2))),
        ("l-game", "", "3 1 W 1 1 1 1 2 4 E 1", 10, Some((0, 0))),
        ("l-game", "", "3 1 N 1 1 4 4 2 4 E 1", 4, Some((0, 2))),
        ("l-game", "", "3 1 W 1 1 4 4 2 4 E", 19, None),
        ("sudoku", "", "2 2 1 . . . . . . . 1 . . . . . . .", 20, Some((2, 0))),
        ("sudoku", "", "2 2 1 2 . . . . . 3 . . . 4 . . . .", 18, Some((1, 3))),
        ("sudoku", "", "2 2 1 x . . . . . 3 . . . 4 . . . .", 6, Some((0, 1))),
        ("sudoku", "", "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1;taboo 0,3,4", 10, Some((0, 3))),
        ("sudoku", "", "2 2 . . . . . . . . . . . . . . . . ; points 1", 38, None),
    ];
    for &(game, rules, text, offset, cell) in table {
        let Some(&entry) = chosen(REGISTRY).iter().find(|entry| entry.name == game) else { continue };
        let fault = draft(&Sample::new(entry, rules, "").unwrap(), text).fault.expect(text);
        assert_eq!((fault.offset, fault.cell), (offset, cell), "{game} {rules}: {text}: {fault:?}");
    }
}

/// A text with a character left out, doubled or replaced at random.
fn spoilt(text: &str, random: &mut SplitMix64) -> String {
    let mut spoilt: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(2) {
        let at = random.below(spoilt.len());
        match random.below(3) {
            0 => drop(spoilt.remove(at)),
            1 => spoilt.insert(at, spoilt[at]),
            _ => {
                spoilt[at] =
                    ['.', 'x', '1', '2', '9', ' ', '/', ';', ',', 'A', '~', 'é', '+'][random.below(13)]
            }
        }
    }
    spoilt.into_iter().collect()
}

#[test]
fn spoilt_texts_are_drafts_or_have_a_fault() {
    let mut random = SplitMix64::new(9);
    for sample in samples() {
        for _ in 0..20 {
            let text = random_position(&sample, &mut random);
            draft(&sample, &spoilt(&text, &mut random));
        }
    }
}

/// The largest board: thousands of choices, each a short change of a long text.
#[test]
fn a_large_board_has_short_changes() {
    let Some(&entry) = chosen(REGISTRY).iter().find(|entry| entry.name == "sudoku") else { return };
    let sample = Sample::new(entry, "m=5,n=5", "").unwrap();
    let edits = (entry.edits.unwrap())(&sample.rules, &sample.root().unwrap().text(), &Effort::free()).edits;
    let changes: Vec<_> = edits.iter().flat_map(|edit| &edit.choices).map(|choice| &choice.change).collect();
    assert!(changes.len() > 30_000);
    let long = changes.iter().filter(|change| change.put.len() > 30 || change.to - change.from > 30).count();
    assert!(long <= 1, "{long}: none but to clear the board");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_answered(text in prop_oneof![".{0,80}", "[.x12/ +~AaR,D0-9;-]{0,60}", "rows = .{0,40}"]) {
        for sample in samples() {
            draft(&sample, &text);
        }
    }
}
