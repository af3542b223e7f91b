//! Whether players play by the evaluation that they are asked to play by.

use std::sync::Arc;

use super::samples::few;
use crate::engine::{AnyRoot, Engine, Entry, Fault, FaultCode, Line, Place, ToMove};
use crate::options::Options;
use crate::search::Control;

/// The largest number of moves of a position in which players are asked.
const MOVES: usize = 300;
/// How many of its moves they are asked about one by one.
const ALONE: usize = 8;
/// The nodes of a search.
const NODES: u64 = 2000;
/// The lines of a search.
const LINES: usize = 3;

/// What players are asked about: a position, all its moves or one of them, and to what depth.
struct Question {
    root: Arc<dyn AnyRoot>,
    searchmoves: Vec<String>,
    depth: u32,
}

/// What a player did by one evaluation.
struct PlayerAnswers {
    evaluator: &'static str,
    /// How the evaluation values the positions by itself.
    values: Vec<Option<i64>>,
    /// What the player found in them.
    lines: Vec<Vec<Line>>,
}

/// Whether each player refuses an evaluation or plays by it, so that none is replaced by another in silence.
///
/// With two evaluations that value positions differently, a player has to find something else in some of
/// them. A player that gives no values, or only proven ones, needs no evaluation and may take any.
///
/// ```
/// use plyd_core::engine::conformance::evaluations;
///
/// assert_eq!(evaluations(&plyd_core::nim::ENTRY), Ok(()));
/// ```
///
/// # Errors
/// Names the first two evaluations by which a player plays alike, or a player that takes none.
pub fn evaluations(game: &'static Entry) -> Result<(), String> {
    let (mut whole, mut alone) = (Vec::new(), Vec::new());
    for sample in few(game, usize::MAX, MOVES)? {
        let root = sample.root()?;
        if root.to_move() == ToMove::Chance {
            continue;
        }
        let of_one = |mv| Question { root: Arc::clone(&root), searchmoves: vec![mv], depth: 1 };
        alone.extend(root.legal().into_iter().take(ALONE).map(of_one));
        whole.push(Question { root, searchmoves: Vec::new(), depth: 2 });
    }
    let Some(Question { root: start, .. }) = whole.first() else { return Ok(()) };
    for player in game.players() {
        let name = format!("{}, player {}", game.name, player.name);
        let failed = |fault: Fault| format!("{name}: {fault}");
        let mut answers = Vec::new();
        for evaluator in game.evaluators().map(|evaluator| evaluator.name) {
            match engine(start.as_ref(), player.name, evaluator) {
                Err(fault) if fault.code == FaultCode::OptionInvalid && blames_eval(&fault) => {}
                Err(fault) => return Err(failed(fault)),
                Ok(_) => answers.push(PlayerAnswers { evaluator, values: Vec::new(), lines: Vec::new() }),
            }
        }
        if answers.is_empty() {
            return Err(format!("{name}: it takes none of the evaluations"));
        }
        for question in whole.iter().chain(&alone) {
            // Best play may be the same by different evaluations; the value of a single move seldom is. A
            // player that gave no estimate for whole positions gives none for a move.
            if question.depth == 1 && !guesses(&answers) {
                break;
            }
            for PlayerAnswers { evaluator, values, lines } in &mut answers {
                values.push(question.root.eval(evaluator).map_err(failed)?);
                lines.push(found(question, player.name, evaluator).map_err(failed)?);
            }
            if alike(&answers).is_none() {
                break;
            }
        }
        if let Some([one, other]) = alike(&answers).filter(|_| guesses(&answers)) {
            return Err(format!(
                "{name}: it plays by `{one}` and by `{other}` alike: refuse what it cannot play by \
                 (`Options::expect_eval`)"
            ));
        }
    }
    Ok(())
}

/// The first two evaluations that differ while the player found the same by both.
fn alike(answers: &[PlayerAnswers]) -> Option<[&'static str; 2]> {
    answers.iter().enumerate().find_map(|(at, one)| {
        let is_alike = |other: &&PlayerAnswers| one.values != other.values && one.lines == other.lines;
        answers[..at].iter().find(is_alike).map(|other| [other.evaluator, one.evaluator])
    })
}

/// Whether the player gives unproven values, which must come from an evaluation.
fn guesses(answers: &[PlayerAnswers]) -> bool {
    let mut lines = answers.iter().flat_map(|answers| answers.lines.iter().flatten());
    lines.any(|line| line.value.is_some_and(|value| value.proof.is_none()))
}

/// Whether the option `eval` is at fault.
fn blames_eval(fault: &Fault) -> bool {
    matches!(&fault.place, Place::Option(name) if name == "eval")
}

fn engine(root: &dyn AnyRoot, player: &str, evaluator: &str) -> Result<Box<dyn Engine>, Fault> {
    let (player, eval) = (player.to_owned(), evaluator.to_owned());
    root.engine(&Options { player, eval, hash_mb: 1, deterministic: true, ..Options::default() })
}

/// What a player finds by an evaluation.
fn found(question: &Question, player: &str, evaluator: &str) -> Result<Vec<Line>, Fault> {
    let Question { root, searchmoves, depth } = question;
    let mut engine = engine(root.as_ref(), player, evaluator)?;
    let candidates = root.candidates(searchmoves, &[])?;
    let control = Control::default();
    control.set_limits(Some(NODES), Some(*depth));
    Ok(engine.search(root.as_ref(), &candidates, LINES, &control, &mut |_| ()).0)
}
