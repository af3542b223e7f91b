//! Converts the core's values to the protocol's types, and back, for all who speak for games on the wire. It
//! decides nothing.
//!
//! # Where to begin
//!
//! Each function is named after what it converts, such as [`lines`], [`outcome`] and [`settings`]:
//!
//! ```
//! use plyd_core::nim;
//! use plyd_core::options::Options;
//! use plyd_core::play::{Player, Position, SearchLimits};
//! use plyd_protocol::ProofOutcome;
//!
//! let heap = Position::start(&nim::ENTRY);
//! let answer = Player::new(&heap, &Options::default())?.best(&heap, &SearchLimits::default())?;
//! let line = plyd_bridge::lines(answer.lines).remove(0);
//! assert_eq!((line.rank, line.mv.as_str()), (1, "1"));
//! let proof = line.score.and_then(|score| score.proof);
//! assert_eq!(proof.map(|proof| proof.outcome), Some(ProofOutcome::Win));
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```

pub mod program;
pub mod review;

use std::cmp::Ordering;

use plyd_protocol as wire;

use plyd_core::engine::settings::Settings;
use plyd_core::engine::{
    Actions, BookMove, BookPage, ChanceOutcome, Evaluation, Fault, FaultCode, Line, Place, Successor, ToMove,
};
use plyd_core::game::{CellSide, Choice, Draft, Drawing, Edit, Mark, Outcome, Rules, Setting, Side};
use plyd_core::search::Bound;

/// A side as a player.
///
/// ```
/// use plyd_core::game::Side;
///
/// assert_eq!(plyd_bridge::player(Side::Second), plyd_protocol::Player::P2);
/// ```
#[must_use]
pub fn player(side: Side) -> wire::Player {
    match side {
        Side::First => wire::Player::P1,
        Side::Second => wire::Player::P2,
    }
}

/// Whose turn it is.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let heap = Position::start(&nim::ENTRY);
/// assert_eq!(plyd_bridge::to_move(heap.to_move()), plyd_protocol::ToMove::P1);
/// ```
#[must_use]
pub fn to_move(to_move: ToMove) -> wire::ToMove {
    match to_move {
        ToMove::Player(Side::First) => wire::ToMove::P1,
        ToMove::Player(Side::Second) => wire::ToMove::P2,
        ToMove::Chance => wire::ToMove::Chance,
    }
}

/// The end of a game.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let end = Position::open(&nim::ENTRY, &Default::default(), Some("2 1"))?.play("2")?;
/// let outcome = plyd_bridge::outcome(end.outcome().expect("no stone is left"));
/// assert_eq!((outcome.winner, outcome.by.as_str()), (Some(plyd_protocol::Player::P1), "taken"));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[must_use]
pub fn outcome(outcome: Outcome) -> wire::Outcome {
    wire::Outcome {
        winner: outcome.winner.map(player),
        by: outcome.by.to_owned(),
        scores: outcome.scores.map(|scores| scores.map(i64::from)),
    }
}

/// A value of a rule or an option.
///
/// ```
/// assert_eq!(plyd_bridge::setting(&7.into()), plyd_protocol::Setting::Int(7));
/// ```
#[must_use]
pub fn setting(setting: &Setting) -> wire::Setting {
    match setting {
        Setting::Bool(value) => (*value).into(),
        Setting::Int(value) => (*value).into(),
        Setting::Text(value) => value.as_str().into(),
    }
}

/// Rules or options.
///
/// ```
/// use plyd_core::engine::settings::Settings;
///
/// let options = plyd_bridge::settings(&Settings::from_iter([("level", 3)]));
/// assert_eq!(options.get("level"), Some(&plyd_protocol::Setting::Int(3)));
/// ```
#[must_use]
pub fn settings(settings: &Settings) -> wire::Settings {
    settings.iter().map(|(name, value)| (name, setting(value))).collect()
}

/// Rules that were checked.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// // All rules in force, those that nobody gave too.
/// let rules = plyd_bridge::rules(&Position::start(&nim::ENTRY).root().rules());
/// assert_eq!(rules, plyd_protocol::Settings::from_iter([("most", 3)]));
/// ```
#[must_use]
pub fn rules(rules: &Rules) -> wire::Settings {
    rules.iter().map(|(name, value)| (name, setting(value))).collect()
}

/// Rules or options that a client gave.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// // The rules of a request, as a game takes them.
/// let rules = plyd_protocol::Settings::from_iter([("most", 5)]);
/// let heap = Position::open(&nim::ENTRY, &plyd_bridge::given(&rules), None)?;
/// assert_eq!(plyd_bridge::rules(&heap.root().rules()), rules);
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[must_use]
pub fn given(settings: &wire::Settings) -> Settings {
    let value = |value: &wire::Setting| match value {
        wire::Setting::Bool(value) => Setting::Bool(*value),
        wire::Setting::Int(value) => Setting::Int(*value),
        wire::Setting::Text(value) => Setting::Text(value.clone()),
    };
    settings.iter().map(|(name, given)| (name, value(given))).collect()
}

/// A legal move and what follows.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let heap = Position::start(&nim::ENTRY);
/// let moves = heap.root().moves(Some("rest"))?.into_iter().map(plyd_bridge::successor);
/// let moves: Vec<plyd_protocol::MoveInfo> = moves.collect();
/// assert_eq!((moves[0].mv.as_str(), moves[0].text.as_str()), ("1", "20 2"));
/// assert_eq!(moves[0].eval, Some(1000), "the opponent is to leave a multiple of four");
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[must_use]
pub fn successor(successor: Successor) -> wire::MoveInfo {
    let Successor { mv, text, eval, outcome: end } = successor;
    wire::MoveInfo { mv, text, eval, outcome: end.map(outcome) }
}

/// A chance outcome and its probability.
///
/// ```
/// use plyd_core::engine::ChanceOutcome;
///
/// let heads = plyd_bridge::chance(ChanceOutcome { mv: "~heads".to_owned(), ppm: 500_000 });
/// assert_eq!((heads.mv.as_str(), heads.ppm), ("~heads", 500_000));
/// ```
#[must_use]
pub fn chance(chance: ChanceOutcome) -> wire::ChanceInfo {
    wire::ChanceInfo { mv: chance.mv, ppm: chance.ppm }
}

/// The legal moves as numbers.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let actions = plyd_bridge::actions(Position::start(&nim::ENTRY).root().actions());
/// assert_eq!((actions.count, actions.legal), (4, vec![1, 2, 3]));
/// ```
#[must_use]
pub fn actions(actions: Actions) -> wire::Actions {
    // No game has more than 65,535: conformance counts them.
    let number = |index: usize| index as u32;
    wire::Actions { count: number(actions.count), legal: actions.legal.into_iter().map(number).collect() }
}

/// Converts what a book says about a position.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let book = plyd_bridge::book(Position::start(&nim::ENTRY).root().book().expect("Nim is solved"));
/// assert_eq!((book.moves[0].mv.as_str(), book.moves[0].score), ("1", book.score));
/// ```
#[must_use]
pub fn book(page: BookPage) -> wire::Book {
    let count = |replies: usize| replies as u32;
    let judged = |BookMove { mv, alike, value, replies, reply }: BookMove| wire::BookMove {
        mv,
        alike,
        score: score(value),
        replies: replies.map(|replies| wire::Replies {
            wins: count(replies.wins),
            draws: count(replies.draws),
            losses: count(replies.losses),
        }),
        reply,
    };
    wire::Book { score: score(page.value), moves: page.moves.into_iter().map(judged).collect() }
}

/// The lines that a search found, ranked from 1.
///
/// ```
/// use plyd_core::engine::Line;
///
/// let line = |mv: &str| Line { pv: vec![mv.to_owned()], depth: 1, value: None };
/// let lines = plyd_bridge::lines(vec![line("a1"), line("b2")]);
/// assert_eq!((lines[1].rank, lines[1].mv.as_str()), (2, "b2"));
/// ```
#[must_use]
pub fn lines(lines: Vec<Line>) -> Vec<wire::Line> {
    let line = |(rank, Line { pv, depth, value }): (u32, Line)| wire::Line {
        rank,
        mv: pv[0].clone(),
        pv,
        depth,
        score: value.map(score),
    };
    (1..).zip(lines).map(line).collect()
}

/// What a search says a move is worth.
///
/// ```
/// use plyd_core::engine::Evaluation;
/// use plyd_core::search::Bound;
///
/// let score = plyd_bridge::score(Evaluation { bound: Bound::Lower, eval: Some(250), proof: None });
/// assert_eq!((score.bound, score.eval), (plyd_protocol::Bound::Lower, Some(250)));
/// ```
#[must_use]
pub fn score(value: Evaluation) -> wire::Score {
    let bound = match value.bound {
        Bound::Exact => wire::Bound::Exact,
        Bound::Lower => wire::Bound::Lower,
        Bound::Upper => wire::Bound::Upper,
    };
    let proof = value.proof.map(|proof| wire::Proof {
        outcome: match proof.result {
            Ordering::Greater => wire::ProofOutcome::Win,
            Ordering::Equal => wire::ProofOutcome::Draw,
            Ordering::Less => wire::ProofOutcome::Loss,
        },
        plies: proof.plies,
        plies_max: proof.plies_max,
        margin: proof.margin,
    });
    wire::Score { bound, eval: value.eval, wdl: None, proof }
}

/// The code of a fault's error message.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let fault = Position::start(&nim::ENTRY).play("9").unwrap_err();
/// assert_eq!(plyd_bridge::error_code(fault.code), plyd_protocol::ErrorCode::IllegalMove);
/// ```
#[must_use]
pub fn error_code(code: FaultCode) -> wire::ErrorCode {
    match code {
        FaultCode::RulesUnsupported => wire::ErrorCode::RulesUnsupported,
        FaultCode::BadPosition => wire::ErrorCode::BadPosition,
        FaultCode::IllegalPosition => wire::ErrorCode::IllegalPosition,
        FaultCode::IllegalMove => wire::ErrorCode::IllegalMove,
        FaultCode::GameOver => wire::ErrorCode::GameOver,
        FaultCode::OptionUnknown => wire::ErrorCode::OptionUnknown,
        FaultCode::OptionInvalid => wire::ErrorCode::OptionInvalid,
        FaultCode::Undecided => wire::ErrorCode::Undecided,
        FaultCode::Unprepared => wire::ErrorCode::Unprepared,
    }
}

/// The JSON pointer to a part of a request; none if no part is to blame.
///
/// ```
/// use plyd_core::engine::Place;
///
/// assert_eq!(plyd_bridge::pointer(&Place::Ply(2)).as_deref(), Some("/position/moves/2"));
/// assert_eq!(plyd_bridge::pointer(&Place::Option("eval".to_owned())).as_deref(), Some("/options/eval"));
/// assert_eq!(plyd_bridge::pointer(&Place::Request), None);
/// ```
#[must_use]
pub fn pointer(place: &Place) -> Option<String> {
    Some(match place {
        Place::Request => return None,
        Place::Rule(name) => wire::pointer("/rules", name),
        Place::Option(name) => wire::pointer("/options", name),
        Place::Position => "/position".to_owned(),
        Place::Start => "/position/start".to_owned(),
        Place::Ply(index) => format!("/position/moves/{index}"),
        Place::SearchMove(index) => format!("/searchmoves/{index}"),
        Place::ExcludeMove(index) => format!("/excludemoves/{index}"),
        Place::ExcludeMoves => "/excludemoves".to_owned(),
    })
}

/// Where a fault is, for people: ` at POINTER`, or nothing.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let fault = Position::start(&nim::ENTRY).play("9").unwrap_err();
/// let sentence = format!("illegal move{}: {}", plyd_bridge::at(&fault), fault.message);
/// assert!(sentence.starts_with("illegal move at /position/moves/0: "));
/// ```
#[must_use]
pub fn at(fault: &Fault) -> String {
    pointer(&fault.place).map(|pointer| format!(" at {pointer}")).unwrap_or_default()
}

/// A cell as it stands on the wire.
fn cell((row, col): (usize, usize)) -> [u32; 2] {
    [row as u32, col as u32]
}

/// A board as drawing primitives.
///
/// ```
/// use plyd_core::game::{Drawing, Piece, Side};
///
/// let disc = Piece { cells: vec![(5, 3)], piece: "disc", label: None, owner: Some(Side::First) };
/// let board = plyd_bridge::board(Drawing { rows: 6, cols: 7, pieces: vec![disc], ..Drawing::default() });
/// assert_eq!((board.grid.rows, board.pieces[0].cell), (6, [5, 3]));
/// ```
#[must_use]
pub fn board(drawing: Drawing) -> wire::Board {
    let pieces = drawing.pieces.into_iter().filter_map(|piece| {
        let (&first, others) = piece.cells.split_first()?;
        Some(wire::Piece {
            cell: cell(first),
            also: others.iter().copied().map(cell).collect(),
            piece: piece.piece.to_owned(),
            owner: piece.owner.map(player),
            label: piece.label,
        })
    });
    let walls = drawing.walls.into_iter().map(|wall| wire::Wall {
        cell: cell(wall.cell),
        side: if wall.right { wire::Side::Right } else { wire::Side::Down },
    });
    let marks = |marks: Vec<Mark>| {
        let marks = marks.into_iter().map(|mark| wire::Mark {
            cell: cell(mark.cell),
            mark: mark.mark.to_owned(),
            owner: mark.owner.map(player),
            label: mark.label,
        });
        marks.collect()
    };
    let layers = drawing.layers.into_iter().map(|layer| wire::Layer {
        name: layer.name.to_owned(),
        label: layer.label.to_owned(),
        usual: layer.is_usual,
        kinds: layer.kinds.iter().map(|&kind| kind.to_owned()).collect(),
        marks: marks(layer.marks),
    });
    wire::Board {
        grid: wire::Grid {
            rows: drawing.rows as u32,
            cols: drawing.cols as u32,
            block: drawing.blocks.map(|(rows, cols)| [rows as u32, cols as u32]),
            row_labels: drawing.row_labels,
            col_labels: drawing.col_labels,
        },
        pieces: pieces.collect(),
        walls: walls.collect(),
        marks: marks(drawing.marks),
        scores: drawing.scores.map(|scores| scores.map(i64::from)),
        layers: layers.collect(),
    }
}

/// Converts a draft for an editor; `given` is the text that was sent, by which its places, in bytes, become
/// the wire's, in characters.
///
/// ```
/// use plyd_bridge::edits;
/// use plyd_core::game::{Draft, TextFault};
///
/// let given = "é 1";
/// let draft = Draft::unreadable(given, TextFault::malformed(3, "no such word"));
/// // The wire counts characters.
/// assert_eq!(edits(draft, given).fault.map(|fault| fault.offset), Some(2));
/// ```
#[must_use]
pub fn edits(draft: Draft, given: &str) -> wire::Edits {
    let choice = |choice: Choice| wire::EditChoice {
        label: choice.label,
        piece: choice.piece.map(str::to_owned),
        owner: choice.owner.map(player),
        so: choice.is_so,
        // The usual form of a text is ASCII.
        from: choice.change.from as u32,
        to: choice.change.to as u32,
        put: choice.change.put,
    };
    let edit = |edit: Edit| wire::Edit {
        what: edit.what.to_owned(),
        cell: edit.cell.map(cell),
        side: edit.side.map(|side| match side {
            CellSide::Right => wire::Side::Right,
            CellSide::Down => wire::Side::Down,
        }),
        choices: edit.choices.into_iter().map(choice).collect(),
    };
    let fault = draft.fault.map(|fault| wire::EditFault {
        message: fault.error.message(),
        offset: given.char_indices().take_while(|&(at, _)| at < fault.offset).count() as u32,
        cell: fault.cell.map(cell),
    });
    wire::Edits {
        text: draft.text,
        board: draft.board.map(board),
        edits: draft.edits.into_iter().map(edit).collect(),
        fault,
    }
}
