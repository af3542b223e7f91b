//! How a worker plays a pair.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use plyd_arena::tune::Trial;
use plyd_arena::tune::terms::Terms;
use plyd_arena::{PlayedGame, Strictness, TimeControl};
use plyd_core::engine::Entry;

use super::Worker;
use crate::denied::Denied;
use crate::description::{DescribedMatch, Description, MatchId, Task};
use crate::given_back::GivenBack;
use crate::message::{Job, PairResult, TrialResult};
use crate::permit::opening;

impl Worker {
    /// Plays a pair in a thread of its own; gives the result as it is stored.
    pub(super) async fn play(
        self: &Arc<Self>,
        description: Arc<Description>,
        id: &MatchId,
        pair: usize,
        job: Job,
    ) -> Result<Vec<u8>, GivenBack> {
        if pair > description.pairs() {
            return Err(GivenBack::Malformed(format!("pair {pair} is not among those of the match")));
        }
        let is_tried = self.state().known.get(id).is_some_and(|known| known.is_tried);
        let worker = Arc::clone(self);
        let played = tokio::task::spawn_blocking(move || {
            let name = worker.settings.name.clone();
            let written = match &description.task {
                Task::Match(described) => {
                    let (games, scale) = worker.play_match(described, &job, pair, is_tried)?;
                    serde_json::to_vec(&PairResult { worker: name, scale, games })
                }
                Task::Tuning(terms) => {
                    let games = worker.play_trial(terms, &job, pair)?;
                    serde_json::to_vec(&TrialResult { worker: name, games })
                }
            };
            Ok(written.expect("it holds only text keys and integers"))
        });
        let played =
            played.await.unwrap_or_else(|error| Err(GivenBack::Failed(format!("a pair broke: {error}"))))?;
        if let Some(known) = self.state().known.get(id) {
            known.is_tried = true;
        }
        Ok(played)
    }

    /// Plays a pair of a match; also says how its clocks were scaled.
    fn play_match(
        &self,
        described: &DescribedMatch,
        job: &Job,
        pair: usize,
        is_tried: bool,
    ) -> Result<([PlayedGame; 2], Option<u32>), GivenBack> {
        let mut opened = self.settings.permit.open(described, job)?;
        let speed = self.speed(opened.game)?;
        let scale = described.reference.map(|reference| scale(reference, speed)).transpose()?;
        let mut has_clock = false;
        for player in &mut opened.players {
            has_clock |= player.time != TimeControl::Unlimited;
            player.time = player.time.scaled(scale.unwrap_or(1000));
        }
        if !is_tried {
            // A player that cannot begin here would lose its games.
            opened.try_players().map_err(|error| GivenBack::Failed(error.to_string()))?;
        }
        opened.stalls = described.terms.forgives_stalls.then(|| self.noise.watch());
        let measured = has_clock.then(|| self.noise.measure());
        let games = opened.play_pair(pair - 1, &self.leaves).map_err(|unplayed| {
            let player = &opened.players[unplayed.player].name;
            GivenBack::Failed(format!("the server of `{player}` was overloaded {}", unplayed.message))
        })?;
        if let Some(percent) = measured.map(|measured| measured.worst_percent())
            && percent > self.settings.max_noise
        {
            return Err(GivenBack::Failed(format!(
                "a core of this machine stood still for {percent:.1} % of a pair with clocks"
            )));
        }
        Ok((games, scale))
    }

    /// Nodes a second in the bench of a game, measured once.
    fn speed(&self, game: &'static Entry) -> Result<u64, Denied> {
        let _alone = self.measures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(speed) = self.state().speeds.get(game.name) {
            return Ok(*speed);
        }
        let speed = (self.settings.bench)(game).map_err(Denied)?;
        self.state().speeds.insert(game.name.to_owned(), speed);
        Ok(speed)
    }

    fn play_trial(&self, terms: &Terms, job: &Job, pair: usize) -> Result<[Vec<String>; 2], GivenBack> {
        let entry = self.settings.permit.tuned(terms)?;
        let (nodes, most) = (terms.nodes, most_nodes(self.speed(entry)?));
        if nodes > most {
            return Err(
                Denied(format!("a tuning: nodes={nodes} is more than the {most} of this worker")).into()
            );
        }
        let opening = opening(entry, job)?;
        let probe =
            job.probe.as_ref().ok_or_else(|| GivenBack::Malformed("a pair without settings".to_owned()))?;
        let trial = Trial { terms, entry, pair: pair as u64 - 1, opening: opening.as_ref() };
        let game = |second| match trial.play(probe, second, &AtomicBool::new(false)) {
            Ok(Some((_, moves))) => Ok(moves),
            Ok(None) => Err(GivenBack::Failed("a game was halted".to_owned())),
            Err(fault) => Err(GivenBack::Malformed(fault.message)),
        };
        Ok([game(false)?, game(true)?])
    }
}

/// The most nodes of a move in a tuning: what a machine of so many nodes a second searches in the time that
/// the referee of a match allows a player without a clock.
fn most_nodes(speed: u64) -> u64 {
    speed.max(1).saturating_mul(Strictness::default().timeout.as_secs())
}

/// In how many thousandths of their times players are given here, to have as much of them as on a machine of
/// that many nodes a second.
fn scale(reference: u64, speed: u64) -> Result<u32, Denied> {
    let scale = u128::from(reference) * 1000 / u128::from(speed.max(1));
    let [least, most] = PairResult::SCALES;
    u32::try_from(scale).ok().filter(|scale| (least..=most).contains(scale)).ok_or_else(|| {
        let way = if scale > most.into() { "slow" } else { "fast" };
        Denied(format!("this machine is too {way}: {speed} nodes/s, where {reference} are asked for"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_of_a_tuning_is_bounded_as_one_of_a_match() {
        assert_eq!([0, 50_000, u64::MAX].map(most_nodes), [10, 500_000, u64::MAX]);
    }

    #[test]
    fn a_slower_machine_gets_more_time_up_to_a_limit() {
        assert_eq!(scale(1000, 1000), Ok(1000));
        assert_eq!(scale(1000, 500), Ok(2000));
        assert_eq!(scale(1000, 4000), Ok(250));
        for (reference, speed, word) in [(1000, 249, "slow"), (1000, 4010, "fast"), (u64::MAX, 0, "slow")] {
            assert!(scale(reference, speed).unwrap_err().0.contains(word));
        }
    }
}
