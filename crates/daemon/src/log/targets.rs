//! The targets of the log's lines, by which filters choose them, as far as they are not the paths of their
//! modules.
//!
//! Users write them in their settings (`--log-filter plyd_daemon::searches=debug`), and programs read them in
//! lines of JSON: so they stay as they are when files move.

pub(crate) const CONN: &str = "plyd_daemon::conn";
pub(crate) const ENDING: &str = "plyd_daemon::ending";
pub(crate) const IDENTITY: &str = "plyd_daemon::identity";
pub(crate) const KEPT: &str = "plyd_daemon::kept";
pub(crate) const KEPT_PROMISE: &str = "plyd_daemon::kept::promise";
pub(crate) const KEPT_TAKE_UP: &str = "plyd_daemon::kept::take_up";
pub(crate) const LESSONS: &str = "plyd_daemon::lessons";
pub(crate) const LISTEN: &str = "plyd_daemon::listen";
pub(crate) const OPERATE: &str = "plyd_daemon::operate";
pub(crate) const PLACES: &str = "plyd_daemon::places";
pub(crate) const POOL: &str = "plyd_daemon::pool";
pub(crate) const PRIORITY: &str = "plyd_daemon::priority";
pub(crate) const REFUSALS: &str = "plyd_daemon::refusals";
pub(crate) const SEARCHES: &str = "plyd_daemon::searches";
pub(crate) const SERVE: &str = "plyd_daemon::serve";
pub(crate) const SHARED: &str = "plyd_daemon::shared";
pub(crate) const THREADS: &str = "plyd_daemon::threads";
pub(crate) const WATCHDOG: &str = "plyd_daemon::watchdog";
pub(crate) const WORKER: &str = "plyd_daemon::worker";
