//! Peers of a listener that are no connections yet: those that shake hands, and the visitors of a port that
//! browsers reach. They hold few places, and a newcomer takes the place of one that does not get on.
//!
//! Knows no protocol: whoever serves a peer says when that got on.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

/// For so long after its last step a peer keeps its place before all that took none: a round trip to the
/// other side of the world, a few times.
const KEPT: Duration = Duration::from_secs(1);

/// When a peer last got on: when it made us answer it, however many bytes that took.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// It got on now.
    pub fn note(&self) {
        self.0.store(now_ns(), Relaxed);
    }
}

/// How many there may be.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Of one listener.
    pub all: usize,
    /// Of one network; 0: as many as of all.
    pub of_network: usize,
}

/// The peers of one listener. They end with it.
#[derive(Debug, Default)]
pub struct Newcomers {
    peers: Mutex<VecDeque<Newcomer>>,
}

/// A peer that left for a newcomer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Displaced {
    /// Its address.
    pub peer: SocketAddr,
    /// Whether that was because its network has too many.
    pub is_of_network: bool,
}

#[derive(Debug)]
struct Newcomer {
    peer: SocketAddr,
    came_ns: u64,
    progress: Progress,
    task: AbortHandle,
}

impl Newcomer {
    fn network(&self) -> IpAddr {
        network(self.peer.ip())
    }

    /// Its turn to leave: the least leaves first.
    fn rank(&self, now_ns: u64) -> (bool, u64) {
        match self.progress.0.load(Relaxed) {
            0 => (false, self.came_ns),
            step_ns => (step_ns.saturating_add(KEPT.as_nanos() as u64) > now_ns, step_ns),
        }
    }
}

impl Newcomers {
    /// Begins to serve a peer by a task of its own. If there is no place left, it takes that of another: of
    /// one of the same network, if that has too many. Gives the one that left.
    pub fn begin<F>(
        &self,
        peer: SocketAddr,
        places: Places,
        serve: impl FnOnce(Progress) -> F,
    ) -> Option<Displaced>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (progress, came_ns) = (Progress::default(), now_ns());
        let task = tokio::spawn(serve(progress.clone())).abort_handle();
        let newcomer = Newcomer { peer, came_ns, progress, task };
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|other| !other.task.is_finished());
        let leaves = leaving(&peers, newcomer.network(), places, came_ns);
        let left = leaves.and_then(|(at, is_of_network)| Some((peers.remove(at)?, is_of_network)));
        peers.push_back(newcomer);
        drop(peers);
        let (left, is_of_network) = left?;
        left.task.abort();
        Some(Displaced { peer: left.peer, is_of_network })
    }
}

impl Drop for Newcomers {
    fn drop(&mut self) {
        let peers = self.peers.get_mut().unwrap_or_else(PoisonError::into_inner);
        peers.iter().for_each(|peer| peer.task.abort());
    }
}

/// Who leaves for a newcomer of a network, and whether that is because of the network.
fn leaving(peers: &VecDeque<Newcomer>, from: IpAddr, places: Places, now_ns: u64) -> Option<(usize, bool)> {
    let first = |is_meant: &dyn Fn(&Newcomer) -> bool| {
        let meant = peers.iter().enumerate().filter(|(_, peer)| is_meant(peer));
        meant.min_by_key(|(_, peer)| peer.rank(now_ns)).map(|(at, _)| at)
    };
    let is_of_network = |peer: &Newcomer| peer.network() == from;
    if places.of_network > 0 && peers.iter().filter(|peer| is_of_network(peer)).count() >= places.of_network {
        return Some((first(&is_of_network)?, true));
    }
    if peers.len() < places.all {
        return None;
    }
    Some((first(&|_| true)?, false))
}

/// What counts as one address: an IPv4 address, or the 64 bits of an IPv6 network, whose hosts pick the rest.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 => v4,
    }
}

/// The time since the first question, and never 0, which stands for none.
fn now_ns() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_nanos()).unwrap_or(u64::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Peers, each by its address, when it came, and when it last got on.
    fn peers(of: &[(&str, u64, u64)]) -> VecDeque<Newcomer> {
        let task = tokio::spawn(async {}).abort_handle();
        let newcomer = |(address, came_ns, step_ns): &(&str, u64, u64)| Newcomer {
            peer: SocketAddr::new(address.parse().unwrap(), 1),
            came_ns: *came_ns,
            progress: Progress(Arc::new(AtomicU64::new(*step_ns))),
            task: task.clone(),
        };
        of.iter().map(newcomer).collect()
    }

    #[test]
    fn an_address_is_one_however_it_is_written() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }

    #[test]
    fn the_oldest_that_does_not_get_on_leaves() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _within = runtime.enter();
        let now = 10 * SECOND;
        let places = Places { all: 3, of_network: 0 };
        let leaves =
            |of: &[(&str, u64, u64)], places| leaving(&peers(of), "192.0.2.9".parse().unwrap(), places, now);
        for (of, leaver) in [
            // There is room.
            (&[("192.0.2.1", SECOND, 0), ("192.0.2.2", 2 * SECOND, 0)][..], None),
            // None has got on: the oldest.
            (&[("192.0.2.1", 3, 0), ("192.0.2.2", 2, 0), ("192.0.2.3", 4, 0)], Some(1)),
            // The oldest has just got on, and younger ones have not.
            (&[("192.0.2.1", 1, now - 1), ("192.0.2.2", 3, 0), ("192.0.2.3", now - 1, 0)], Some(1)),
            // One that got on long ago has stopped since.
            (&[("192.0.2.1", 1, 8 * SECOND), ("192.0.2.2", 9 * SECOND, 0), ("192.0.2.3", now, 0)], Some(0)),
            // All have just got on: the one whose step is longest ago.
            (&[("192.0.2.1", 1, now - 1), ("192.0.2.2", 2, now - 3), ("192.0.2.3", 3, now - 2)], Some(1)),
        ] {
            assert_eq!(leaves(of, places), leaver.map(|at| (at, false)), "{of:?}");
        }
        // The newcomer's own network has too many.
        let of = [("192.0.2.1", 1, 0), ("192.0.2.9", 2, now - 1), ("192.0.2.9", 3, 0)];
        assert_eq!(leaves(&of, Places { all: 9, of_network: 2 }), Some((2, true)));
        assert_eq!(leaves(&of, Places { all: 9, of_network: 3 }), None);
        assert_eq!(leaves(&of[..0], Places { all: 1, of_network: 1 }), None);
    }
}
