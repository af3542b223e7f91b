//! The sort of everything that is generic over the game: moves, lines and outcomes.
//!
//! A search is compiled anew for each game and evaluation, and with it all generic code that it calls. Here
//! only keys are sorted, by code that is compiled once per type of key.

/// Sorts by a key, smallest first; the key of each item is computed once. Equal items keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    let mut keys = Vec::with_capacity(items.len());
    for item in &*items {
        keys.push((key(item), keys.len()));
    }
    for (at, from) in swaps(keys).into_iter().enumerate() {
        items.swap(at, from);
    }
}

/// The swaps that sort the keys: for each place, from the first on, the place to swap it with, which is the
/// same or a later one.
fn swaps<K: Ord>(mut keys: Vec<(K, usize)>) -> Vec<usize> {
    keys.sort_unstable();
    let mut swaps: Vec<usize> = keys.into_iter().map(|(_, from)| from).collect();
    for at in 0..swaps.len() {
        // What stood there was moved away when an earlier place was filled.
        while swaps[at] < at {
            swaps[at] = swaps[swaps[at]];
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    #[test]
    fn a_sort_is_stable_and_asks_once() {
        let mut random = SplitMix64::new(7);
        for len in (0..20).chain([100, 1000]) {
            let items: Vec<(u64, usize)> = (0..len).map(|at| (random.next() % 10, at)).collect();
            let (mut sorted, mut expected, mut asked) = (items.clone(), items, 0);
            sort_by_key(&mut sorted, |item| {
                asked += 1;
                -(item.0 as i64)
            });
            expected.sort_by_key(|item| std::cmp::Reverse(item.0));
            assert_eq!((sorted, asked), (expected, len));
        }
    }
}
