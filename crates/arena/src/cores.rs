//! Cores of games that are played at once: each game's players get cores of their own, the referees share the
//! rest.
//!
//! A process inherits the cores of the thread that starts it. So a referee moves to its game's cores, starts
//! a player, and moves back: the player counts its cores itself and finds those, and no thread of it can slip
//! past.

use std::io;

/// Cores by game, as the system numbers them.
///
/// ```
/// use plyd_arena::Cores;
///
/// // Two games at once, each with a core of its own, if there are as many.
/// match Cores::share(2, 1) {
///     Ok(cores) => println!("{cores:?}"),
///     Err(error) => println!("they share all cores: {error}"),
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cores {
    games: Vec<Vec<usize>>,
    /// The cores that no game has; all cores if games have all.
    referees: Vec<usize>,
}

/// Why games cannot have cores of their own.
#[derive(Debug, thiserror::Error)]
pub enum CoresError {
    /// There are fewer cores than are wanted.
    #[error("{games} games at once want {wanted} cores and there are {found}")]
    TooFew {
        /// The games at once.
        games: usize,
        /// What they want together.
        wanted: usize,
        /// What there is.
        found: usize,
    },
    /// The system does not list them.
    #[error("the system does not list its cores: {0}")]
    System(#[from] io::Error),
}

impl Cores {
    /// Shares out the cores on which this thread may run: `each` to each of the games.
    ///
    /// # Errors
    /// [`CoresError`], above all if they are too few.
    pub fn share(games: usize, each: usize) -> Result<Self, CoresError> {
        let all = available()?;
        let (wanted, found) = (games * each, all.len());
        if wanted > found {
            return Err(CoresError::TooFew { games, wanted, found });
        }
        let (taken, rest) = all.split_at(wanted);
        let games = taken.chunks(each.max(1)).map(<[usize]>::to_vec).collect();
        let referees = if rest.is_empty() { all.clone() } else { rest.to_vec() };
        Ok(Self { games, referees })
    }

    /// The cores of a game; none: it has all.
    pub(super) fn of(&self, game: usize) -> Option<&[usize]> {
        self.games.get(game).map(Vec::as_slice)
    }

    /// Starts a process on the cores of a game; this thread then runs on those of the referees.
    pub(super) fn start<T>(&self, game: usize, start: impl FnOnce() -> T) -> T {
        // A core that was taken away meanwhile is no reason to lose a game.
        let _gone = self.games.get(game).map(|cores| run_on(cores));
        let started = start();
        let _gone = run_on(&self.referees);
        started
    }
}

/// The cores on which this thread may run.
#[cfg(target_os = "linux")]
pub(super) fn available() -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

/// Lets this thread, and what it starts, run on these cores only.
#[cfg(target_os = "linux")]
pub(super) fn run_on(cores: &[usize]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    cores.iter().for_each(|core| set.set(*core));
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn available() -> io::Result<Vec<usize>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn run_on(_: &[usize]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "it ends at once")]
    fn processes_run_where_their_game_does() {
        // In a thread of its own: the one that runs this test runs others.
        thread::spawn(|| {
            let before = available().unwrap();
            let shares = Cores::share(1, 1).unwrap();
            // Variables that would give OpenMP another number.
            let mut nproc = Command::new("nproc");
            nproc.env_remove("OMP_NUM_THREADS").env_remove("OMP_THREAD_LIMIT");
            let counted = shares.start(0, || nproc.output()).unwrap();
            assert_eq!(String::from_utf8(counted.stdout).unwrap().trim(), "1");
            let rest = if before.len() == 1 { &before[..] } else { &before[1..] };
            assert_eq!(available().unwrap(), rest, "the referee runs on what is left");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn games_have_no_core_in_common() {
        let found = available().unwrap();
        let shares = Cores::share(found.len(), 1).unwrap();
        assert_eq!((shares.games.concat(), shares.referees), (found.clone(), found.clone()));
        let error = Cores::share(found.len(), 2).unwrap_err().to_string();
        let (games, wanted) = (found.len(), 2 * found.len());
        assert_eq!(error, format!("{games} games at once want {wanted} cores and there are {games}"));
    }
}
