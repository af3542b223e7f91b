//! The ladder's own players, which anchor its ratings: searches within this process, limited by nodes, so
//! that they are as strong on any machine, on a few threads of lower priority than what reads and writes.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use plyd_arena::referee::Reply;
use plyd_bridge as bridge;
use plyd_core::options::Options;
use plyd_core::play::{Player, Position, SearchLimits};
use tokio::sync::oneshot;

/// A search for a move.
type Job = Box<dyn FnOnce() + Send>;

/// The threads on which house players think. They end with what is left to do once this is dropped.
#[derive(Debug)]
pub struct House {
    jobs: mpsc::Sender<Job>,
}

/// A house player in one game.
pub struct HousePlayer {
    options: Options,
    nodes: u64,
    /// What it remembers; made at its first move.
    player: Option<Player>,
}

impl House {
    /// Starts its threads, so many steps of niceness below the thread that calls.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(threads: usize, steps: u8) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..threads.max(1) {
            let waiting = Arc::clone(&waiting);
            thread::Builder::new().name(format!("house-{number}")).spawn(move || {
                step_back(steps);
                loop {
                    // The lock is held while it waits: whoever has it takes the next job.
                    let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(job) = job else { return };
                    job();
                }
            })?;
        }
        Ok(Self { jobs })
    }

    /// Lets a player choose a move in a position; gives the player back.
    ///
    /// # Errors
    /// Why the player cannot play, for the ladder's operator.
    pub async fn choose(
        &self,
        mut player: HousePlayer,
        position: Position,
    ) -> Result<(HousePlayer, Reply), String> {
        let (chosen, answer) = oneshot::channel();
        let job = move || {
            let reply = catch_unwind(AssertUnwindSafe(|| player.choose(&position)));
            let reply = reply.unwrap_or_else(|_| Err("its search broke".to_owned()));
            // Nobody waits any more if the game was ended meanwhile.
            let _ended = chosen.send(reply.map(|reply| (player, reply)));
        };
        let stopped = || "the house is closed".to_owned();
        self.jobs.send(Box::new(job)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl HousePlayer {
    /// A player with these options that visits so many nodes for each move.
    #[must_use]
    pub fn new(options: Options, nodes: u64) -> Self {
        Self { options, nodes, player: None }
    }

    /// The player with its memory; one without stays in its place.
    pub(super) fn take(&mut self) -> Self {
        Self { options: self.options.clone(), nodes: self.nodes, player: self.player.take() }
    }

    fn choose(&mut self, position: &Position) -> Result<Reply, String> {
        let began = Instant::now();
        let player = match &mut self.player {
            Some(player) => player,
            None => {
                let player = Player::new(position, &self.options).map_err(|fault| fault.to_string())?;
                self.player.insert(player)
            }
        };
        let limits = SearchLimits { nodes: Some(self.nodes), ..SearchLimits::default() };
        let answer = player.best(position, &limits).map_err(|fault| fault.to_string())?;
        let reply = Reply::new(answer.mv(), began.elapsed());
        let score = bridge::lines(answer.lines).into_iter().next().and_then(|line| line.score);
        Ok(Reply { score, ..reply })
    }
}

/// Lowers the priority of this thread: under Linux each thread has a nice value of its own. That it stays as
/// it is where the system does not allow it, is no reason to close the house.
fn step_back(steps: u8) {
    #[cfg(target_os = "linux")]
    if steps > 0 {
        let _stays = rustix::process::getpriority_process(None)
            .and_then(|own| rustix::process::setpriority_process(None, own + i32::from(steps)));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = steps;
}
