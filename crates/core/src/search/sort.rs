//! The sort of all searches, of moves, lines and outcomes.
//!
//! A search is compiled anew for each game and evaluation, and with it all generic code that it calls. Here
//! the sort itself is of numbers, and compiled once.

/// Sorts by a number, smallest first, and asks for it once an item. Equal items keep their order.
pub(super) fn sort_by_number<T>(items: &mut [T], mut number: impl FnMut(&T) -> i64) {
    let mut numbers = Vec::with_capacity(items.len());
    for item in &*items {
        numbers.push((number(item), numbers.len()));
    }
    for (at, from) in swaps(numbers).into_iter().enumerate() {
        items.swap(at, from);
    }
}

/// The swaps that sort the numbers: for each place, from the first on, the place to swap it with, which is
/// the same or a later one.
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
}
