//! The subjects, the streams and the consumer: all that a permission names.

use super::description::MatchId;

/// The stream of descriptions and results, one message a subject.
pub(super) const RESULTS: &str = "plyd_results";
/// The stream of jobs, a work queue.
pub(super) const JOBS: &str = "plyd_jobs";
/// The stream of programs.
pub(super) const PROGRAMS: &str = "plyd_programs";
/// The subjects of the programs: a piece each.
pub(super) const PROGRAM_SUBJECTS: &str = "plyd.program.*.*";

/// The consumer of the jobs, which all workers share.
pub(super) const WORKERS: &str = "workers";

/// The subjects of the stream of results.
pub(super) const RESULT_SUBJECTS: [&str; 2] = ["plyd.match.*", "plyd.result.*.*"];
/// The subjects of the jobs.
pub(super) const JOB_SUBJECTS: &str = "plyd.job.*.*";

/// On which workers say how they are.
pub(super) const ALL_WORKERS: &str = "plyd.worker.*";
/// On which coordinators do.
pub(super) const ALL_COORDINATORS: &str = "plyd.coordinator.*";
/// On which both are asked to do so at once.
pub(super) const ASK: &str = "plyd.ask";

/// The subject of a piece of a program, from 0.
pub(super) fn piece(hash: &str, piece: u64) -> String {
    format!("plyd.program.{hash}.{piece}")
}

/// The subject of a match's description.
pub(super) fn description(id: &MatchId) -> String {
    format!("plyd.match.{id}")
}

/// The subject of a pair's job; pairs count from 1.
pub(super) fn job(id: &MatchId, pair: usize) -> String {
    format!("plyd.job.{id}.{pair}")
}

/// The subject of all jobs of a match.
pub(super) fn jobs(id: &MatchId) -> String {
    format!("plyd.job.{id}.*")
}

/// The subject of a pair's result.
pub(super) fn result(id: &MatchId, pair: usize) -> String {
    format!("plyd.result.{id}.{pair}")
}

/// The subject of all results of a match.
pub(super) fn results(id: &MatchId) -> String {
    format!("plyd.result.{id}.*")
}

/// The subject of the notices that a result of a match was stored.
pub(super) fn stored(id: &MatchId) -> String {
    format!("plyd.stored.{id}")
}

/// The subject on which the coordinators of a match are told to end.
pub(super) fn cancel(id: &MatchId) -> String {
    format!("plyd.cancel.{id}")
}

/// The most pairs of a match that a subject names.
const MOST_PAIRS: usize = u32::MAX as usize;

/// The match and the pair that the subject of a job or a result names.
pub(super) fn read(subject: &str) -> Option<(MatchId, usize)> {
    let rest = subject.strip_prefix("plyd.job.").or_else(|| subject.strip_prefix("plyd.result."))?;
    let (id, pair) = rest.split_once('.')?;
    // As it is written above, and in no other way.
    let number = pair.parse().ok().filter(|number| (1..=MOST_PAIRS).contains(number))?;
    if number.to_string() != pair {
        return None;
    }
    Some((id.parse().ok()?, number))
}

/// The subject on which a worker says how it is.
pub(super) fn worker(name: &str) -> String {
    format!("plyd.worker.{name}")
}

/// The subject on which the coordinator of a match says how it is.
pub(super) fn coordinator(id: &MatchId) -> String {
    format!("plyd.coordinator.{id}")
}

/// Whether a worker may have this name, which is a part of a subject.
///
/// ```
/// assert!(plyd_fleet::is_name("lab-7_a") && !plyd_fleet::is_name("lab.7") && !plyd_fleet::is_name(""));
/// ```
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_read_as_it_is_written() {
        let id: MatchId = "0123456789abcdef0123456789abcdef".parse().unwrap();
        for pair in [1, 7, 500_000] {
            assert_eq!(read(&job(&id, pair)), Some((id.clone(), pair)));
            assert_eq!(read(&result(&id, pair)), Some((id.clone(), pair)));
        }
        for subject in ["plyd.job.1.1", "plyd.match.1", "plyd.job.0123456789abcdef0123456789abcdef"] {
            assert_eq!(read(subject), None, "{subject}");
        }
        for pair in ["0", "01", "+1", "", "1.2", "x", "4294967296", "18446744073709551615"] {
            assert_eq!(read(&format!("plyd.job.{id}.{pair}")), None, "{pair}");
        }
    }
}
