//! Servers that break one promise, and the suite that is to say so.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, io::Read};

use plyd::client::Process;
use serde_json::Value;

use crate::finding::{Figure, Finding, Place, figure, free_address, launch, tcp};
use crate::server::{Outcome, PLYD};

#[allow(clippy::unwrap_used, dead_code, reason = "it is the tests' own, and they serve it over TCP too")]
#[path = "../../tests/programs/conform/mutant.rs"]
mod mutant;

/// `plyd conform` of a build against broken servers of this one.
pub(crate) const FINDING: Finding = Finding {
    lines: &[
        ("ten servers that break one promise each: how many `plyd conform` catches", "10"),
        ("kinds of server that `plyd conform` judges: `tcp=`, `ws=`, `unix=`, with a token", "4"),
    ],
    measure,
};

/// What is broken, the lines that are distorted, what becomes of them, and the group of checks that is meant
/// for it.
const BROKEN: [(&str, &str, &str, &str); 10] = [
    ("node limits obeyed from below", "> {\"limit\":{\"nodes\":20000}}", "set /limit/nodes 2000", "search"),
    ("nodes 0", "< {\"type\":\"bestmove\"}", "set /stats/nodes 0", "search"),
    ("time 0", "< {\"type\":\"bestmove\"}", "set /stats/time_ms 0", "search"),
    ("nodes a second 1", "< {\"type\":\"bestmove\"}", "set /stats/nps 1", "search"),
    (
        "timing false",
        "< {\"type\":\"bestmove\"}",
        "set /timing {\"received_us\":1,\"started_us\":1,\"decided_us\":1}",
        "search",
    ),
    ("skipped missing", "< {\"type\":\"info\"}", "remove /skipped", "search"),
    ("proofs held back", "< {\"reason\":\"proven\"}", "delay 400", "time"),
    ("values from the wrong side", "< {\"of\":\"inspect\"}", "negate eval", "rules"),
    (
        "values of moves from the wrong side",
        "< {\"of\":\"inspect\",\"id\":\"after\"}",
        "negate eval",
        "rules",
    ),
    (
        "counters 0",
        "< {\"of\":\"status\"}",
        "set /counters {\"connections\":0,\"connections_dropped\":0,\"lines\":0,\"errors\":0,\"searches\":0,\"cancelled\":0,\
         \"failed\":0,\"abandoned\":0,\"nodes\":0,\"info_skipped\":0}",
        "liveness",
    ),
];

/// Serves as a broken server, if this was called by the name of one.
pub(crate) fn serve_if_called() -> Option<ExitCode> {
    let arguments: Vec<String> = env::args().collect();
    let is_called = Path::new(arguments.first()?).file_name() == Some(OsStr::new("mutant"));
    is_called.then(|| mutant::Mutant::read(&arguments[1], &arguments[2]).serve(PLYD))
}

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let place = Place::new("mutants")?;
    let mutant = place.0.join("mutant");
    symlink(env::current_exe()?, &mutant)?;
    let mutant = mutant.to_str().ok_or("the path of the directory is no text")?;
    for group in ["search", "time", "rules", "liveness"] {
        let right = conform(build, &["--only", group, "--", mutant, "< {\"type\":\"none\"}", "drop"])?;
        if right.failed > 0 || right.passed == 0 {
            return Err(format!("a server that is right does not pass `{group}`").into());
        }
    }
    let mut missed = Vec::new();
    for (what, lines, change, group) in BROKEN {
        if conform(build, &["--only", group, "--", mutant, lines, change])?.failed == 0 {
            missed.push(what);
        }
    }
    let caught = BROKEN.len() - missed.len();
    let mut text = format!("{caught} of {}", BROKEN.len());
    if !missed.is_empty() && caught > 0 {
        text += &format!("; missed: {}", missed.join(", "));
    }
    let judged = judged(build, &place)?;
    Ok(vec![figure(text, missed.is_empty()), figure(judged.to_string(), judged == 4)])
}

/// What a run of the suite came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Verdicts {
    passed: u64,
    failed: u64,
}

/// Runs the suite of a build.
fn conform(build: &Path, arguments: &[&str]) -> Outcome<Verdicts> {
    let mut launch = launch(build, &[&["conform", "--json", "--timeout", "20s"], arguments].concat())?;
    launch.command.stdout(Stdio::piped());
    let mut process = Process::spawn(launch)?;
    let mut text = String::new();
    process.take_stdout().ok_or("no output")?.read_to_string(&mut text)?;
    process.wait_exit(Instant::now() + Duration::from_secs(10))?;
    // It says nothing there where it does not know the arguments.
    let Ok(report) = serde_json::from_str::<Value>(&text) else { return Ok(Verdicts::default()) };
    let count = |verdict: &str| report[verdict].as_u64().unwrap_or(0);
    Ok(Verdicts { passed: count("passed") + count("slow"), failed: count("failed") })
}

/// The kinds of address at which the suite of a build judges a server that is right.
fn judged(build: &Path, place: &Place) -> Outcome<usize> {
    let token = place.file("token", "open sesame")?;
    let (web, socket) = (free_address()?.to_string(), place.0.join("socket").display().to_string());
    let server = tcp(Path::new(PLYD), &["--ws", &web, "--unix", &socket])?;
    let secret = tcp(Path::new(PLYD), &["--token-file", &token])?;
    let (open, closed) = (format!("tcp={}", server.address()), format!("tcp={}", secret.address()));
    let (web, socket) = (format!("ws={web}"), format!("unix={socket}"));
    let mut count = 0;
    for address in [&[&*open][..], &[&*web], &[&*socket], &["--token-file", &*token, &*closed]] {
        let verdicts = conform(build, &[&["--only", "ids/of"], address].concat())?;
        count += usize::from(verdicts == Verdicts { passed: 1, failed: 0 });
    }
    Ok(count)
}
