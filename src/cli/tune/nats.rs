//! `plyd tune --nats`: the pairs of each iteration are played by workers elsewhere; what they send is judged
//! by the rules.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use plyd_fleet::{
    CoordinatorStatus, Description, Ending, Job, MatchId, Refusal, Server, Task, TrialResult, Work,
};

use crate::arena::tune::terms::Iteration;
use crate::arena::tune::{Trial, Tuning};
use crate::cli::failure::Failure;
use crate::cli::interrupt::Halt;
use crate::cli::nats::warn_refused;
use crate::engine::Entry;

/// Has workers of this server play the iterations that are left, and gives each to `finished`; says why that
/// ended.
pub(super) fn run<'t>(
    server: &Server,
    ack_wait: Duration,
    entry: &'static Entry,
    tuning: &mut Tuning<'t>,
    halt: &Halt,
    finished: impl FnMut(&Tuning<'t>, Iteration) -> io::Result<()>,
) -> Result<Ending, Failure> {
    let description = Description::new(Task::Tuning(tuning.terms().clone()));
    let title = description.title();
    let (description, id) = description.to_message();
    let _nobody_reads = writeln!(io::stderr(), "tuning {id}: workers of {} play it", server.shown());
    let results = vec![None; tuning.terms().pairs as usize];
    let mut pairs = Pairs { id, title, description, entry, tuning, results, finished };
    let ended = plyd_fleet::coordinate(server, ack_wait, &mut pairs, halt.flag())?;
    warn_refused(&ended);
    Ok(ended.why)
}

/// The pairs of the present iteration.
struct Pairs<'p, 't, F> {
    id: MatchId,
    /// What is played, for people.
    title: String,
    description: Vec<u8>,
    entry: &'static Entry,
    tuning: &'p mut Tuning<'t>,
    /// What came of each pair, if it was played.
    results: Vec<Option<i32>>,
    finished: F,
}

impl<F> Pairs<'_, '_, F> {
    /// The place of a pair, counted from 1 over all iterations, in the present one.
    fn place(&self, pair: usize) -> Option<usize> {
        let (pair, pairs) = (pair as u64 - 1, self.tuning.pairs());
        pairs.contains(&pair).then(|| (pair - pairs.start) as usize)
    }

    /// The points of a pair, by the rules.
    fn judge(&self, pair: usize, games: &[Vec<String>; 2]) -> Result<i32, String> {
        let pair = pair as u64 - 1;
        let opening = self.tuning.opening(pair).map_err(|error| error.to_string())?;
        let terms = self.tuning.terms();
        let trial = Trial { terms, entry: self.entry, pair, opening: opening.as_ref() };
        Ok(trial.judge(&games[0], false)? + trial.judge(&games[1], true)?)
    }
}

impl<'t, F: FnMut(&Tuning<'t>, Iteration) -> io::Result<()>> Work for Pairs<'_, 't, F> {
    fn id(&self) -> &MatchId {
        &self.id
    }

    fn description(&self) -> &[u8] {
        &self.description
    }

    fn wanted(&self) -> Vec<usize> {
        let lacking = self.tuning.pairs().zip(&self.results).filter(|(_, result)| result.is_none());
        lacking.map(|(pair, _)| pair as usize + 1).collect()
    }

    fn lacks(&self, pair: usize) -> bool {
        self.place(pair).is_some_and(|place| self.results[place].is_none())
    }

    fn job(&self, pair: usize) -> Job {
        let pair = pair as u64 - 1;
        let opening = self.tuning.opening(pair).expect("the same seed found an opening before");
        Job::new(opening.as_ref(), Some(self.tuning.probe(pair)))
    }

    fn take(&mut self, pair: usize, bytes: &[u8]) -> Result<(), Refusal> {
        // One of an iteration that is over, or that was not begun, says nothing now.
        let Some(place) = self.place(pair) else { return Ok(()) };
        let TrialResult { worker, games } = serde_json::from_slice(bytes)?;
        let points = self.judge(pair, &games);
        let points = points.map_err(|why| Refusal::False { worker: Some(worker), why })?;
        self.results[place].get_or_insert(points);
        if self.results.iter().all(Option::is_some) {
            let results = self.results.iter_mut().filter_map(Option::take).collect();
            let iteration = self.tuning.take(results);
            (self.finished)(self.tuning, iteration).map_err(Refusal::Io)?;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.tuning.is_complete()
    }

    fn status(&self, refused: &BTreeMap<String, u64>) -> CoordinatorStatus {
        CoordinatorStatus {
            id: self.id.clone(),
            title: self.title.clone(),
            pairs: (self.tuning.games() / 2) as usize + self.results.iter().flatten().count(),
            scheduled: (self.tuning.terms().scheduled() / 2) as usize,
            standing: super::standing(self.tuning),
            refused: refused.clone(),
        }
    }
}
