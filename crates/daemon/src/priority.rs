//! The priority of the threads that compute: below that of the threads that read and write, so that these
//! come first if cores are short.

/// The nice value of the threads that compute; none if it stays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Priority(Option<i32>);

impl Priority {
    /// `steps` below the thread that calls. The value is fixed here, because threads are started by any
    /// other.
    pub(super) fn below_this(steps: u8) -> Self {
        if steps == 0 {
            return Self(None);
        }
        match get() {
            Ok(own) => Self(Some(own + i32::from(steps))),
            Err(error) => {
                tracing::debug!(%error, "search threads keep their priority");
                Self(None)
            }
        }
    }

    /// Gives the calling thread this priority, which the threads that it starts inherit.
    pub(super) fn apply(self) {
        if let Some(nice) = self.0
            && let Err(error) = set(nice)
        {
            tracing::debug!(%error, nice, "a thread keeps its priority");
        }
    }
}

/// Under Linux a thread has a nice value of its own; elsewhere the process has one.
#[cfg(target_os = "linux")]
fn get() -> rustix::io::Result<i32> {
    rustix::process::getpriority_process(None)
}

#[cfg(target_os = "linux")]
fn set(nice: i32) -> rustix::io::Result<()> {
    rustix::process::setpriority_process(None, nice)
}

#[cfg(not(target_os = "linux"))]
fn get() -> rustix::io::Result<i32> {
    Err(rustix::io::Errno::NOSYS)
}

#[cfg(not(target_os = "linux"))]
fn set(_nice: i32) -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_and_those_that_it_starts_step_back_alone() {
        let own = get().unwrap();
        for steps in [0, 1, 3] {
            let priority = Priority::below_this(steps);
            let inherited = std::thread::spawn(move || {
                priority.apply();
                priority.apply();
                std::thread::spawn(|| get().unwrap()).join().unwrap()
            });
            assert_eq!(inherited.join().unwrap(), (own + i32::from(steps)).min(19));
            assert_eq!(get().unwrap(), own);
        }
    }
}
