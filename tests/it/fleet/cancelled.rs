//! A match that is cancelled stays so: its coordinators end instead of queueing it again.

use std::fs;

use super::{Coordinator, MATCH, fleet, nats, worker};
use crate::common::nats::wait_until;
use crate::common::process;
use crate::matches::directory;

#[test]
fn coordinators_of_a_match_that_is_cancelled_end_and_leave_nothing_queued() {
    let the_match = [&MATCH[..], &["--games", "40"]].concat();
    for option in ["--cancel", "--forget"] {
        let (nats, directories) = (nats(), [directory(), directory()]);
        let coordinators = directories.each_ref().map(|of| Coordinator::start(&nats, of, &the_match));
        let worker = worker(&nats, "a", &[]);
        wait_until("both count", || coordinators.iter().all(|coordinator| coordinator.kept() >= 2));
        // It would store the result of the pair that it plays.
        drop(worker);
        let mut client = nats.client();
        let left = if option == "--cancel" { client.count("plyd_results") } else { 0 };
        assert!(client.count("plyd_jobs") > 0, "{option}: nothing is queued any more");
        let id = fleet(&nats)["matches"][0]["match"].as_str().unwrap().to_owned();
        let output = process::output(process::plyd(["fleet", "--nats", &nats.url(), option, &id]));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // At this instant, and also when nobody is left who might queue.
        assert_eq!((client.count("plyd_results"), client.count("plyd_jobs")), (left, 0), "{option}");
        for coordinator in coordinators {
            let kept = coordinator.kept();
            let Coordinator { process, log, .. } = coordinator;
            let output = process::outcome(process);
            let said = log.all();
            assert_eq!(output.status.code(), Some(1), "{said:#?}");
            assert!(said.iter().any(|line| line.contains("it was cancelled by `plyd fleet")), "{said:#?}");
            // It reports on what it had counted.
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["summary"]["games"], kept, "{report}");
        }
        assert_eq!((client.count("plyd_results"), client.count("plyd_jobs")), (left, 0), "{option}");
        directories.iter().for_each(|of| fs::remove_dir_all(of).unwrap());
        // A name that no match has, since it was mistyped, ends none in silence.
        let other = id.chars().rev().collect::<String>();
        let output = process::output(process::plyd(["fleet", "--nats", &nats.url(), option, &other]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains("there is no match"), "{said}");
    }
}
