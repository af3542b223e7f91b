//! The calendar's clock, for those that serve. The store and the ratings get times as arguments.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time, in milliseconds since 1970.
///
/// ```
/// assert!(plyd_ladder::now_ms() > 1_700_000_000_000);
/// ```
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
