//! A daemon's life between clients that come and go: storms, calms, and its end.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::honest::Weather;
use crate::server::{Outcome, Server, TIMEOUT};

/// Everybody comes, for so long.
pub(crate) fn storm(server: &Server, weather: &Weather, time: Duration, most_kib: &mut u64) {
    weather.is_calm.store(false, Ordering::SeqCst);
    watch(server, time, most_kib);
}

/// Lets time pass, and notes how much memory the daemon takes.
pub(crate) fn watch(server: &Server, time: Duration, most_kib: &mut u64) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        // A daemon that is gone is noticed where it is ended.
        *most_kib = (*most_kib).max(server.proc_status("VmRSS:").unwrap_or(0));
        thread::sleep(Duration::from_millis(200).min(end.saturating_duration_since(Instant::now())));
    }
}

/// Everybody leaves.
pub(crate) fn calm(weather: &Weather) {
    weather.is_calm.store(true, Ordering::SeqCst);
    let deadline = Instant::now() + 2 * TIMEOUT;
    while weather.present.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    // The daemon notices a moment later.
    thread::sleep(Duration::from_millis(500));
}

/// Asks a daemon to end, which may take so long; the complaint if it does not end in order.
pub(crate) fn end(mut server: Server, weather: &Weather, limit: Duration) -> Outcome<Option<String>> {
    weather.ends.turn();
    let _ended_already = server.signal(Signal::TERM);
    let status = server.wait_exit(Instant::now() + limit)?;
    drop(server);
    weather.ends.turn();
    let is_in_order = status.is_some_and(|status| status.success());
    Ok((!is_in_order).then(|| format!("asked to end, after {} s: {status:?}", limit.as_secs())))
}

/// Kills a daemon.
pub(crate) fn kill(mut server: Server, weather: &Weather) -> Outcome<()> {
    weather.kills.turn();
    let _ended_already = server.signal(Signal::KILL);
    server.wait_exit(Instant::now() + TIMEOUT)?;
    drop(server);
    weather.kills.turn();
    Ok(())
}
