//! What every search takes of the standard library, compiled once: threads that help it, and a sort.
//!
//! A search is compiled anew for each game and evaluation, and with it all generic code that it calls. Here
//! only the few lines that depend on the game are.

use std::thread::{Builder, Scope};

/// [`std::thread::scope`]: gives what `search` gives, when all threads that it started have ended.
pub(super) fn scope<'env, T>(search: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    let (mut search, mut found) = (Some(search), None);
    dyn_scope(&mut |scope| found = search.take().map(|search| search(scope)));
    found.expect("a scope runs what it is given")
}

fn dyn_scope<'env>(search: &mut dyn for<'scope> FnMut(&'scope Scope<'scope, 'env>)) {
    std::thread::scope(|scope| search(scope));
}

/// Starts a thread; false if the system gives no more of them.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    helper: Box<dyn FnOnce() + Send + 'scope>,
) -> bool {
    Builder::new().spawn_scoped(scope, helper).is_ok()
}

/// Sorts by a number, the smallest first, which is asked for once an item. Equal items stay in their order.
pub(super) fn sort_by_number<T>(items: &mut [T], mut number: impl FnMut(&T) -> i64) {
    let mut numbers = Vec::with_capacity(items.len());
    for item in &*items {
        numbers.push((number(item), numbers.len()));
    }
    for (at, from) in swaps(numbers).into_iter().enumerate() {
        items.swap(at, from);
    }
}

/// With which later place each place is swapped, the first one first, so that the numbers are sorted.
fn swaps(mut numbers: Vec<(i64, usize)>) -> Vec<usize> {
    numbers.sort_unstable();
    let mut swaps: Vec<usize> = numbers.into_iter().map(|(_, from)| from).collect();
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
    fn a_sort_by_numbers_is_stable_and_asks_once() {
        let mut random = SplitMix64::new(7);
        for len in (0..20).chain([100, 1000]) {
            let items: Vec<(u64, usize)> = (0..len).map(|at| (random.next() % 10, at)).collect();
            let (mut sorted, mut expected, mut asked) = (items.clone(), items, 0);
            sort_by_number(&mut sorted, |item| {
                asked += 1;
                -(item.0 as i64)
            });
            expected.sort_by_key(|item| std::cmp::Reverse(item.0));
            assert_eq!((sorted, asked), (expected, len));
        }
    }

    #[test]
    fn a_scope_gives_its_result_once_its_threads_have_ended() {
        let mut counts = [0; 4];
        let first = scope(|scope| {
            for count in &mut counts[1..] {
                assert!(start(scope, Box::new(|| *count += 1)));
            }
            1
        });
        counts[0] = first;
        assert_eq!(counts, [1; 4]);
    }
}
