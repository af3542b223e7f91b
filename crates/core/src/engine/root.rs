//! [`AnyRoot`] for any game: a position with its history behind one object.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{
    Actions, AnyRoot, BookPage, Candidates, ChanceOutcome, Counting, Doubt, Engine, Entry, Fault, FaultCode,
    Learner, NamedEvaluator, Place, Playable, Successor, ToMove, conformance, perft, picture,
    player::TypedEngine, typed::Typed,
};
use crate::effort::{Effort, Interrupt};
use crate::game::{Cell, Drawing, Outcome, Root, Rules, Side, Turn};
use crate::options::Options;
use crate::search::Control;

/// A game's root at its start, as an object.
///
/// ```
/// use plyd_core::engine;
/// use plyd_core::nim::{Heap, Nim};
///
/// // A position of a type as one of texts.
/// let root = engine::open(Nim { most: 3 }, Heap::of(2));
/// assert_eq!((root.entry().name, root.legal()), ("nim", vec!["1".to_owned(), "2".to_owned()]));
/// ```
pub fn open<G: Playable>(game: G, start: G::Position) -> Arc<dyn AnyRoot> {
    let doubt = game.is_undecided(&start).then_some(Doubt::Start);
    Arc::new(Typed { game, root: Root::new(start), played: Vec::new(), doubt })
}

impl<G: Playable> Typed<G> {
    /// The legal moves; none at a chance node or at the end.
    fn legal_moves(&self) -> Vec<G::Move> {
        let mut moves = Vec::new();
        if self.game.turn(&self.root.pos) == Turn::Move {
            self.game.moves(&self.root.pos, &mut moves);
        }
        moves
    }

    /// Reads one ply of a move list and says what is wrong with it if it cannot be played.
    fn read(&self, text: &str) -> Result<G::Move, String> {
        match self.game.turn(&self.root.pos) {
            Turn::Over(_) => Err("the game is over before this ply".to_owned()),
            Turn::Chance if !text.starts_with('~') => Err("a chance outcome (`~`) comes next".to_owned()),
            Turn::Chance => self.read_legal(text),
            Turn::Move => self.read_move(text),
        }
    }

    /// Reads a move where a player is to move.
    fn read_move(&self, text: &str) -> Result<G::Move, String> {
        if text.starts_with('~') {
            return Err("no chance outcome is due".to_owned());
        }
        self.read_legal(text)
    }

    fn read_legal(&self, text: &str) -> Result<G::Move, String> {
        let mv = self.game.parse_move(&self.root.pos, text)?;
        if self.game.is_legal(&self.root.pos, mv) {
            Ok(mv)
        } else {
            Err("the rules do not allow this move here".to_owned())
        }
    }
}

/// The index of each legal move, so that the time to read a list of moves grows with its length alone.
struct Places<'a, G: Playable> {
    typed: &'a Typed<G>,
    /// By the game's index of a move.
    of_index: Vec<Option<usize>>,
}

impl<'a, G: Playable> Places<'a, G> {
    fn new(typed: &'a Typed<G>, legal: &[G::Move]) -> Self {
        let mut of_index = vec![None; typed.game.index_len()];
        for (place, &mv) in legal.iter().enumerate() {
            of_index[typed.game.index(mv)] = Some(place);
        }
        Self { typed, of_index }
    }

    /// Marks the moves that a list of texts names.
    fn mark(
        &self,
        (texts, place_of): (&[String], fn(usize) -> Place),
        marks: &mut [bool],
        mark: bool,
        effort: &Effort,
    ) -> Result<(), Fault> {
        for (i, text) in texts.iter().enumerate() {
            if !effort.proceed(1) {
                return Err(Fault::unprepared(place_of(i)));
            }
            let mv = self.typed.read_move(text).map_err(|message| Fault::illegal(place_of(i), message))?;
            let place = self.of_index[self.typed.game.index(mv)];
            marks[place.expect("a legal move is in the list of legal moves")] = mark;
        }
        Ok(())
    }
}

impl<G: Playable> AnyRoot for Typed<G> {
    fn entry(&self) -> &'static Entry {
        G::entry()
    }

    fn rules(&self) -> Rules {
        Rules::new(self.game.rules())
    }

    fn extend_within(&self, moves: &[String], effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, Fault> {
        let Self { game, root, played, doubt } = self;
        let heeding = game.heeding(effort).unwrap_or_else(|| game.clone());
        let mut next = Self { game: heeding, root: root.clone(), played: played.clone(), doubt: *doubt };
        for text in moves {
            if !effort.proceed(1) {
                return Err(Fault::unprepared(Place::Ply(next.played.len())));
            }
            // If the effect of an earlier move is unknown, a move that seems illegal may be legal in truth.
            next.play(text).map_err(|fault| next.doubt.map_or(fault, Fault::from))?;
        }
        // The next request has an effort of its own.
        Ok(Arc::new(Self { game: game.clone(), ..next }))
    }

    fn play(&mut self, text: &str) -> Result<(), Fault> {
        let illegal = |message| Fault::illegal(Place::Ply(self.played.len()), message);
        let mv = self.read(text).map_err(illegal)?;
        self.root.play(&self.game, mv);
        if self.doubt.is_none() && self.game.is_undecided(&self.root.pos) {
            self.doubt = Some(Doubt::Ply(self.played.len()));
        }
        self.played.push(text.to_owned());
        Ok(())
    }

    fn played(&self) -> &[String] {
        &self.played
    }

    fn to_move(&self) -> ToMove {
        match self.game.turn(&self.root.pos) {
            Turn::Chance => ToMove::Chance,
            Turn::Move | Turn::Over(_) => ToMove::Player(self.game.side(&self.root.pos)),
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.game.turn(&self.root.pos) {
            Turn::Over(outcome) => Some(outcome),
            Turn::Move | Turn::Chance => None,
        }
    }

    fn legal(&self) -> Vec<String> {
        self.legal_moves().into_iter().map(|mv| self.game.move_text(&self.root.pos, mv)).collect()
    }

    fn actions(&self) -> Actions {
        let legal = self.legal_moves().into_iter().map(|mv| self.game.index(mv)).collect();
        Actions { count: self.game.actions(), legal }
    }

    fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    fn moves_within(&self, evaluator: Option<&str>, effort: &Arc<Effort>) -> Result<Vec<Successor>, Fault> {
        let heeding = self.game.heeding(effort);
        let game = heeding.as_ref().unwrap_or(&self.game);
        let evaluator = evaluator.map(NamedEvaluator::<G>::find).transpose()?;
        effort.grant(Some(Effort::MOVES));
        let pos = &self.root.pos;
        let side = game.side(pos);
        let describe = |mv, next: &G::Position| {
            if !effort.proceed(1) {
                return Err(Fault::unprepared(Place::Request));
            }
            let text = game.move_text(pos, mv);
            if game.is_undecided(next) {
                let message =
                    format!("the rules ran out of their budget before they knew what `{text}` does");
                return Err(Fault::new(FaultCode::Undecided, Place::Request, message));
            }
            let turn = game.turn(next);
            let eval = evaluator.filter(|_| turn == Turn::Move).map(|evaluator| {
                let score = i64::from(evaluator.evaluate(game, next).raw());
                if game.side(next) == side { score } else { -score }
            });
            let outcome = match turn {
                Turn::Over(outcome) => Some(outcome),
                Turn::Move | Turn::Chance => None,
            };
            Ok(Successor { mv: text, text: game.position_text(next), eval, outcome })
        };
        let (mut moves, mut fault) = (Vec::new(), None);
        game.play_each(pos, &self.legal_moves(), &mut |mv, next| match describe(mv, next) {
            Ok(found) => {
                moves.push(found);
                ControlFlow::Continue(())
            }
            Err(found) => {
                fault = Some(found);
                ControlFlow::Break(())
            }
        });
        effort.grant(None);
        fault.map_or(Ok(moves), Err)
    }

    fn book(&self) -> Option<BookPage> {
        self.look_up()
    }

    fn is_stochastic(&self) -> bool {
        G::STOCHASTIC
    }

    fn chance(&self) -> Vec<ChanceOutcome> {
        let mut outcomes = Vec::new();
        if self.game.turn(&self.root.pos) == Turn::Chance {
            self.game.outcomes(&self.root.pos, &mut outcomes);
        }
        let total: u64 = outcomes.iter().map(|&(_, weight)| u64::from(weight)).sum();
        let mut chance: Vec<ChanceOutcome> = outcomes
            .into_iter()
            .map(|(mv, weight)| ChanceOutcome {
                mv: self.game.move_text(&self.root.pos, mv),
                ppm: (u64::from(weight) * 1_000_000 / total) as u32,
            })
            .collect();
        let floored: u32 = chance.iter().map(|outcome| outcome.ppm).sum();
        if let Some(first) = chance.first_mut() {
            first.ppm += 1_000_000 - floored;
        }
        chance
    }

    fn text(&self) -> String {
        self.game.position_text(&self.root.pos)
    }

    fn state_text(&self) -> Option<String> {
        self.game.state_text(&self.root.pos)
    }

    fn start_text(&self) -> String {
        self.game.position_text(&self.root.start)
    }

    fn board_within(&self, effort: &Arc<Effort>) -> Drawing {
        let heeding = self.game.heeding(effort);
        heeding.as_ref().unwrap_or(&self.game).draw(&self.root.pos)
    }

    fn changed_within(&self, effort: &Arc<Effort>) -> Vec<Cell> {
        let last = self.played.iter().rposition(|ply| !ply.starts_with('~'));
        let Some(last) = last.filter(|_| !G::SHIFTS) else { return Vec::new() };
        let heeding = self.game.heeding(effort);
        let game = heeding.as_ref().unwrap_or(&self.game);
        let mut before = self.root.start.clone();
        for &mv in &self.root.plies[..last] {
            if !effort.proceed(1) {
                return Vec::new();
            }
            game.play(&mut before, mv);
        }
        // Only pieces and walls are compared, and drawing these takes the rules no work.
        let idle = Interrupt::default();
        idle.end();
        let heeding = self.game.heeding(&Effort::of_search(idle));
        let game = heeding.as_ref().unwrap_or(&self.game);
        picture::changed(&game.draw(&before), &game.draw(&self.root.pos))
    }

    fn hash(&self) -> u64 {
        self.game.hash(&self.root.pos)
    }

    fn eval(&self, evaluator: &str) -> Result<Option<i64>, Fault> {
        let evaluator = NamedEvaluator::<G>::find(evaluator)?;
        let over = matches!(self.game.turn(&self.root.pos), Turn::Over(_));
        Ok((!over).then(|| i64::from(evaluator.evaluate(&self.game, &self.root.pos).raw())))
    }

    fn decisive(&self) -> i32 {
        // The first evaluator is the default.
        NamedEvaluator::<G>::find("").map_or(0, |evaluator| evaluator.decisive(&self.game))
    }

    fn perft(&self, depth: u32, counting: Counting, control: &Control) -> u64 {
        perft::count(&self.game, &self.root.pos, depth, counting, control)
    }

    fn check(&self, seed: u64, plies: usize) -> Result<usize, String> {
        conformance::check(&self.game, &self.root, seed, plies)
    }

    fn candidates_within(
        &self,
        searchmoves: &[String],
        excludemoves: &[String],
        effort: &Arc<Effort>,
    ) -> Result<Candidates, Fault> {
        match self.game.turn(&self.root.pos) {
            Turn::Over(outcome) => {
                let fault = Fault::new(FaultCode::GameOver, Place::Position, ended(&outcome));
                return Err(Fault { outcome: Some(outcome), ..fault });
            }
            Turn::Chance => {
                let message = "chance decides here: add the outcome to `moves`";
                return Err(Fault::new(FaultCode::IllegalPosition, Place::Position, message));
            }
            Turn::Move => {}
        }
        let legal = self.legal_moves();
        let mut wanted = vec![searchmoves.is_empty(); legal.len()];
        if !searchmoves.is_empty() || !excludemoves.is_empty() {
            let places = Places::new(self, &legal);
            places.mark((searchmoves, Place::SearchMove), &mut wanted, true, effort)?;
            places.mark((excludemoves, Place::ExcludeMove), &mut wanted, false, effort)?;
        }
        let indexes: Vec<usize> = (0..legal.len()).filter(|&index| wanted[index]).collect();
        // The first of equal moves: `max_by_key` would give the last.
        let at_sight = |&&index: &&usize| self.game.at_sight(&self.root.pos, legal[index]);
        let Some(&first) = indexes.iter().rev().max_by_key(at_sight) else {
            return Err(Fault::illegal(Place::ExcludeMoves, "no move is left to search"));
        };
        let first_text = self.game.move_text(&self.root.pos, legal[first]);
        Ok(Candidates { indexes, forced: legal.len() == 1, first, first_text })
    }

    fn engine(&self, options: &Options) -> Result<Box<dyn Engine>, Fault> {
        Ok(Box::new(TypedEngine::new(&self.game, options)?))
    }

    fn learner(&self, evaluator: &str) -> Result<Box<dyn Learner>, Fault> {
        self.game.learner(evaluator).map_err(|message| Fault::option("eval", message))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What is said to whoever wants to search where a game is over, behind a code that says that it is.
fn ended(outcome: &Outcome) -> String {
    let who = match outcome.winner {
        Some(Side::First) => "p1 has won",
        Some(Side::Second) => "p2 has won",
        None => "it is a draw",
    };
    format!("{who} (`{}`), so there is nothing to search", outcome.by)
}
