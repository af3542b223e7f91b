//! The numbers as text: the exposition format of Prometheus, version 0.0.4.
//!
//! One table says what each is called, what kind it is and what it means. Names follow Prometheus'
//! conventions: `plyd_`, base units (seconds, bytes), `_total` behind what only grows.

use std::fmt::Write as _;
use std::time::UNIX_EPOCH;

use plyd_protocol as wire;
use plyd_protocol::{Command, ErrorCode};

use super::{Scrape, process};
use crate::spans::Origin;
use crate::state::refusals::{Refusal, name_of};
use crate::state::status::{PHASES, STATES};
use crate::state::tally::{Histogram, Played, REASONS};
use crate::system;

/// A metric: its name, its kind, what it means, and its samples.
struct Metric {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    write: fn(&Scrape, &mut Samples<'_>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

const fn counter(name: &'static str, help: &'static str, write: fn(&Scrape, &mut Samples<'_>)) -> Metric {
    Metric { name, kind: Kind::Counter, help, write }
}

const fn gauge(name: &'static str, help: &'static str, write: fn(&Scrape, &mut Samples<'_>)) -> Metric {
    Metric { name, kind: Kind::Gauge, help, write }
}

const fn histogram(name: &'static str, help: &'static str, write: fn(&Scrape, &mut Samples<'_>)) -> Metric {
    Metric { name, kind: Kind::Histogram, help, write }
}

const METRICS: &[Metric] = &[
    gauge("plyd_build_info", "Always 1; the labels say which plyd this is.", |_, out| {
        let (version, protocol) = (env!("CARGO_PKG_VERSION"), wire::VERSION.to_string());
        out.labelled(&[("version", version), ("protocol", &protocol)], 1.0);
    }),
    gauge("plyd_uptime_seconds", "Time since the daemon began.", |of, out| {
        out.one(of.state.status.uptime_ms as f64 / 1000.0);
    }),
    counter("plyd_connections_opened_total", "Connections that were opened, by transport.", |of, out| {
        out.each("transport", Origin::NAMES, &of.state.tally.opened);
    }),
    gauge(
        "plyd_connections",
        "Connections that are there: strangers have not said hello, closing ones take no requests, kept ones wait \
         for their clients.",
        |of, out| out.each("state", STATES, &of.state.connections),
    ),
    gauge("plyd_connections_max", "Connections that may have said hello at once.", |of, out| {
        out.count(of.state.connections_most);
    }),
    counter("plyd_connections_dropped_total", "Connections that the daemon closed.", |of, out| {
        out.count(of.state.status.counters.connections_dropped);
    }),
    counter("plyd_refusals_total", "Peers that were turned away or cut off, by the reason.", |of, out| {
        out.each("reason", Refusal::ALL.map(Refusal::name), &of.state.tally.refusals);
    }),
    counter("plyd_lines_total", "Lines that peers sent.", |of, out| {
        out.count(of.state.status.counters.lines)
    }),
    counter("plyd_received_bytes_total", "Bytes that peers sent.", |of, out| out.count(of.received_bytes)),
    counter("plyd_sent_bytes_total", "Bytes that peers were sent.", |of, out| out.count(of.sent_bytes)),
    counter("plyd_requests_total", "Requests that were read, by their kind.", |of, out| {
        out.each("cmd", Command::NAMES, &of.state.tally.requests);
    }),
    counter("plyd_errors_total", "Errors that were sent, by their code.", |of, out| {
        out.each("code", ErrorCode::ALL.map(name_of), &of.state.tally.errors);
    }),
    gauge("plyd_sessions", "Sessions that are open.", |of, out| out.count(of.state.status.sessions)),
    counter("plyd_searches_total", "Searches that a thread began, by game.", |of, out| {
        out.games(of, |played| played.searches);
    }),
    gauge("plyd_searches_in_flight", "Searches that are in flight, by how far they are.", |of, out| {
        out.each("phase", PHASES, &of.state.phases);
    }),
    counter("plyd_cancelled_searches_total", "Searches that ended without an answer.", |of, out| {
        out.count(of.state.status.counters.cancelled);
    }),
    counter("plyd_answers_total", "Best moves that were answered, by game and reason.", |of, out| {
        for Played { game, answers, .. } in &of.state.tally.games {
            for (reason, count) in REASONS.iter().zip(answers) {
                out.labelled(&[("game", game), ("reason", &name(reason))], *count as f64);
            }
        }
    }),
    counter(
        "plyd_timed_answers_total",
        "Best moves of searches that had a time, when written.",
        |of, out| {
            out.count(of.state.tally.timed);
        },
    ),
    histogram(
        "plyd_answer_lateness_seconds",
        "By how much best moves were written later than their time; those in time do not count.",
        |of, out| out.histogram(&of.state.tally.lateness),
    ),
    counter("plyd_watchdog_answers_total", "Searches that the watchdog had to answer for.", |of, out| {
        out.count(of.state.tally.watchdog_answers);
    }),
    counter(
        "plyd_unsearched_answers_total",
        "Best moves that were not searched, since their time was over before.",
        |of, out| out.count(of.state.tally.unsearched),
    ),
    counter(
        "plyd_abandoned_threads_total",
        "Search threads that did not yield and were replaced.",
        |of, out| {
            out.count(of.state.status.counters.abandoned);
        },
    ),
    histogram(
        "plyd_queue_time_seconds",
        "Time from a request for a search to its first turn: reading, waiting for a session, a slot or a core.",
        |of, out| out.histogram(&of.state.tally.waits),
    ),
    histogram("plyd_search_time_seconds", "Time from a search's first turn to its answer.", |of, out| {
        out.histogram(&of.state.tally.searches);
    }),
    counter("plyd_nodes_total", "Positions that were searched, by game.", |of, out| {
        out.games(of, |played| played.nodes);
    }),
    gauge("plyd_threads_busy", "Search threads whose turn it is.", |of, out| {
        out.count(of.state.status.threads)
    }),
    gauge("plyd_threads_max", "Search threads that may run at once.", |of, out| out.count(of.state.cores)),
    gauge("plyd_table_memory_bytes", "Memory that transposition tables may use at present.", |of, out| {
        out.count(of.state.status.hash_bytes);
    }),
    gauge("plyd_table_memory_max_bytes", "Memory that all transposition tables may use.", |of, out| {
        out.count(of.state.hash_most);
    }),
    gauge("plyd_request_memory_bytes", "Memory of requests that wait for answers.", |of, out| {
        out.count(of.state.request_bytes);
    }),
    gauge("plyd_session_memory_bytes", "Memory of what sessions remember.", |of, out| {
        out.count(of.state.session_bytes)
    }),
    gauge("plyd_unsent_bytes", "Answers that peers have not read.", |of, out| {
        out.count(of.state.unsent_bytes)
    }),
    counter("plyd_incidents_total", "Panics; the log has each.", |of, out| out.count(of.incidents)),
    counter("plyd_log_lines_lost_total", "Lines of the log that nobody read in time.", |of, out| {
        out.count(of.state.status.counters.log_lost);
    }),
    counter(
        "plyd_log_lines_left_out_total",
        "Lines of the log that were left out, so that peers cannot fill it.",
        |of, out| out.count(of.state.log_left_out),
    ),
    counter("plyd_transcript_lines_lost_total", "Lines that are missing from the transcript.", |of, out| {
        out.count(of.state.status.counters.transcript_lost);
    }),
    counter(
        "plyd_reloads_total",
        "How often settings were read again, by what became of them.",
        |of, out| {
            out.each("result", ["applied", "refused"], &of.state.tally.reloads);
        },
    ),
    gauge("process_start_time_seconds", "When the daemon began, in seconds since 1970.", |of, out| {
        out.known(of.started.duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs_f64()));
    }),
    counter("process_cpu_seconds_total", "Processor time that the process has used.", |_, out| {
        out.known(system::cpu_seconds());
    }),
    gauge("process_resident_memory_bytes", "Memory that the process has in use.", |_, out| {
        out.known(process::resident_bytes());
    }),
    gauge("process_open_fds", "File descriptors in use.", |_, out| out.known(process::open_fds())),
    gauge("process_max_fds", "File descriptors that there may be.", |_, out| out.known(system::max_fds())),
];

/// All metrics as text.
pub(crate) fn exposition(scrape: &Scrape) -> String {
    let mut text = String::with_capacity(32 << 10);
    for Metric { name, kind, help, write } in METRICS {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let _infallible = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        write(scrape, &mut Samples { name, text: &mut text });
    }
    text
}

/// The samples of one metric.
struct Samples<'a> {
    name: &'static str,
    text: &'a mut String,
}

impl Samples<'_> {
    /// A number alone.
    fn one(&mut self, value: f64) {
        self.labelled(&[], value);
    }

    fn count(&mut self, value: u64) {
        self.one(value as f64);
    }

    /// A number, if it is known.
    fn known(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.one(value);
        }
    }

    /// A number for each value of a label.
    fn each<const N: usize>(&mut self, label: &str, names: [&str; N], values: &[u64; N]) {
        for (name, value) in names.into_iter().zip(values) {
            self.labelled(&[(label, name)], *value as f64);
        }
    }

    /// A number for each game.
    fn games(&mut self, of: &Scrape, value: impl Fn(&Played) -> u64) {
        for played in &of.state.tally.games {
            self.labelled(&[("game", played.game)], value(played) as f64);
        }
    }

    fn labelled(&mut self, labels: &[(&str, &str)], value: f64) {
        self.sample("", labels, value);
    }

    fn histogram(&mut self, histogram: &Histogram) {
        let mut count = 0;
        let bounds = histogram.bounds_us.iter().map(|us| (*us as f64 / 1e6).to_string());
        for (bound, more) in bounds.chain(["+Inf".to_owned()]).zip(&histogram.counts) {
            count += more;
            self.sample("_bucket", &[("le", &bound)], count as f64);
        }
        self.sample("_sum", &[], histogram.sum_ns as f64 / 1e9);
        self.sample("_count", &[], count as f64);
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        for (index, (label, word)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _infallible = write!(self.text, "{before}{label}=\"{word}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _infallible = writeln!(self.text, "{end} {value}");
    }
}

/// The name of a reason on the wire.
fn name(reason: &wire::Reason) -> String {
    let value = serde_json::to_value(reason).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        let mut names = BTreeSet::new();
        for Metric { name, kind, help, .. } in METRICS {
            assert!(names.insert(*name), "{name} is there twice");
            assert!(name.starts_with("plyd_") || name.starts_with("process_"), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
            assert_eq!(name.ends_with("_total"), *kind == Kind::Counter, "{name}");
            assert!(
                !["_ms", "_us", "_mb", "_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end))
            );
            assert!(*kind != Kind::Histogram || name.ends_with("_seconds"), "{name}");
            assert!(help.ends_with('.') && !help.contains(['\n', '\\']), "{name}: {help}");
        }
    }
}
