//! The bot between its ladder and its games: one thread that waits for all of them.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plyd_protocol::{Effect, Offer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::answer::{Object, error, result};
use super::args::MOST_GAMES;
use super::backoff::Backoff;
use super::event::{Event, without};
use super::lane::{Lane, News};
use super::link::{Gone, Link};
use super::{FAREWELL, LOOK};
use crate::cli::failure::Failure;
use crate::cli::interrupt::Halt;
use crate::client::Address;

/// How long the ladder may take to say which games go on when the bot leaves. Then it is asked again.
const LAST_OFFER: Duration = Duration::from_secs(5);
/// The most games that a ladder may say go on: more than a bot can have offered.
const MOST_LANES: usize = 2 * MOST_GAMES as usize;
/// The most lines of one peer that are taken before the others have their turn.
const TURN: usize = 64;

/// The bot between its ladder and its games.
pub(super) struct Connector<'o, W> {
    pub(super) address: Address,
    pub(super) offer: Offer,
    /// As many as games are offered, and more while the ladder has further games of the bot.
    pub(super) lanes: Vec<Lane>,
    /// Those that are not needed any more, whose input has ended, and until when they may go on.
    pub(super) retired: Vec<(Lane, Instant)>,
    pub(super) halt: Halt,
    /// When the ladder took the bot, while it has it.
    pub(super) joined: Option<Instant>,
    pub(super) record: Option<File>,
    pub(super) json: bool,
    pub(super) out: &'o mut W,
}

impl<W: Write> Connector<'_, W> {
    /// Dials the ladder again and again, until the bot leaves or is refused.
    pub(super) fn run(&mut self) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut backoff = Backoff::new(now.as_nanos() as u64 ^ u64::from(std::process::id()));
        loop {
            let (why, least) = match self.visit() {
                Ok(()) => break,
                Err(Gone::Broken(why, least)) => (why, least),
                Err(Gone::Refused(why)) => {
                    let why = without(&why, &self.offer.token);
                    return Err(Failure::Failed(format!("{}: {why}", self.address)));
                }
            };
            let lasted = self.joined.take().map(|joined| joined.elapsed()).unwrap_or_default();
            self.lanes.iter_mut().for_each(Lane::abandon);
            let pause = backoff.pause(lasted, least);
            let end = Instant::now() + pause;
            if !self.has_left() {
                self.report(&Event::Lost { why: &why, again_ms: pause.as_millis() as u64 });
            }
            while Instant::now() < end && !self.has_left() {
                // What nobody waits for any more is read all the same, so that no process stands still.
                let is_behind = self.hear(|_| Ok(())).unwrap_or_default();
                if !is_behind {
                    self.wait(None, end.min(Instant::now() + LOOK));
                }
            }
            if self.has_left() {
                break;
            }
        }
        self.report(&Event::Left);
        Ok(())
    }

    /// Serves the ladder as long as the connection lasts, or until the bot has left.
    fn visit(&mut self) -> Result<(), Gone> {
        let mut offered = self.offer.clone();
        if self.is_leaving() {
            offered.concurrency = 0;
        }
        let (mut link, taken) = Link::open(&self.address, &offered, || self.has_left())?;
        self.joined = Some(Instant::now());
        self.report(&Event::Joined { bot: &taken.bot, concurrency: taken.concurrency, games: &taken.games });
        for lane in &mut self.lanes {
            if lane.game.as_ref().is_some_and(|game| !taken.games.contains(game)) {
                lane.play(None);
            }
        }
        self.occupy(&taken.games);
        // Once it leaves: until when the ladder may say which games go on.
        let mut until = Instant::now();
        loop {
            if self.is_leaving() {
                let has_asked = offered.concurrency == 0;
                let is_late = Instant::now() >= until;
                if has_asked && self.is_idle() && (is_late || link.is_answered()) {
                    return Ok(());
                }
                // A ladder that refused that offer, or lost it, would give the bot further games without end.
                if !has_asked || is_late && !link.is_answered() {
                    offered.concurrency = 0;
                    link.offer(&offered)?;
                    until = Instant::now() + LAST_OFFER;
                }
            }
            let mut is_behind = false;
            for lines in 1..=TURN {
                let Some(line) = link.next()? else { break };
                self.obey(&mut link, line)?;
                is_behind = lines == TURN;
            }
            is_behind |= self.hear(|line| link.send(&line))?;
            if !is_behind {
                self.wait(Some(&link), Instant::now() + LOOK);
            }
        }
    }

    /// Gives what the processes wrote away; whether there may be more.
    fn hear(&mut self, mut give: impl FnMut(Object) -> Result<(), Gone>) -> Result<bool, Gone> {
        self.retired.retain_mut(|(lane, until)| !lane.has_ended() && Instant::now() < *until);
        let (mut is_behind, mut news) = (false, Vec::new());
        for lane in &mut self.lanes {
            for lines in 1..=TURN {
                let Some(line) = lane.next() else { break };
                give(line)?;
                is_behind |= lines == TURN;
            }
            is_behind |= lane.is_behind;
            let name = lane.game.clone().unwrap_or_default();
            news.extend(lane.news.drain(..).map(|news| (name.clone(), news)));
        }
        for (name, mut news) in news {
            if let News::Failed(why) = &mut news
                && self.wants_legal()
            {
                why.push_str("; if it needs `x_legal`, the legal moves, give --legal");
            }
            self.report(&match &news {
                News::Failed(why) => Event::Failed { name: &name, why },
                News::Stray(line) => Event::Stray { name: &name, line },
            });
        }
        Ok(is_behind)
    }

    /// Whether the bot may fail for want of the legal moves: it is one of the least, and gets none.
    fn wants_legal(&self) -> bool {
        !self.offer.legal && self.lanes.iter().all(|lane| !lane.has_sessions())
    }

    /// Keeps places for games that go on, however many: a bot that comes back with a smaller limit has begun
    /// them under another one. Lets those lanes go that neither a game nor the limit needs.
    fn occupy(&mut self, games: &[String]) {
        for game in games {
            if self.lanes.iter().any(|lane| lane.game.as_ref() == Some(game)) {
                continue;
            }
            let idle = self.lanes.iter().position(|lane| lane.game.is_none());
            let place = idle.or_else(|| {
                let more = self.lanes.first().filter(|_| self.lanes.len() < MOST_LANES)?.another();
                self.lanes.push(more);
                Some(self.lanes.len() - 1)
            });
            if let Some(place) = place {
                self.lanes[place].play(Some(game.clone()));
            }
        }
        while self.lanes.len() > self.offer.concurrency as usize
            && let Some(idle) = self.lanes.iter().rposition(|lane| lane.game.is_none())
        {
            let mut lane = self.lanes.remove(idle);
            lane.finish();
            self.retired.push((lane, Instant::now() + FAREWELL));
        }
    }

    /// Whether there is no reason to dial again.
    fn has_left(&self) -> bool {
        self.is_leaving() && self.is_idle()
    }

    /// Whether the bot shall leave after its games.
    fn is_leaving(&self) -> bool {
        self.halt.flag().load(Ordering::Relaxed)
    }

    /// Whether it plays no game.
    fn is_idle(&self) -> bool {
        self.lanes.iter().all(|lane| lane.game.is_none())
    }

    /// Waits until somebody wrote something.
    fn wait(&self, link: Option<&Link>, until: Instant) {
        let inputs = self.lanes.iter().filter_map(Lane::input).chain(link.map(Link::input));
        let inputs: Vec<_> = inputs.collect();
        let mut polled: Vec<_> = inputs.iter().map(|input| PollFd::new(input, PollFlags::IN)).collect();
        let left = until.saturating_duration_since(Instant::now());
        // There are systems that do not wait for nothing.
        if polled.is_empty() {
            return thread::sleep(left);
        }
        let _interrupted = poll(&mut polled, Timespec::try_from(left).ok().as_ref());
    }

    /// Does what a line of the ladder asks for; a notice, and an answer to our own offer, ask for nothing.
    fn obey(&mut self, link: &mut Link, line: Object) -> Result<(), Gone> {
        let text = |field: &str| line.get(field).and_then(Value::as_str).map(str::to_owned);
        let Some(cmd) = text("cmd") else {
            match text("type").as_deref() {
                Some("notice") => {
                    self.report(&Event::Notice { message: &text("message").unwrap_or_default() })
                }
                Some("result") => {
                    let games = line.get("games").cloned().unwrap_or_default();
                    self.occupy(&serde_json::from_value::<Vec<String>>(games).unwrap_or_default());
                }
                _ => {}
            }
            return Ok(());
        };
        let Some(id) = text("id") else { return Ok(()) };
        let answer = match cmd.as_str() {
            "ping" => {
                let mut pong = result(&id, "ping");
                pong.extend(line.get("echo").map(|echo| ("echo".to_owned(), echo.clone())));
                Some(pong)
            }
            "go" => self.go(line, &id, link.takes_more()),
            "stop" if line.get("all") == Some(&Value::Bool(true)) => {
                let stopped = self.lanes.iter_mut().filter_map(|lane| lane.stop(line.get("discard")));
                let targets: Vec<String> = stopped.collect();
                let effect = if targets.is_empty() { Effect::AlreadyFinished } else { Effect::Stopping };
                let mut stopping = result(&id, "stop");
                stopping.insert("effect".into(), json!(effect));
                stopping.insert("targets".into(), json!(targets));
                Some(stopping)
            }
            "stop" | "update" => {
                let target = text("target").unwrap_or_default();
                match self.lanes.iter_mut().find(|lane| lane.searches(&target)) {
                    Some(lane) => {
                        lane.pass(line, &id);
                        None
                    }
                    None => {
                        let mut nothing = result(&id, &cmd);
                        nothing.insert("effect".into(), json!(Effect::Unknown));
                        if cmd == "stop" {
                            nothing.insert("targets".into(), json!([]));
                        }
                        Some(nothing)
                    }
                }
            }
            "over" => {
                self.over(&line);
                Some(result(&id, "over"))
            }
            _ => Some(error(&id, "unknown_cmd", "a bot answers `go`, `stop`, `update`, `ping` and `over`")),
        };
        answer.map_or(Ok(()), |answer| link.send(&answer))
    }

    /// Asks the process that plays the game for a move, or refuses a game too many: each further one once the
    /// bot leaves.
    fn go(&mut self, go: Object, id: &str, takes_more: bool) -> Option<Object> {
        let name = go.get("x_game").and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = self.lanes.iter().position(|lane| lane.game.as_ref() == Some(&name));
        let free = || self.lanes.iter().position(|lane| lane.game.is_none() && takes_more);
        let Some(place) = place.or_else(free) else {
            let message = match takes_more {
                true if self.lanes.len() == 1 => "a game is played already, and one was offered".to_owned(),
                true => format!("{} games are played already, as many as were offered", self.lanes.len()),
                false => "the bot leaves, and begins no further game".to_owned(),
            };
            return Some(error(id, "too_many_sessions", &message));
        };
        if self.lanes[place].game.is_none() {
            self.lanes[place].play(Some(name.clone()));
        }
        if !self.lanes[place].has_begun {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            let preset = text(go.get("rules").and_then(|rules| rules.get("preset")));
            self.report(&Event::Begun { name: &name, game: &text(go.get("game")), preset: &preset });
            self.lanes[place].has_begun = true;
        }
        self.lanes[place].go(go, id);
        None
    }

    /// A game has ended; one that follows it takes its place at once, also if the bot is leaving.
    fn over(&mut self, over: &Object) {
        let text = |field| over.get(field).and_then(Value::as_str).unwrap_or_default();
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.game.as_deref() == Some(text("x_game"))) {
            lane.play(None);
        }
        if let (Some(file), Some(record)) = (&mut self.record, over.get("record"))
            && let Err(error) = writeln!(file, "{record}")
        {
            let game = without(text("x_game"), &self.offer.token);
            tracing::warn!(%error, game, "the record of a game cannot be written");
        }
        self.report(&Event::Over { name: text("x_game"), outcome: text("outcome"), why: text("message") });
        let next = over.get("next").and_then(Value::as_str).map(str::to_owned);
        self.occupy(next.as_slice());
    }

    /// Prints what happened. That nobody reads it any more ends no game.
    fn report(&mut self, event: &Event<'_>) {
        let _nobody_reads = event.write(self.json, &self.offer.token, self.out);
    }
}
