//! A game that is nothing but counting, and players that misbehave on purpose.
//!
//! Players add 1, 2 or 3 to a total; whoever reaches the goal wins. `~N` is drawn by chance when the total
//! is 13, if the rules have chance.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex};

use plyd_protocol as wire;

use plyd_bridge as bridge;
use plyd_core::effort::Effort;
use plyd_core::engine::{
    Actions, AnyRoot, Candidates, ChanceOutcome, Counting, Engine, Entry, EvaluatorEntry, Fault, FaultCode,
    Learner, Line, Place, Successor, ToMove,
};
use plyd_core::game::{Drawing, Kind, Named, OpenError, Outcome, Rules, Side, Spec};
use plyd_core::options::Options;
use plyd_core::search::clock::now_ns;
use plyd_core::search::{Control, End, Stats};

pub(super) static GAMES: &[&Entry] = &[&COUNTING];

pub(super) static COUNTING: Entry = Entry {
    name: "counting",
    about: "Adds up to a goal.",
    rules: &[
        Spec {
            name: "goal",
            kind: Kind::Int { min: 1, max: 1_000_000, default: Some(21) },
            about: "The goal.",
        },
        Spec { name: "chance", kind: Kind::Bool { default: Some(false) }, about: "Whether chance plays." },
        Spec { name: "seed", kind: Kind::Seed, about: "Unused." },
    ],
    own_options: &[Spec {
        name: "nerve",
        kind: Kind::Int { min: 0, max: 9, default: Some(5) },
        about: "Unused.",
    }],
    evaluator_at: |place| (place == 0).then_some(&TOTAL),
    player_at: |place| PLAYERS.get(place),
    endings: &[Named::new("goal", "The goal is reached.")],
    unit: "point",
    position_grammar: "a number",
    move_grammar: "+N",
    open,
    ..Entry::DEFAULT
};

static PLAYERS: &[Named] = &[
    Named::new("steady", "Thinks until it is stopped.").formerly("calm"),
    Named::new("instant", "Has nothing to think about."),
    Named::new("prover", "Proves at once."),
    Named::new("chatty", "Publishes as fast as it can."),
    Named::new("panics", "Breaks after its first move."),
    Named::new("panics-early", "Breaks before its first move."),
    Named::new("stuck", "Does not yield before the gate of its seed opens."),
    Named::new("impossible", "Cannot be made."),
];

/// The only evaluator.
static TOTAL: EvaluatorEntry = EvaluatorEntry {
    named: Named::new("total", "The total.").formerly("sum"),
    weights: None,
    is_trained: false,
};

fn open(rules: &Rules, start: Option<&str>, effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let goal = rules.int("goal").unwrap_or(21);
    // Whether it can be reached from there is not found out in any time.
    while goal == 777 && start.is_some() && effort.spend(100) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    if goal == 666 {
        return Err(OpenError::Rule { name: "goal", message: "not this one".into() });
    }
    let total = start.map_or(Ok(0), str::parse).map_err(|_| OpenError::Malformed("no number".into()))?;
    if total < 0 || total > goal {
        return Err(OpenError::Impossible("outside of the game".into()));
    }
    let chance = rules.bool("chance").unwrap_or(false);
    Ok(Arc::new(Count { goal, chance, start: total, total, played: Vec::new() }))
}

/// A panic's payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload that breaks");
    }
}

#[derive(Clone)]
struct Count {
    goal: i64,
    chance: bool,
    start: i64,
    total: i64,
    played: Vec<String>,
}

thread_local! {
    /// Whether this thread plays a holder of the daemon's lock, under which no game may run.
    pub(super) static LOCKED: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Count {
    fn drop(&mut self) {
        assert!(!LOCKED.get(), "a position is dropped under the lock");
    }
}

impl Count {
    fn is_over(&self) -> bool {
        self.total >= self.goal
    }

    fn is_chance(&self) -> bool {
        self.chance && self.total == 13 && !self.is_over()
    }

    fn mover(&self) -> usize {
        self.played.len() % 2
    }
}

fn player(index: usize) -> Side {
    Side::ALL[index]
}

impl AnyRoot for Count {
    fn entry(&self) -> &'static Entry {
        &COUNTING
    }

    fn rules(&self) -> Rules {
        Rules::new(vec![("goal", self.goal.into()), ("chance", self.chance.into())])
    }

    fn extend_within(&self, moves: &[String], _effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, Fault> {
        let mut next = self.clone();
        moves.iter().try_for_each(|mv| next.play(mv))?;
        Ok(Arc::new(next))
    }

    fn play(&mut self, mv: &str) -> Result<(), Fault> {
        let place = Place::Ply(self.played.len());
        let illegal = |message| Fault::new(FaultCode::IllegalMove, place.clone(), message);
        assert!(mv != "+666", "a game that breaks");
        if mv == "+667" {
            std::panic::panic_any(Bomb);
        }
        let prefix = if self.is_chance() { "~" } else { "+" };
        let step: i64 = mv.strip_prefix(prefix).and_then(|n| n.parse().ok()).ok_or(illegal("no number"))?;
        if self.is_over() || !(1..=3).contains(&step) {
            return Err(illegal("not now"));
        }
        self.total += step;
        self.played.push(mv.to_owned());
        Ok(())
    }

    fn played(&self) -> &[String] {
        &self.played
    }

    fn is_stochastic(&self) -> bool {
        true
    }

    fn to_move(&self) -> ToMove {
        match self.mover() {
            _ if self.is_chance() => ToMove::Chance,
            mover => ToMove::Player(player(mover)),
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let winner = Some(player(1 - self.mover()));
        self.is_over().then_some(Outcome { winner, by: "goal", scores: None })
    }

    fn legal(&self) -> Vec<String> {
        if self.is_over() || self.is_chance() {
            return Vec::new();
        }
        let most = 3.min(self.goal - self.total);
        (1..=most).map(|n| format!("+{n}")).collect()
    }

    fn moves_within(&self, _evaluator: Option<&str>, _effort: &Arc<Effort>) -> Result<Vec<Successor>, Fault> {
        let after = |mv: String| Successor { text: mv.clone(), mv, eval: None, outcome: None };
        Ok(self.legal().into_iter().map(after).collect())
    }

    fn chance(&self) -> Vec<ChanceOutcome> {
        let one = |(mv, ppm): (&str, u32)| ChanceOutcome { mv: mv.into(), ppm };
        if self.is_chance() { [("~1", 500_000), ("~2", 500_000)].map(one).to_vec() } else { Vec::new() }
    }

    fn actions(&self) -> Actions {
        Actions { count: 3, legal: (0..self.legal().len()).collect() }
    }

    fn text(&self) -> String {
        self.total.to_string()
    }

    fn state_text(&self) -> Option<String> {
        None
    }

    fn start_text(&self) -> String {
        self.start.to_string()
    }

    fn board_within(&self, _effort: &Arc<Effort>) -> Drawing {
        Drawing::default()
    }

    fn hash(&self) -> u64 {
        self.total as u64
    }

    fn eval(&self, _evaluator: &str) -> Result<Option<i64>, Fault> {
        Ok((!self.is_over()).then_some(self.total * 1000))
    }

    fn decisive(&self) -> i32 {
        1000
    }

    fn perft(&self, _depth: u32, _counting: Counting, _control: &Control) -> u64 {
        0
    }

    fn check(&self, _seed: u64, _plies: usize) -> Result<usize, String> {
        Ok(0)
    }

    fn candidates_within(
        &self,
        searchmoves: &[String],
        excludemoves: &[String],
        _effort: &Arc<Effort>,
    ) -> Result<Candidates, Fault> {
        let fault = |code, place| Fault { outcome: self.outcome(), ..Fault::new(code, place, "no") };
        if self.is_over() {
            return Err(fault(FaultCode::GameOver, Place::Position));
        }
        if self.is_chance() {
            return Err(fault(FaultCode::IllegalPosition, Place::Position));
        }
        let legal = self.legal();
        let indexes: Vec<usize> = (0..legal.len())
            .filter(|i| searchmoves.is_empty() || searchmoves.contains(&legal[*i]))
            .filter(|i| !excludemoves.contains(&legal[*i]))
            .collect();
        let Some(&first) = indexes.first() else {
            return Err(fault(FaultCode::IllegalMove, Place::ExcludeMoves));
        };
        Ok(Candidates { indexes, forced: legal.len() == 1, first, first_text: legal[first].clone() })
    }

    fn engine(&self, options: &Options) -> Result<Box<dyn Engine>, Fault> {
        if options.player == "impossible" {
            return Err(Fault::new(FaultCode::OptionInvalid, Place::Option("player".into()), "no"));
        }
        Ok(Box::new(Counter {
            goal: self.goal,
            player: options.player.clone(),
            seed: options.seed,
            learned: 0,
        }))
    }

    fn learner(&self, _evaluator: &str) -> Result<Box<dyn Learner>, Fault> {
        unreachable!("nothing asks for it")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        assert!(!LOCKED.get(), "an engine is dropped under the lock");
    }
}

struct Counter {
    goal: i64,
    player: String,
    seed: u64,
    /// Searches since the engine was made or cleared.
    learned: u32,
}

fn found(mv: &str, depth: u32) -> Line {
    Line { pv: vec![mv.into(), "+1".into()], depth, value: None }
}

/// A line as it is published.
pub(super) fn line(mv: &str, depth: u32) -> wire::Line {
    bridge::lines(vec![found(mv, depth)]).remove(0)
}

impl Engine for Counter {
    fn fits(&self, root: &dyn AnyRoot) -> bool {
        root.as_any().downcast_ref::<Count>().is_some_and(|count| count.goal == self.goal)
    }

    fn search(
        &mut self,
        root: &dyn AnyRoot,
        candidates: &Candidates,
        _multipv: usize,
        control: &Control,
        publish: &mut dyn FnMut(Vec<Line>),
    ) -> (Vec<Line>, End) {
        self.learned += 1;
        let legal = root.legal();
        let best = &legal[candidates.indexes[candidates.indexes.len() - 1]];
        assert!(self.player != "panics-early", "broken from the start");
        publish(vec![found(best, 0)]);
        let lines = vec![found(best, self.learned)];
        match self.player.as_str() {
            "instant" => return (lines, End::Limit),
            "prover" => return (lines, End::Proven),
            "panics" => panic!("broken on purpose"),
            "stuck" => gate(self.seed).wait(),
            _ => {}
        }
        for nodes in 1.. {
            control.show(Stats { nodes, depth: 1, seldepth: 1, hash_ppm: 0 });
            if control.stopped() {
                return (lines, End::Stopped);
            }
            if nodes >= control.nodes_limit() {
                return (lines, End::Limit);
            }
            if now_ns() >= control.hard_ns() {
                return (lines, End::Clock);
            }
            if self.player == "chatty" {
                publish(vec![found(best, nodes as u32)]);
            } else {
                std::thread::yield_now();
            }
        }
        unreachable!("one of the ends comes");
    }

    fn clear(&mut self) {
        self.learned = 0;
    }
}

/// Holds a player of one seed until a test opens it.
#[derive(Default)]
pub(super) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(super) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        drop(self.opened.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
    }
}

static GATES: LazyLock<Mutex<HashMap<u64, Arc<Gate>>>> = LazyLock::new(Mutex::default);

pub(super) fn gate(seed: u64) -> Arc<Gate> {
    Arc::clone(GATES.lock().unwrap().entry(seed).or_default())
}
