//! A port that other machines reach, and guesses of its token.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::{Client, Process};
use plyd_protocol::{Command, Hello, VERSION, Versions};

use crate::finding::{Figure, Finding, Place, figure, free_address, launch, words};
use crate::server::{Outcome, Server};

/// No token, and wrong ones.
pub(crate) const FINDING: Finding = Finding {
    lines: &[
        ("`serve --tcp 0.0.0.0:0` without a token", "refused"),
        ("wrong tokens of one address that are answered in a second, by 8 connections at once", "10"),
        ("lines of the log about them", "1 or more"),
    ],
    measure,
};

const GUESSERS: usize = 8;
const TIME: Duration = Duration::from_secs(3);

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let mut open = Process::spawn(launch(build, &["serve", "--tcp", "0.0.0.0:0"])?)?;
    let exposed = match open.wait_exit(Instant::now() + Duration::from_secs(2))? {
        None => figure("starts and listens", false),
        Some(status) => figure(format!("refused, {}", words(status)), !status.success()),
    };
    let (answered, logged) = guesses(build)?;
    let a_second = answered as f64 / TIME.as_secs_f64();
    Ok(vec![
        exposed,
        figure(format!("{a_second:.1}"), a_second <= 10.0),
        figure(logged.to_string(), logged > 0),
    ])
}

/// How many guesses are answered, and how many lines of log they leave.
fn guesses(build: &Path) -> Outcome<(u64, usize)> {
    let place = Place::new("guesses")?;
    let mut serve = Program::new(build);
    serve.args(["serve", "--token-file", &place.file("token", "open sesame")?]);
    let log = place.0.join("log");
    let server = Server::start_logging(serve, free_address()?, Stdio::from(File::create(&log)?))?;
    let before = fs::read_to_string(&log)?.lines().count();
    let end = Instant::now() + TIME;
    let answered = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..GUESSERS {
            scope.spawn(|| {
                while Instant::now() < end {
                    if guess(&server, end).is_some() {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    Ok((answered.into_inner(), fs::read_to_string(&log)?.lines().count() - before))
}

fn guess(server: &Server, end: Instant) -> Option<()> {
    let mut client = Client::connect(server.address()).ok()?;
    let protocol = Versions { min: VERSION, max: VERSION };
    let hello = Hello { protocol, token: Some("guess".to_owned()), ..Hello::default() };
    let (id, _) = client.request(Command::Hello(hello)).ok()?;
    client.wait_final(&id, end).ok().map(drop)
}
