//! Chaos: hostile peers and honest clients on a daemon with low limits, which is killed now and then and
//! started again.
//!
//! A daemon's life: a short storm, a calm in which its level is measured, a long storm, a calm in which the
//! level must be what it was, and a storm in which it is killed, or asked to end.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::process::Command as Program;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use plyd::cli::columns::{Columns, grouped};
use plyd::zobrist::SplitMix64;

use crate::LoadReport;
use crate::honest::{Honest, Tally, Weather};
use crate::hostile::Deed;
use crate::level::Level;
use crate::life;
use crate::server::{Door, Outcome, PLYD, Server};

const HONEST: u64 = 4;
const HOSTILE: u64 = 8;
/// The storm before the level is measured.
const WARM_UP: Duration = Duration::from_secs(5);
/// How long a daemon that is asked to end may take, by the protocol 5 s.
const SHUTDOWN: Duration = Duration::from_secs(10);
/// Few file descriptors; the daemon's threads and memory are bounded by its flags. Once a large block was
/// freed, glibc would keep up to 64 MiB of freed memory an arena, which looks like a leak; the variable
/// forbids that.
const LIMITED: &str = concat!(
    "ulimit -n 400; export MALLOC_TRIM_THRESHOLD_=1000000; ",
    r#"exec "$0" serve --threads 2 --hash-mb 32 --engines 64 --requests-mb 64 "$@""#
);

/// What happened besides the answers.
#[derive(Default)]
struct Chronicle {
    lives: u64,
    kills: u64,
    ends: u64,
    most_kib: u64,
    /// The level before the first long storm, and after the last one.
    levels: Option<(Level, Level)>,
    complaints: Vec<String>,
}

/// Lets loose for so many minutes.
pub(crate) fn run(minutes: u64, seed: u64) -> Outcome<LoadReport> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let weather = Weather::default();
    weather.is_calm.store(true, Ordering::SeqCst);
    let deeds = Mutex::new((HashMap::<Deed, u64>::new(), Vec::<String>::new()));
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let (chronicle, tally) = thread::scope(|scope| {
        let weather = &weather;
        scope.spawn(|| weather.keep_time());
        let honest: Vec<_> = (0..HONEST)
            .map(|index| {
                let random = SplitMix64::new(seed.wrapping_mul(1_000_003).wrapping_add(index));
                let door = Door::tcp(address);
                let tally = Tally::default();
                scope.spawn(move || Honest { door, random, weather, tally, regular: None }.run())
            })
            .collect();
        for index in 0..HOSTILE {
            let random = SplitMix64::new(seed.wrapping_mul(1_000_033).wrapping_add(index));
            let deeds = &deeds;
            scope.spawn(move || misbehave(address, random, weather, deeds));
        }
        let chronicle = lives(address, weather, end, seed);
        weather.is_over.store(true, Ordering::SeqCst);
        let mut tally = Tally::default();
        for client in honest {
            tally.add(client.join().map_err(|_| "an honest client's thread panicked")?);
        }
        Outcome::Ok((chronicle?, tally))
    })?;
    let (deeds, more) = deeds.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Chronicle { lives, kills, ends, most_kib, levels, mut complaints } = chronicle;
    let mut counts = Columns::new(["what", "count"]);
    for (name, count) in [
        ("honest: asked", tally.asked),
        ("honest: answered", tally.answered),
        ("honest: moves", tally.moves),
        ("honest: overloaded", tally.overloaded),
        ("honest: unprepared", tally.unprepared),
        ("honest: cut off by an end", tally.cut_off),
        ("honest: not connected", tally.refused),
        ("most memory in KiB", most_kib),
    ] {
        counts.row([name.to_owned(), grouped(count)]);
    }
    for deed in Deed::ALL {
        counts.row([format!("hostile: {deed:?}"), grouped(deeds.get(&deed).copied().unwrap_or(0))]);
    }
    complaints.extend(tally.complaints);
    complaints.extend(more);
    if tally.answered == 0 {
        complaints.push("nobody was answered".to_owned());
    }
    let levels = levels.map_or_else(Columns::plain, |(before, after)| Level::table(&before, &after));
    let heading = format!(
        "{minutes} minutes of chaos: {lives} lives of the daemon, {kills} killed, {ends} asked to end"
    );
    Ok(LoadReport { heading, counts, levels, complaints })
}

/// One life after the other until the end.
fn lives(address: SocketAddr, weather: &Weather, end: Instant, seed: u64) -> Outcome<Chronicle> {
    let mut random = SplitMix64::new(seed);
    let mut chronicle = Chronicle::default();
    while chronicle.lives == 0 || Instant::now() < end {
        chronicle.lives += 1;
        let mut serve = Program::new("sh");
        serve.args(["-c", LIMITED, PLYD]);
        let mut server = Server::start_at(serve, address)?;
        life::storm(&server, weather, WARM_UP, &mut chronicle.most_kib);
        life::calm(weather);
        let before = Level::at_rest(&server)?;
        let left = end.saturating_duration_since(Instant::now());
        life::storm(
            &server,
            weather,
            Duration::from_secs(20 + random.below(60) as u64).min(left),
            &mut chronicle.most_kib,
        );
        life::calm(weather);
        let after = Level::settled(&server, &before)?;
        let number = chronicle.lives;
        chronicle
            .complaints
            .extend(after.leaks(&before).into_iter().map(|leak| format!("life {number}: {leak}")));
        let first = chronicle.levels.take().map_or(before, |(first, _)| first);
        chronicle.levels = Some((first, after));
        let rest = Duration::from_millis(500 + random.below(2500) as u64);
        life::storm(&server, weather, rest, &mut chronicle.most_kib);
        if let Some(status) = server.wait_exit(Instant::now())? {
            chronicle.complaints.push(format!("life {number}: the daemon ended by itself, {status}"));
            continue;
        }
        if random.below(3) == 0 {
            chronicle.ends += 1;
            let complaint = life::end(server, weather, SHUTDOWN)?;
            chronicle.complaints.extend(complaint.map(|complaint| format!("life {number}: {complaint}")));
        } else {
            chronicle.kills += 1;
            life::kill(server, weather)?;
        }
        // The storm goes on while nobody listens.
    }
    Ok(chronicle)
}

/// Does one thing after the other until it is over.
fn misbehave(
    address: SocketAddr,
    mut random: SplitMix64,
    weather: &Weather,
    deeds: &Mutex<(HashMap<Deed, u64>, Vec<String>)>,
) {
    while !weather.is_over.load(Ordering::SeqCst) {
        // First, so that a calm waits for this one or this one sees the calm.
        weather.present.fetch_add(1, Ordering::SeqCst);
        if !weather.goes_on() {
            weather.present.fetch_sub(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        let deed = Deed::ALL[random.below(Deed::ALL.len())];
        let before = weather.now();
        let done = deed.run(address, &mut random);
        weather.present.fetch_sub(1, Ordering::SeqCst);
        let mut deeds = deeds.lock().unwrap_or_else(PoisonError::into_inner);
        *deeds.0.entry(deed).or_default() += 1;
        if let Err(error) = done
            && !weather.excuses(before, false)
        {
            deeds.1.push(format!("{deed:?}: {error}"));
        }
    }
}
