//! The slow part of requests: parsing positions and moves, asking the rules, opening engines.
//!
//! It runs on the pool's threads, without the lock, on a copy of what it needs to know of the state
//! ([`Context`]); its [`Output`] is applied under the lock.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use plyd_protocol as wire;
use plyd_protocol::{ErrorCode, GameRef, ResultBody, Want};
use tracing::Span;

use super::describe;
use crate::state::Session;
use crate::state::budget::Memory;
use crate::state::holdings::Named;
use crate::state::job::{EngineKey, LoadedEngine, Prepared};
use crate::state::request_error::RequestError;
use crate::state::task::{Context, Output, SessionView, Task, Work};
use plyd_bridge::{self as bridge, given};
use plyd_core::effort::Effort;
use plyd_core::engine::settings::{self, Caps, Renamed, Settings};
use plyd_core::engine::{AnyRoot, Doubt, Entry, Fault};
use plyd_core::options::Options;
use plyd_core::svg::Theme;

/// The seed of requests that name neither a session nor a seed.
const DEFAULT_SEED: u64 = 0;

/// A session's options overlaid with those of a request.
struct Overlaid {
    /// As they were given.
    given: Settings,
    /// As they are in force.
    options: Options,
    /// The options of the request whose names have changed.
    renamed: Vec<Renamed>,
}

/// What all tasks share.
#[derive(Clone)]
pub(crate) struct RequestWorker {
    /// The registry.
    pub(crate) games: &'static [&'static Entry],
    /// The table memory.
    pub(crate) memory: Memory,
    /// The most threads that a search can ask for.
    pub(crate) threads: usize,
}

impl RequestWorker {
    /// The caps on the options of a request.
    fn caps(&self, task: &Task) -> Caps {
        let threads = task.quota.as_ref().map_or(self.threads, |quota| quota.threads.min(self.threads));
        Caps { threads, hash_mb: (self.memory_for(task).total() >> 20) as usize }
    }

    /// The memory that the table of its search is taken from.
    fn memory_for<'a>(&'a self, task: &'a Task) -> &'a Memory {
        task.quota.as_ref().map_or(&self.memory, |quota| &quota.memory)
    }

    /// Works on a task.
    pub(crate) fn work(&self, task: &Task, context: Context, effort: &Arc<Effort>) -> Output {
        let output = match (&task.work, context) {
            (Work::Go(_, go), context) => self.view(&go.game, &task.defaults, context).and_then(|view| {
                self.go(task, go, &view, effort).map(|prepared| Output::Valid(Box::new(prepared)))
            }),
            (Work::Inspect(inspect), context) => self
                .view(&inspect.game, &task.defaults, context)
                .and_then(|view| self.inspect(task, inspect, &view, effort)),
            (Work::NewGame(newgame), _) => self.newgame(task, newgame),
            (Work::SetOption(set), Context::Session(view)) => self.setoption(task, set, &view),
            (Work::Close(close), _) => {
                let session = close.session.clone();
                Ok(Output::Close(body(
                    task,
                    ResultBody::Close(wire::CloseResult { session, connection: None }),
                )))
            }
            (Work::Describe(describe), _) => describe::body(self.games, describe)
                .map(|described| body(task, ResultBody::Describe(wire::DescribeResult { body: described })))
                .map(Output::Body),
            (Work::SetOption(_), Context::Free) => {
                Err(RequestError::new(ErrorCode::SessionUnknown, "no session of that name is open")
                    .at("/session"))
            }
        };
        output.unwrap_or_else(Output::Refused)
    }

    /// The session of a request, or a temporary one made from the game and the rules that it names.
    fn view(
        &self,
        game: &GameRef,
        defaults: &wire::Settings,
        context: Context,
    ) -> Result<Box<SessionView>, RequestError> {
        match (game, context) {
            (_, Context::Session(view)) => Ok(view),
            (GameRef::Game { game, rules }, Context::Free) => {
                let entry = describe::entry(self.games, game)?;
                let rules = settings::rules(entry, &given(rules), DEFAULT_SEED)?;
                let base = settings::open(entry, &rules, None)?;
                let options = bridge::settings(&settings::applicable(entry, &given(defaults)));
                Ok(Box::new(SessionView {
                    entry,
                    rules,
                    options,
                    seed: DEFAULT_SEED,
                    base,
                    prefix: None,
                    engine: None,
                }))
            }
            (GameRef::Session { .. }, Context::Free) => {
                Err(RequestError::new(ErrorCode::SessionUnknown, "no session of that name is open")
                    .at("/session"))
            }
        }
    }

    fn newgame(&self, task: &Task, newgame: &wire::NewGame) -> Result<Output, RequestError> {
        let entry = describe::entry(self.games, &newgame.game)?;
        let seed = newgame.seed.map_or_else(|| RandomState::new().build_hasher().finish(), |seed| seed.0);
        let rules = settings::rules(entry, &given(&newgame.rules), seed)?;
        let asked = given(&newgame.options);
        let renamed = settings::check_options(entry, &asked)?;
        let asked = settings::layered(&settings::applicable(entry, &given(&task.defaults)), &asked);
        let options = settings::options(entry, &asked, seed, self.caps(task))?;
        let base = settings::open(entry, &rules, None)?;
        let result = wire::NewGameResult {
            session: newgame.session.clone(),
            game: entry.name.to_owned(),
            rules: bridge::rules(&base.rules()),
            options: bridge::settings(&settings::effective(entry, &options)),
            seed: wire::Seed(seed),
            to_move: bridge::to_move(base.to_move()),
        };
        let options = bridge::settings(&asked);
        let view = SessionView { entry, rules, options, seed, base, prefix: None, engine: None };
        let session = Session {
            view,
            // It has one once it is open.
            span: Span::none(),
            current: None,
            worker: None,
            forget: false,
            bytes: 0,
            prefix_bytes: 0,
        };
        Ok(Output::Opened(Box::new(session), renamed, body(task, ResultBody::NewGame(result))))
    }

    fn setoption(
        &self,
        task: &Task,
        set: &wire::SetOption,
        view: &SessionView,
    ) -> Result<Output, RequestError> {
        let Overlaid { given, options, renamed } = self.options(task, view, &set.options)?;
        let effective = bridge::settings(&settings::effective(view.entry, &options));
        let result = wire::SetOptionResult { session: set.session.clone(), options: effective };
        Ok(Output::Options(bridge::settings(&given), renamed, body(task, ResultBody::SetOption(result))))
    }

    /// A session's options overlaid with a request's.
    fn options(&self, task: &Task, view: &SessionView, over: &wire::Settings) -> Result<Overlaid, Fault> {
        let over = given(over);
        let renamed = settings::check_options(view.entry, &over)?;
        let given = settings::layered(&given(&view.options), &over);
        let options = settings::options(view.entry, &given, view.seed, self.caps(task))?;
        Ok(Overlaid { given, options, renamed })
    }

    fn inspect(
        &self,
        task: &Task,
        inspect: &wire::Inspect,
        view: &SessionView,
        effort: &Arc<Effort>,
    ) -> Result<Output, RequestError> {
        let root = position(view, &inspect.position, effort)?;
        if let Some(doubt) = root.doubt() {
            return Err(Fault::from(doubt).into());
        }
        let Overlaid { options, .. } = self.options(task, view, &wire::Settings::new())?;
        let wanted = |want| inspect.want.contains(&want);
        let eval = wanted(Want::Eval).then_some(options.eval.as_str());
        let moves = inspect.want.iter().position(|&want| want == Want::Moves).map(|at| {
            let moves = root.moves_within(eval, effort);
            moves.map_err(|fault| RequestError::from(fault).at(&format!("/want/{at}")))
        });
        let edits = wanted(Want::Edits).then(|| {
            let text = inspect.draft.clone().unwrap_or_else(|| root.text());
            let draft = view.entry.edits?(&view.rules, &text, effort);
            Some(bridge::edits(draft, &text))
        });
        let result = wire::InspectResult {
            to_move: wanted(Want::ToMove).then(|| bridge::to_move(root.to_move())),
            outcome: wanted(Want::Outcome).then(|| root.outcome().map(bridge::outcome)),
            legal: wanted(Want::Legal).then(|| root.legal()),
            moves: moves.transpose()?.map(|moves| moves.into_iter().map(bridge::successor).collect()),
            chance: wanted(Want::Chance).then(|| root.chance().into_iter().map(bridge::chance).collect()),
            board: wanted(Want::Board).then(|| bridge::board(root.board_within(effort))),
            text: wanted(Want::Text).then(|| root.text()),
            hash: wanted(Want::Hash).then(|| wire::Hash(root.hash())),
            eval: if wanted(Want::Eval) { root.eval(&options.eval)? } else { None },
            record: wanted(Want::Record).then(|| wire::Record {
                record: wire::Record::VERSION,
                game: view.entry.name.to_owned(),
                rules: bridge::rules(&root.rules()),
                start: root.start_text(),
                moves: root.played().to_vec(),
                result: root.outcome().map(bridge::outcome),
            }),
            state: if wanted(Want::State) { root.state_text() } else { None },
            svg: wanted(Want::Svg).then(|| root.svg_within(Theme::Auto, effort)),
            actions: wanted(Want::Actions).then(|| bridge::actions(root.actions())),
            // A game without evaluations has none.
            decisive: wanted(Want::Decisive).then(|| i64::from(root.decisive())).filter(|&least| least > 0),
            book: if wanted(Want::Book) { root.book().map(bridge::book) } else { None },
            edits: edits.flatten(),
        };
        let body = body(task, ResultBody::Inspect(Box::new(result)));
        let (start, bytes) = (inspect.position.start.clone(), inspect.position.heap_bytes());
        Ok(Output::Looked(body, Named { start, root, bytes }))
    }

    fn go(
        &self,
        task: &Task,
        go: &wire::Go,
        view: &SessionView,
        effort: &Arc<Effort>,
    ) -> Result<Prepared, RequestError> {
        let root = position(view, &go.position, effort)?;
        let doubt = root.doubt();
        // If the position is uncertain, so is a fault in the moves chosen from it.
        let candidates = root
            .candidates_within(&go.searchmoves, &go.excludemoves, effort)
            .map_err(|fault| doubt.map_or(fault, Fault::from))?;
        let Overlaid { options, renamed, .. } = self.options(task, view, &go.options)?;
        let key = EngineKey { options, rules: root.rules() };
        // A guess: a search that waits before this one may give the session another engine.
        let loaded = if view.engine.as_ref() == Some(&key) {
            None
        } else {
            Some(LoadedEngine::new(root.as_ref(), key.clone(), self.memory_for(task))?)
        };
        let first = candidates.first_text.clone();
        let fallback = wire::Line { rank: 1, mv: first.clone(), pv: vec![first], depth: 0, score: None };
        Ok(Prepared {
            game: view.entry.name,
            hash: root.hash(),
            start: go.position.start.clone(),
            position_bytes: go.position.heap_bytes(),
            multipv: (go.multipv as usize).min(candidates.indexes.len()),
            root,
            candidates,
            fallback,
            key,
            loaded,
            warnings: doubt
                .map(|doubt| warning(doubt, effort))
                .into_iter()
                .chain(renamed.iter().map(Renamed::to_string))
                .collect(),
            is_lasting: !effort.was_cut(),
        })
    }
}

/// The notice to a client whose search begins on a position that the rules are not sure of.
fn warning(doubt: Doubt, effort: &Effort) -> String {
    let spent = if effort.was_cut() { "time" } else { "their budget" };
    match doubt {
        Doubt::Start => {
            format!("the rules ran out of {spent} at `start`: it counts as valid, and no score is proven")
        }
        Doubt::Ply(index) => format!(
            "the rules ran out of {spent} at `moves[{index}]`: this move and all later ones count as placed, and no \
             score is proven"
        ),
    }
}

/// The position that a request names, from the nearest one that the session knows.
fn position(
    view: &SessionView,
    named: &wire::Position,
    effort: &Arc<Effort>,
) -> Result<Arc<dyn AnyRoot>, RequestError> {
    if let Some((start, root)) = &view.prefix
        && *start == named.start
        && named.moves.starts_with(root.played())
    {
        return extend(root, &named.moves[root.played().len()..], effort);
    }
    match &named.start {
        None => extend(&view.base, &named.moves, effort),
        Some(start) => {
            let base = settings::open_within(view.entry, &view.rules, Some(start), effort)?;
            extend(&base, &named.moves, effort)
        }
    }
}

fn extend(
    root: &Arc<dyn AnyRoot>,
    moves: &[String],
    effort: &Arc<Effort>,
) -> Result<Arc<dyn AnyRoot>, RequestError> {
    if moves.is_empty() { Ok(Arc::clone(root)) } else { Ok(root.extend_within(moves, effort)?) }
}

fn body(task: &Task, body: ResultBody) -> String {
    wire::Message::Result(Box::new(wire::ResultMessage { id: task.name.clone(), body })).to_body()
}
