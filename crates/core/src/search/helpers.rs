//! The threads that help a search.
//!
//! A search is compiled anew for each game and evaluation, and with it all generic code that it calls. What
//! starts and joins its threads is compiled once.

use std::thread::{Builder, Scope};

/// [`std::thread::scope`]: gives what `search` gives, once all threads that it started have ended.
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

#[cfg(test)]
mod tests {
    use super::*;

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
