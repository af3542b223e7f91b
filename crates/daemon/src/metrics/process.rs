//! What the system knows of the process, by the names that Prometheus' own clients use. Where the system does
//! not say, there is no number.

/// The memory in use, in bytes.
pub(super) fn resident_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kib * 1024) as f64)
}

/// The file descriptors in use; the one that counts them is not among them.
pub(super) fn open_fds() -> Option<f64> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as f64)
}
