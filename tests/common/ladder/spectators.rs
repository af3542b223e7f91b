//! Spectators: each does what the pages' scripts make a browser do, and counts what comes and what does not.
//! One of ten keeps the list of all games up to date, the others watch one game after the other to its end.

use std::collections::{BTreeMap, HashMap};
use std::io::Result;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::answers::Answers;
use super::browser::Browser;
use crate::common::Random;

/// How many spectators watch a game for each that watches the list.
const WATCH_A_GAME: usize = 9;
/// One of so many looks at the tables before it chooses the next game.
const LOOKS_AT_TABLES: usize = 5;
/// The list is got anew so long after something happened, as `games.js` does it.
const RENEWAL: Duration = Duration::from_secs(2);

/// The spectators, on a thread of their own.
pub(crate) struct Spectators {
    thread: JoinHandle<Watched>,
    phase: watch::Sender<Phase>,
    games: Arc<AtomicU64>,
}

/// What spectators do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
enum Phase {
    Watch,
    /// Watch, and take times.
    Measure,
    Leave,
}

/// What spectators saw.
#[derive(Default, Debug)]
pub(crate) struct Watched {
    /// The events that came.
    pub(crate) events: u64,
    /// Of a game: how often events were missed and the whole game came instead.
    pub(crate) anew: u64,
    /// The plies that never came to those who watch a game.
    pub(crate) lost: u64,
    /// The plies that those who watch the list missed.
    pub(crate) missed: u64,
    /// The pages and answers of the API.
    pub(crate) pages: u64,
    /// Requests that were refused, by status, and whatever else went wrong.
    pub(crate) refused: BTreeMap<String, u64>,
    /// From a bot's answer to its board at a spectator, while times were taken.
    pub(crate) delays: Vec<Duration>,
    /// How long pages took, while times were taken.
    pub(crate) waits: Vec<Duration>,
}

impl Watched {
    fn extend(&mut self, other: Self) {
        self.events += other.events;
        self.anew += other.anew;
        self.lost += other.lost;
        self.missed += other.missed;
        self.pages += other.pages;
        for (why, count) in other.refused {
            *self.refused.entry(why).or_default() += count;
        }
        self.delays.extend(other.delays);
        self.waits.extend(other.waits);
    }
}

impl Spectators {
    /// Lets so many watch, through a proxy in front of the ladder that names each of them.
    pub(crate) fn start(address: SocketAddr, count: usize, answers: &Answers) -> Self {
        let (phase, phases) = watch::channel(Phase::Watch);
        let answers = answers.clone();
        let games = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&games);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let mut tasks = JoinSet::new();
                for number in 0..count {
                    let spectator = Spectator {
                        address,
                        // The first of a network that nobody else has.
                        of: Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + number as u32).into(),
                        number,
                        answers: answers.clone(),
                        phase: phases.clone(),
                        games: Arc::clone(&counted),
                        random: Random::new(number as u64),
                        seen: Watched::default(),
                    };
                    tasks.spawn(spectator.watch(number % (WATCH_A_GAME + 1) == WATCH_A_GAME));
                }
                let mut watched = Watched::default();
                while let Some(one) = tasks.join_next().await {
                    watched.extend(one.expect("no spectator panics"));
                }
                watched
            })
        });
        Self { thread, phase, games }
    }

    /// How many games were watched to their ends so far.
    pub(crate) fn games(&self) -> u64 {
        self.games.load(Ordering::Relaxed)
    }

    /// Takes times from now on.
    pub(crate) fn measure(&self) {
        self.phase.send_replace(Phase::Measure);
    }

    /// Lets them leave.
    pub(crate) fn leave(self) -> Watched {
        self.phase.send_replace(Phase::Leave);
        self.thread.join().expect("no spectator panics")
    }
}

struct Spectator {
    address: SocketAddr,
    of: IpAddr,
    number: usize,
    answers: Answers,
    phase: watch::Receiver<Phase>,
    games: Arc<AtomicU64>,
    random: Random,
    seen: Watched,
}

impl Spectator {
    /// Watches until all shall leave.
    async fn watch(mut self, the_list: bool) -> Watched {
        let mut phase = self.phase.clone();
        // People do not come at the same instant.
        sleep(Duration::from_millis(3 * self.number as u64)).await;
        let watch = async {
            loop {
                let ended = if the_list { self.watch_list().await } else { self.watch_games().await };
                if let Err(error) = ended {
                    self.refuse(format!("{:?}", error.kind()));
                }
                sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            () = watch => {}
            _ = phase.wait_for(|phase| *phase == Phase::Leave) => {}
        }
        self.seen
    }

    fn refuse(&mut self, why: String) {
        *self.seen.refused.entry(why).or_default() += 1;
    }

    fn is_measured(&self) -> bool {
        *self.phase.borrow() == Phase::Measure
    }

    /// Gets a page; none if it is refused.
    async fn get(&mut self, browser: &mut Browser, path: &str) -> Result<Option<String>> {
        let asked = Instant::now();
        let (status, text) = browser.get(path).await?;
        if status != 200 {
            self.refuse(status.to_string());
            return Ok(None);
        }
        self.seen.pages += 1;
        if self.is_measured() {
            self.seen.waits.push(asked.elapsed());
        }
        Ok(Some(text))
    }

    /// Watches games, one after the other.
    async fn watch_games(&mut self) -> Result<()> {
        let mut browser = Browser::open(self.address, self.of).await?;
        loop {
            if self.random.below(LOOKS_AT_TABLES) == 0 {
                self.get(&mut browser, "/").await?;
            }
            let list = self.get(&mut browser, "/games").await?.unwrap_or_default();
            let playing =
                list.split("id=\"playing\"").nth(1).and_then(|rest| rest.split("</section>").next());
            let games: Vec<u64> = playing
                .into_iter()
                .flat_map(|section| section.split("data-game=\"").skip(1))
                .filter_map(|row| row.split('"').next()?.parse().ok())
                .collect();
            if !games.is_empty() {
                let game = *self.random.pick(&games);
                self.watch_game(&mut browser, game).await?;
            }
            // Nobody chooses the next game at once.
            sleep(Duration::from_millis(1000 + self.random.below(2000) as u64)).await;
        }
    }

    /// Watches a game as its page does.
    async fn watch_game(&mut self, browser: &mut Browser, game: u64) -> Result<()> {
        self.get(browser, &format!("/game/{game}")).await?;
        self.get(browser, &format!("/api/v1/games/{game}/boards?from=0&limit=50")).await?;
        let mut feed = Feed::open(browser, &format!("/api/v1/games/{game}/live")).await?;
        match feed.status {
            200 => {}
            // It was over meanwhile.
            204 => return Ok(()),
            status => {
                self.refuse(status.to_string());
                return Ok(());
            }
        }
        // How many plies are known, once the game has come.
        let mut known: Option<usize> = None;
        let mut is_over = false;
        while let Some((name, data)) = feed.next().await? {
            let at = Instant::now();
            self.seen.events += 1;
            let count = data["moves"].as_array().map_or(0, Vec::len);
            match name.as_str() {
                "game" => {
                    self.seen.anew += u64::from(known.is_some());
                    known = Some(count);
                }
                "move" => {
                    let first = data["first"].as_u64().expect("the first ply") as usize;
                    let before = known.unwrap_or(0);
                    self.seen.lost += first.saturating_sub(before) as u64;
                    known = Some(before.max(first + count));
                    if self.is_measured()
                        && let Some(answered) = self.answers.of(game, first)
                    {
                        self.seen.delays.push(at.duration_since(answered));
                    }
                }
                _ => is_over = name == "over",
            }
        }
        match is_over {
            true => drop(self.games.fetch_add(1, Ordering::Relaxed)),
            false => self.refuse("cut off".to_owned()),
        }
        self.get(browser, &format!("/api/v1/games/{game}")).await?;
        Ok(())
    }

    /// Keeps the list of all games up to date.
    async fn watch_list(&mut self) -> Result<()> {
        let mut browser = Browser::open(self.address, self.of).await?;
        self.get(&mut browser, "/games").await?;
        let mut other = Browser::open(self.address, self.of).await?;
        let mut feed = Feed::open(&mut other, "/api/v1/live").await?;
        if feed.status != 200 {
            self.refuse(feed.status.to_string());
            return Ok(());
        }
        let mut known: HashMap<u64, usize> = HashMap::new();
        let mut renewal: Option<tokio::time::Instant> = None;
        loop {
            let due = renewal.unwrap_or_else(|| tokio::time::Instant::now() + RENEWAL);
            let event = tokio::select! {
                event = feed.next() => event?,
                () = sleep_until(due), if renewal.is_some() => {
                    renewal = None;
                    self.get(&mut browser, "/games").await?;
                    continue;
                }
            };
            let Some((name, data)) = event else { return Ok(()) };
            self.seen.events += 1;
            let game = data["game"].as_u64().expect("a game's number");
            match name.as_str() {
                "move" => {
                    let count = data["moves"].as_array().map_or(0, Vec::len);
                    let first = data["first"].as_u64().expect("the first ply") as usize;
                    let before = known.insert(game, first + count);
                    self.seen.missed += before.map_or(0, |before| first.saturating_sub(before) as u64);
                }
                _ => {
                    known.remove(&game);
                    renewal.get_or_insert_with(|| tokio::time::Instant::now() + RENEWAL);
                }
            }
        }
    }
}

/// Server-sent events.
struct Feed<'b> {
    browser: &'b mut Browser,
    status: u16,
    unread: String,
}

impl<'b> Feed<'b> {
    async fn open(browser: &'b mut Browser, path: &str) -> Result<Self> {
        let status = browser.ask(path).await?;
        Ok(Self { browser, status, unread: String::new() })
    }

    /// The next event with its data; none at the end.
    async fn next(&mut self) -> Result<Option<(String, Value)>> {
        loop {
            if let Some(end) = self.unread.find("\n\n") {
                let event: String = self.unread.drain(..end + 2).collect();
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                // A comment has neither.
                if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                    return Ok(Some((name.to_owned(), serde_json::from_str(data)?)));
                }
                continue;
            }
            let Some(piece) = self.browser.piece().await? else { return Ok(None) };
            self.unread.push_str(str::from_utf8(&piece).expect("events are UTF-8"));
        }
    }
}
