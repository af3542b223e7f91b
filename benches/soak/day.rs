//! A day of a server for many: fifty clients that are known by name play whole games, while their rights, the
//! settings and the certificate change, and the daemon is restarted and killed.
//!
//! The sockets belong to this process, as to a service manager: whoever connects while no daemon runs waits,
//! and is never refused. With the feature `service` most clients speak TLS. A third of the clients ask for
//! connections that outlive their sockets, and lose these now and then.
//!
//! The first daemon lives for half of the day, and is calm ten times; each later one is calm in its morning
//! and in its evening. Its level must be flat: in every calm what it was in the first quarter of its life.

use std::fs::{self, Permissions};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use plyd::cli::columns::{Columns, grouped};
use plyd::client::Address;
use plyd::daemon::{TokenHash, new_token};
use plyd::zobrist::SplitMix64;
use plyd_protocol::{Command, ErrorCode, Message, Ping, Role};
use rustix::process::Signal;

use crate::LoadReport;
use crate::conversation::KEEP_MS;
use crate::honest::{Honest, Tally, Weather};
use crate::level::Level;
use crate::life;
use crate::regular::Regular;
use crate::server::{Door, Outcome, PLYD, Server, TIMEOUT};

/// How many clients have which role.
const CLIENTS: [(Role, usize); 3] = [(Role::Play, 30), (Role::Analyse, 15), (Role::Operate, 5)];
/// One more, whose right to be there comes and goes.
const GUEST: &str = "guest";
/// Searches in flight may go on for so long when the daemon is asked to end.
const DRAIN_MS: u64 = 2000;
/// What an orderly end may take beyond that.
const SHUTDOWN: Duration = Duration::from_secs(10);
/// How often the first daemon is calm after its morning.
const CALMS: u32 = 10;
/// Before the level of the morning.
const WARM_UP: Duration = Duration::from_secs(8);
/// The pause between two changes of the settings.
const PAUSE: Duration = Duration::from_secs(2);
/// Hands two sockets over as a service manager does: descriptors 3 and 4, from standard input and output. For
/// the variable about memory see `chaos`.
const HAND_OVER: &str = concat!(
    "exec 3<&0 4<&1 0</dev/null 1>/dev/null; export MALLOC_TRIM_THRESHOLD_=1000000; ",
    r#"exec env LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=tcp:unix "$0" serve --config "$1""#
);

/// What happened besides the answers.
#[derive(Default)]
struct Chronicle {
    lives: u64,
    restarts: u64,
    kills: u64,
    reloads: u64,
    certificates: u64,
    expulsions: u64,
    most_kib: u64,
    /// Levels at rest: all of the first life, and the evenings of the others.
    levels: Vec<Rest>,
    complaints: Vec<String>,
}

/// What a daemon holds in a calm.
struct Rest {
    life: u64,
    /// How long the daemon has lived.
    age: Duration,
    level: Level,
}

/// The files and the sockets of the server, which outlive every daemon.
struct House {
    folder: PathBuf,
    tcp: TcpListener,
    unix: UnixListener,
    /// The name and the token of each client, the guest last.
    clients: Vec<(String, Role, String)>,
    /// Which of the two certificates is in force.
    is_foreign: bool,
}

/// Lets a day pass within so many minutes.
pub(crate) fn run(minutes: u64, seed: u64) -> Outcome<LoadReport> {
    let folder = std::env::temp_dir().join(format!("plyd-day-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let report = House::build(&folder, seed).and_then(|house| pass(house, minutes, seed));
    fs::remove_dir_all(&folder)?;
    report
}

fn pass(mut house: House, minutes: u64, seed: u64) -> Outcome<LoadReport> {
    let weather = Weather::default();
    weather.is_calm.store(true, Ordering::SeqCst);
    let day = Duration::from_secs(60 * minutes);
    let (chronicle, tally, standstills) = thread::scope(|scope| {
        let weather = &weather;
        scope.spawn(|| weather.keep_time());
        let mut clients = Vec::new();
        for (index, (name, role, token)) in house.clients.iter().enumerate() {
            if name == GUEST {
                continue;
            }
            // Every fifth comes from the same machine.
            let door = house.door(index % 5 == 0, token)?;
            let random = SplitMix64::new(seed.wrapping_mul(1_000_003).wrapping_add(index as u64));
            let resumes = index % 3 == 1;
            let regular = Regular { name: name.clone(), role: *role, game: None, is_seated: false, resumes };
            let (tally, regular) = (Tally::default(), Some(regular));
            clients.push(scope.spawn(move || Honest { door, random, weather, tally, regular }.run()));
        }
        let chronicle = lives(&mut house, weather, day, seed);
        let standstills = weather.standstills();
        weather.is_over.store(true, Ordering::SeqCst);
        let mut tally = Tally::default();
        for client in clients {
            tally.add(client.join().map_err(|_| "a client's thread panicked")?);
        }
        Outcome::Ok((chronicle?, tally, standstills))
    })?;
    let Chronicle {
        lives,
        restarts,
        kills,
        reloads,
        certificates,
        expulsions,
        most_kib,
        levels,
        mut complaints,
    } = chronicle;
    let mut counts = Columns::new(["what", "count"]);
    for (name, count) in [
        ("asked", tally.asked),
        ("answered", tally.answered),
        ("moves", tally.moves),
        ("forbidden, as they should be", tally.forbidden),
        ("overloaded", tally.overloaded),
        ("unprepared", tally.unprepared),
        ("cut off by an end", tally.cut_off),
        ("not let in, by an end", tally.refused),
        ("sockets lost and connections resumed", tally.resumed),
        ("of these before the search was over", tally.resumed_early),
        ("requests lost with a socket and sent again", tally.sent_again),
        ("settings read again", reloads),
        ("other certificates", certificates),
        ("clients expelled", expulsions),
        ("most memory in KiB", most_kib),
        ("standstills of the machine", standstills),
    ] {
        counts.row([name.to_owned(), grouped(count)]);
    }
    complaints.extend(tally.complaints);
    if tally.moves == 0 {
        complaints.push("nobody got a move".to_owned());
    }
    if tally.resumed_early == 0 {
        complaints.push("nobody came back to a search".to_owned());
    }
    let levels: Vec<_> = levels
        .into_iter()
        .map(|Rest { life, age, level }| {
            (vec![life.to_string(), format!("{:.1}", age.as_secs_f64() / 60.0)], level)
        })
        .collect();
    let levels = Level::history(&["life", "minutes"], &levels);
    let clients: usize = CLIENTS.iter().map(|(_, count)| count).sum();
    let heading = format!(
        "{minutes} minutes of {clients} clients: {lives} lives of the daemon, {restarts} restarted, {kills} killed"
    );
    Ok(LoadReport { heading, counts, levels, complaints })
}

/// One life of the daemon after the other until the end of the day.
fn lives(house: &mut House, weather: &Weather, day: Duration, seed: u64) -> Outcome<Chronicle> {
    let mut random = SplitMix64::new(seed);
    let mut chronicle = Chronicle::default();
    let end = Instant::now() + day;
    while chronicle.lives == 0 || Instant::now() < end {
        chronicle.lives += 1;
        let mut server = house.start()?;
        let (began, number) = (Instant::now(), chronicle.lives);
        let mut complaints = Vec::new();
        life::storm(&server, weather, WARM_UP, &mut chronicle.most_kib);
        life::calm(weather);
        let mut before = Level::at_rest(&server)?;
        let rest = |level: &Level| Rest { life: number, age: began.elapsed(), level: level.clone() };
        let (calms, length) = if number == 1 {
            chronicle.levels.push(rest(&before));
            (CALMS, day / 2)
        } else {
            let left = end.saturating_duration_since(Instant::now());
            (1, Duration::from_secs(60 + random.below(120) as u64).min(left))
        };
        for calm in 1..=calms {
            weather.is_calm.store(false, Ordering::SeqCst);
            let until = began + length * calm / calms;
            while Instant::now() < until {
                life::watch(&server, PAUSE, &mut chronicle.most_kib);
                let since = weather.now();
                let changed = house.change(&server, &mut random, &mut chronicle);
                let error = changed.err().filter(|_| !weather.excuses(since, true));
                complaints.extend(error.map(|error| error.to_string()));
            }
            let since = weather.now();
            life::calm(weather);
            let level = Level::settled(&server, &before)?;
            let minutes = began.elapsed().as_secs_f64() / 60.0;
            if !weather.excuses(since, true) {
                let leaks = level.leaks(&before).into_iter();
                complaints.extend(leaks.map(|leak| format!("minute {minutes:.1}: {leak}")));
            }
            chronicle.levels.push(rest(&level));
            // What the first clients of all kinds leave behind for good.
            if calm <= calms / 4 {
                before = level;
            }
        }
        let rest = Duration::from_millis(500 + random.below(2500) as u64);
        life::storm(&server, weather, rest, &mut chronicle.most_kib);
        if let Some(status) = server.wait_exit(Instant::now())? {
            complaints.push(format!("the daemon ended by itself, {status}"));
        } else if random.below(3) > 0 {
            chronicle.restarts += 1;
            let limit = Duration::from_millis(DRAIN_MS) + SHUTDOWN;
            let standstills = weather.standstills();
            let complaint = life::end(server, weather, limit)?;
            complaints.extend(complaint.filter(|_| weather.standstills() == standstills));
        } else {
            chronicle.kills += 1;
            life::kill(server, weather)?;
        }
        chronicle.complaints.extend(complaints.into_iter().map(|what| format!("life {number}: {what}")));
    }
    Ok(chronicle)
}

impl House {
    fn build(folder: &Path, seed: u64) -> Outcome<Self> {
        let mut random = SplitMix64::new(seed ^ 0xda);
        let mut clients = Vec::new();
        let roles = CLIENTS.iter().flat_map(|(role, count)| std::iter::repeat_n(*role, *count));
        for (index, role) in roles.enumerate() {
            clients.push((format!("{role}-{index}"), role));
        }
        clients.push((GUEST.to_owned(), Role::Play));
        let clients = clients.into_iter().map(|(name, role)| {
            let bytes: Vec<u8> = (0..4).flat_map(|_| random.next().to_le_bytes()).collect();
            (name, role, new_token(&bytes.try_into().expect("32 bytes")))
        });
        let house = Self {
            folder: folder.to_owned(),
            clients: clients.collect(),
            tcp: TcpListener::bind("127.0.0.1:0")?,
            unix: UnixListener::bind(folder.join("socket"))?,
            is_foreign: false,
        };
        let path = |name: &str| folder.join(name).display().to_string();
        let mut settings = format!(
            "clients-file = '{}'\nthreads = 2\nhash-mb = 64\ndrain-ms = {DRAIN_MS}\nresume-ms = {KEEP_MS}\nlog-filter = 'error,plyd::settings=error'\n",
            path("clients.toml")
        );
        if cfg!(feature = "service") {
            settings += &format!("tls-cert = '{}'\ntls-key = '{}'\n", path("served.pem"), path("served.key"));
            // Clients trust both authorities.
            let authorities =
                ["authority.pem", "foreign-authority.pem"].map(|name| fs::read(certificate(name)));
            let [ours, foreign] = authorities;
            fs::write(folder.join("authorities.pem"), [ours?, foreign?].concat())?;
            house.serve_certificate("server")?;
        }
        fs::write(folder.join("plyd.toml"), settings)?;
        house.write_clients(None, None)?;
        Ok(house)
    }

    /// The way in for a client with this token: TCP, with TLS where that is built in, or the Unix socket.
    fn door(&self, is_local: bool, token: &str) -> Outcome<Door> {
        let address = if is_local {
            Address::Unix(self.folder.join("socket"))
        } else {
            self.remote("authorities.pem", &self.folder)?
        };
        Ok(Door { address, token: Some(token.to_owned()) })
    }

    /// The address over TCP, for clients that trust the authorities in that file.
    fn remote(&self, authorities: &str, folder: &Path) -> Outcome<Address> {
        let address: SocketAddr = self.tcp.local_addr()?;
        let text = if cfg!(feature = "service") {
            format!("tls={address}?ca={}", folder.join(authorities).display())
        } else {
            format!("tcp={address}")
        };
        Ok(Address::read(&text)?)
    }

    /// Starts a daemon on the sockets, and waits until it answers.
    fn start(&self) -> Outcome<Server> {
        let mut serve = Program::new("sh");
        serve.args(["-c", HAND_OVER, PLYD]).arg(self.folder.join("plyd.toml"));
        let (tcp, unix): (OwnedFd, OwnedFd) = (self.tcp.try_clone()?.into(), self.unix.try_clone()?.into());
        let operator = self.clients.iter().find(|(_, role, _)| *role == Role::Operate);
        let (_, _, token) = operator.ok_or("nobody operates")?;
        Server::activated(serve, Stdio::from(tcp), Stdio::from(unix), self.door(true, token)?)
    }

    /// Writes the list of clients: all, or without one; with another limit for one of them.
    fn write_clients(&self, without: Option<&str>, changed: Option<(usize, usize)>) -> Outcome<()> {
        let mut text = String::new();
        for (index, (name, role, token)) in self.clients.iter().enumerate() {
            if Some(name.as_str()) == without {
                continue;
            }
            let searches =
                changed.filter(|(changed, _)| *changed == index).map_or(4, |(_, searches)| searches);
            let (token, role) = (TokenHash::of(token), *role);
            text += &format!("[{name}]\ntoken = \"{token}\"\nrole = \"{role}\"\nsearches = {searches}\n");
        }
        replace(&self.folder.join("clients.toml"), text.as_bytes())
    }

    fn serve_certificate(&self, name: &str) -> Outcome<()> {
        for end in ["key", "pem"] {
            let bytes = fs::read(certificate(&format!("{name}.{end}")))?;
            replace(&self.folder.join(format!("served.{end}")), &bytes)?;
        }
        Ok(())
    }

    /// Changes something.
    fn change(&mut self, server: &Server, random: &mut SplitMix64, chronicle: &mut Chronicle) -> Outcome<()> {
        match random.below(4) {
            0 => self.expel_guest(server).map(|()| chronicle.expulsions += 1),
            1 if cfg!(feature = "service") => {
                self.change_certificate(server).map(|()| chronicle.certificates += 1)
            }
            _ => self.change_rights(server, random).map(|()| chronicle.reloads += 1),
        }
    }

    /// Gives a client other limits.
    fn change_rights(&self, server: &Server, random: &mut SplitMix64) -> Outcome<()> {
        let changed = (random.below(self.clients.len()), 1 + random.below(4));
        self.write_clients(None, Some(changed))?;
        server.signal(Signal::HUP)
    }

    /// Takes the guest off the list, who is then cut off, and puts it back.
    fn expel_guest(&self, server: &Server) -> Outcome<()> {
        let (_, _, token) = self.clients.last().ok_or("no guest")?;
        let door = self.door(false, token)?;
        let mut guest = until("the guest is let in", || door.enter().ok())?;
        self.write_clients(Some(GUEST), None)?;
        server.signal(Signal::HUP)?;
        let is_farewell = |message: &Message| matches!(message, Message::Error(error) if error.code == ErrorCode::AuthFailed && error.fatal);
        let farewell = guest.client.wait_for(Instant::now() + TIMEOUT, is_farewell);
        farewell.map_err(|error| format!("the guest is not sent away: {error}"))?;
        if door.enter().is_ok() {
            return Err("the guest is let in once it is off the list".into());
        }
        self.write_clients(None, None)?;
        server.signal(Signal::HUP)?;
        until("the guest is let in again", || door.enter().ok()).map(drop)
    }

    /// Serves the other certificate; whoever is connected stays.
    fn change_certificate(&mut self, server: &Server) -> Outcome<()> {
        let (_, _, token) = self.clients.last().ok_or("no guest")?;
        let mut peers = [self.door(false, token)?.enter()?, self.door(true, token)?.enter()?];
        self.is_foreign = !self.is_foreign;
        let (name, authority) =
            if self.is_foreign { ("foreign", "foreign-authority.pem") } else { ("server", "authority.pem") };
        self.serve_certificate(name)?;
        server.signal(Signal::HUP)?;
        // Only the new one is trusted.
        let door = Door { address: self.remote(authority, &certificate(""))?, token: Some(token.clone()) };
        until("the new certificate is served", || door.enter().ok())?;
        peers.iter_mut().try_for_each(|peer| peer.ask(Command::Ping(Ping::default())).map(drop))
    }
}

/// A file of the certificates of the tests.
fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(name)
}

/// Puts other bytes into a file at once.
fn replace(path: &Path, bytes: &[u8]) -> Outcome<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    // There are secrets among them.
    fs::set_permissions(&new, Permissions::from_mode(0o600))?;
    Ok(fs::rename(new, path)?)
}

/// Waits until something is there.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Outcome<T> {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(format!("not within {} s: {what}", TIMEOUT.as_secs()).into());
        }
        thread::sleep(Duration::from_millis(20));
    }
}
