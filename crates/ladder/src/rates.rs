//! How often an address asks, and how many places it takes. Both are bounded, whoever asks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plyd_protocol::newcomers::network;

/// The most addresses whose requests are counted; beyond them the one that has been quiet for longest is
/// forgotten.
const ADDRESSES: usize = 10_000;

/// Whose request it is: an IPv4 address, or an IPv6 network of a customer (/64).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Peer(Option<IpAddr>);

impl Peer {
    /// None: unknown, and so one peer with all that are.
    pub(crate) fn of(address: Option<IpAddr>) -> Self {
        Self(address.map(network))
    }
}

/// A bucket for each peer, from which each request takes a token, and which fills up with time.
#[derive(Debug)]
pub(crate) struct Rates {
    burst: f64,
    a_second: f64,
    most: usize,
    buckets: Mutex<HashMap<Peer, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Rates {
    pub(crate) fn new(burst: u32, a_second: u32) -> Self {
        Self {
            burst: f64::from(burst.max(1)),
            a_second: f64::from(a_second),
            most: ADDRESSES,
            buckets: Mutex::default(),
        }
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&self, peer: Peer, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= self.most && !buckets.contains_key(&peer) {
            self.forget(&mut buckets, now);
        }
        let bucket = buckets.entry(peer).or_insert(Bucket { tokens: self.burst, at: now });
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed * self.a_second).min(self.burst);
        bucket.at = now;
        let has_one = bucket.tokens >= 1.0;
        if has_one {
            bucket.tokens -= 1.0;
        }
        has_one
    }

    /// Forgets those that are full again, or else the one that has been quiet for longest.
    fn forget(&self, buckets: &mut HashMap<Peer, Bucket>, now: Instant) {
        let until_full = Duration::from_secs_f64(self.burst / self.a_second.max(1e-3));
        buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at) < until_full);
        if buckets.len() >= self.most
            && let Some(quiet) = buckets.iter().min_by_key(|(_, bucket)| bucket.at).map(|(peer, _)| *peer)
        {
            buckets.remove(&quiet);
        }
    }
}

/// Places of which each peer has some at most.
#[derive(Debug)]
pub(crate) struct Places {
    all: usize,
    of_peer: usize,
    taken: Mutex<HashMap<Peer, usize>>,
}

/// A place, which is free again once this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    peer: Peer,
}

impl Places {
    pub(crate) fn new(all: usize, of_peer: usize) -> Arc<Self> {
        Arc::new(Self { all, of_peer, taken: Mutex::default() })
    }

    /// Takes a place, if one is free.
    pub(crate) fn take(self: &Arc<Self>, peer: Peer) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let own = taken.get(&peer).copied().unwrap_or_default();
        if all >= self.all || own >= self.of_peer {
            return None;
        }
        taken.insert(peer, own + 1);
        Some(Place { places: Arc::clone(self), peer })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer::of(Some(text.parse().unwrap()))
    }

    #[test]
    fn a_peer_is_an_address_or_a_customers_network() {
        for (one, other, same) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true),
            ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
        ] {
            assert_eq!(peer(one) == peer(other), same, "{one} {other}");
        }
    }

    #[test]
    fn a_bucket_fills_up_with_time_and_no_further() {
        let (rates, start) = (Rates::new(3, 2), Instant::now());
        let mut take = |ms| rates.take(peer("192.0.2.1"), start + Duration::from_millis(ms));
        let taken = [0, 0, 0, 0, 400, 500, 500, 100_000, 100_000, 100_000, 100_000].map(&mut take);
        assert_eq!(taken, [true, true, true, false, false, true, false, true, true, true, false]);
        assert!(rates.take(peer("192.0.2.2"), start), "another one has a bucket of its own");
    }

    #[test]
    fn what_is_counted_is_bounded_and_the_busy_stay_counted() {
        let (rates, start) = (Rates { most: 100, ..Rates::new(1, 1) }, Instant::now());
        assert!(rates.take(peer("192.0.2.1"), start));
        for number in 0..1000_u32 {
            let at = start + Duration::from_micros(u64::from(number));
            assert!(rates.take(Peer::of(Some(IpAddr::V4(number.into()))), at), "{number}");
            assert!(!rates.take(peer("192.0.2.1"), at), "the busy one at {number}");
        }
        assert!(rates.buckets.lock().unwrap().len() <= 100);
    }

    #[test]
    fn places_are_free_again() {
        let places = Places::new(3, 2);
        let (one, other) = (peer("192.0.2.1"), peer("192.0.2.2"));
        let first = places.take(one).unwrap();
        let _second = places.take(one).unwrap();
        assert!(places.take(one).is_none(), "two of one peer");
        let _third = places.take(other).unwrap();
        assert!(places.take(other).is_none(), "three of all");
        drop(first);
        assert!(places.take(other).is_some());
        assert_eq!(places.taken.lock().unwrap().len(), 2);
    }
}
