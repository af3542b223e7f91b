//! `plyd connect`: lets a bot compete on a ladder, unattended.
//!
//! The bot's processes and their games outlive connections to the ladder, which come and go. One thread waits
//! for all of them at once; nothing that one of them does or leaves undone holds the others up for longer
//! than a write may take.

mod backoff;
mod event;
mod lane;
mod link;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plyd_protocol::{self as wire, Clock, Offer, OfferedGame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::failure::Failure;
use super::interrupt::Halt;
use super::token_file::read_token;
use super::{clock, own, parse, reaper};
use crate::arena::GameClock;
use crate::client::{Address, Program};
use backoff::Backoff;
use event::{Event, without};
use lane::{Bot, Lane, Object, error};
use link::{Gone, Link, is_safe};

/// The most games at once.
const MOST_GAMES: i64 = 64;
/// How long a bot may take to start before it is offered all the same.
const START: Duration = Duration::from_secs(5);
/// How often the loop looks for an interrupt.
const LOOK: Duration = Duration::from_millis(100);
/// How long the ladder may take to say which games go on when the bot leaves.
const LAST_OFFER: Duration = Duration::from_secs(5);
/// How long the processes may take to end once their input has.
const FAREWELL: Duration = Duration::from_secs(1);
/// The most lines of one peer that are taken before the others have their turn.
const TURN: usize = 64;
/// What an interrupt does.
const LEAVING: &str =
    "no further game begins; those in progress are played to their end. Interrupt again to abandon them";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd connect wss://ladder.example --token-file bot.token
                                                   plyd plays whatever the ladder has
  plyd connect tls://ladder.example:7127 --token-file bot.token --game isolation --concurrency 2
  plyd connect tcp=127.0.0.1:7127 --token-file bot.token --game isolation:7x7 --option level=5
  plyd connect tcp=127.0.0.1:7127 --token-file bot.token --legal -- python3 bot.py
                                                   any program that speaks the protocol on stdin and stdout

The ladder asks for moves, and the bot answers. If the connection breaks it is dialled again, and the games go on. \
SIGTERM or Ctrl-C: no further game begins, and after those in progress it ends; the second ends it at once.

A program of your own needs to answer only `go`; with --legal each `go` holds the legal moves as `x_legal`. One process \
is started for each game that may be played at once.")]
pub(super) struct Args {
    /// The ladder: wss://HOST:PORT, tls://HOST:PORT or unix=PATH; on this machine also ws:// and tcp://
    #[arg(value_name = "URL", value_parser = ladder)]
    ladder: Address,
    /// The bot's token, in a file
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// A game that it plays, with a preset of its rules if it plays that one alone [default: all that the
    /// ladder has]
    #[arg(long = "game", value_name = "GAME[:PRESET]", value_parser = game)]
    games: Vec<OfferedGame>,
    /// A clock that it plays by: tc=5m+3s, time=100ms and the like [default: all]
    #[arg(long = "clock", value_name = "CLOCK", value_parser = start_clock)]
    clocks: Vec<Clock>,
    /// The most games at once, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_GAMES))]
    concurrency: u32,
    /// Get the legal moves with each `go`, as `x_legal`
    #[arg(long)]
    legal: bool,
    /// An option of the bot, such as level=5
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse::assignment)]
    options: Vec<(String, String)>,
    /// Append each game that ends to this file, as a record for `plyd show`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Send the token unencrypted to another machine
    #[arg(long)]
    insecure: bool,
    /// Print what happens as lines of JSON
    #[arg(long)]
    json: bool,
    /// The program that plays, and its arguments [default: plyd]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Reads the address of a ladder. A URL without a port has that of HTTPS.
fn ladder(text: &str) -> Result<Address, String> {
    let needs_port = text.split_once("://").is_some_and(|(way, rest)| {
        let place = rest.split(['/', '?']).next().unwrap_or_default();
        way == "wss"
            && !place.is_empty()
            && place.rsplit_once(':').is_none_or(|(_, port)| port.ends_with(']'))
    });
    if !needs_port {
        return Address::read(text);
    }
    let end = text.find("://").map_or(0, |start| start + 3);
    let end = text[end..].find(['/', '?']).map_or(text.len(), |length| end + length);
    Address::read(&format!("{}:443{}", &text[..end], &text[end..]))
}

fn game(text: &str) -> Result<OfferedGame, String> {
    let (game, preset) = text.split_once(':').map_or((text, None), |(game, preset)| (game, Some(preset)));
    if game.is_empty() || preset.is_some_and(str::is_empty) {
        return Err("give a game, and a preset behind a colon, such as isolation:7x7".into());
    }
    Ok(OfferedGame { game: game.into(), presets: preset.map(Into::into).into_iter().collect() })
}

/// Reads a clock as the first `go` of a game has it, without the opponent's.
fn start_clock(text: &str) -> Result<Clock, String> {
    let clock = GameClock::new(clock::read(text)?);
    let unlimited = GameClock::new(crate::arena::TimeControl::Unlimited);
    clock.to_wire(&unlimited).ok_or_else(|| "give a clock".into())
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if !is_safe(&args.ladder) && !args.insecure {
        let message =
            "this would send the token unencrypted to another machine: give wss:// or tls://, or --insecure";
        return Err(Failure::Usage(message.into()));
    }
    let mut offer = offer(args)?;
    let record = args.record.as_ref().map(|path| {
        let opened = File::options().create(true).append(true).open(path);
        opened.map_err(|error| Failure::Usage(format!("--record {}: {error}", path.display())))
    });
    let record = record.transpose()?;
    let bot = Bot { program: program(args)?, reaper: reaper::start()?, options: options(args) };
    let lanes = (0..args.concurrency).map(|_| Lane::start(&bot)).collect::<Result<Vec<_>, _>>();
    let mut lanes = lanes.map_err(|error| Failure::Failed(error.to_string()))?;
    let settled = Instant::now() + START;
    lanes.iter_mut().for_each(|lane| lane.settle(&bot, settled));
    offer.engine = lanes.iter_mut().find_map(|lane| lane.engine.take()).map(|engine| {
        let text = |field| engine.get(field).and_then(Value::as_str).map(str::to_owned);
        wire::Client { name: text("name"), version: text("version") }
    });
    let mut connector = Connector {
        address: args.ladder.clone(),
        lanes,
        bot,
        offer,
        halt: Halt::on_interrupt(LEAVING)?,
        joined: None,
        record,
        json: args.json,
        out,
    };
    let ended = connector.run();
    let end = Instant::now() + FAREWELL;
    connector.lanes.iter_mut().for_each(Lane::finish);
    connector.lanes.into_iter().for_each(|lane| lane.leave(end));
    ended
}

/// What the ladder is offered.
fn offer(args: &Args) -> Result<Offer, Failure> {
    let mut games: Vec<OfferedGame> = Vec::new();
    for given in &args.games {
        match games.iter_mut().find(|game| game.game == given.game) {
            // All presets of a game are more than some.
            Some(game) if game.presets.is_empty() || given.presets.is_empty() => game.presets.clear(),
            Some(game) => game.presets.extend(given.presets.iter().cloned()),
            None => games.push(given.clone()),
        }
    }
    let (name, version) = (Some("plyd connect".to_owned()), Some(env!("CARGO_PKG_VERSION").to_owned()));
    Ok(Offer {
        token: read_token(&args.token_file)?,
        client: Some(wire::Client { name, version }),
        games,
        clocks: args.clocks.clone(),
        concurrency: args.concurrency,
        legal: args.legal,
        ..Offer::new()
    })
}

/// What plays.
fn program(args: &Args) -> Result<Program, Failure> {
    if let Some((path, arguments)) = args.command.split_first() {
        return Ok(Program { path: path.clone(), arguments: arguments.to_vec() });
    }
    let mut plyd = own::server()?;
    // The games at once share the cores.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores / args.concurrency as usize).max(1);
    plyd.arguments.push(format!("--threads={threads}").into());
    Ok(plyd)
}

/// The bot's options.
fn options(args: &Args) -> Object {
    args.options.iter().map(|(name, text)| (name.clone(), json!(parse::setting(text)))).collect()
}

/// The bot between its ladder and its games.
struct Connector<'o, W> {
    address: Address,
    offer: Offer,
    bot: Bot,
    lanes: Vec<Lane>,
    halt: Halt,
    /// When the ladder took the bot, while it has it.
    joined: Option<Instant>,
    record: Option<File>,
    json: bool,
    out: &'o mut W,
}

impl<W: Write> Connector<'_, W> {
    /// Dials the ladder again and again, until the bot leaves or is refused.
    fn run(&mut self) -> Result<(), Failure> {
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
        let mut asked_to_leave = None;
        loop {
            if self.is_leaving() {
                let until = match asked_to_leave {
                    Some(until) => until,
                    None if offered.concurrency == 0 => Instant::now(),
                    None => {
                        offered.concurrency = 0;
                        link.offer(&offered)?;
                        Instant::now() + LAST_OFFER
                    }
                };
                asked_to_leave = Some(until);
                if self.is_idle() && (Instant::now() >= until || link.is_answered()) {
                    return Ok(());
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
        let (mut is_behind, mut faults) = (false, Vec::new());
        for lane in &mut self.lanes {
            for lines in 1..=TURN {
                let Some(line) = lane.next(&self.bot) else { break };
                give(line)?;
                is_behind |= lines == TURN;
            }
            is_behind |= lane.is_behind;
            faults.extend(lane.fault.take().map(|why| (lane.game.clone().unwrap_or_default(), why)));
        }
        for (name, why) in faults {
            self.report(&Event::Failed { name: &name, why: &why });
        }
        Ok(is_behind)
    }

    /// Keeps places for games that go on.
    fn occupy(&mut self, games: &[String]) {
        for game in games {
            let is_played = |lane: &&mut Lane| lane.game.as_ref() == Some(game);
            if self.lanes.iter_mut().find(is_played).is_none()
                && let Some(lane) = self.lanes.iter_mut().find(|lane| lane.game.is_none())
            {
                lane.play(Some(game.clone()));
            }
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
            "go" => self.go(line, &id),
            "stop" | "update" => {
                let target = text("target").unwrap_or_default();
                match self.lanes.iter_mut().find(|lane| lane.searches(&target)) {
                    Some(lane) => {
                        lane.pass(line, &id);
                        None
                    }
                    None => {
                        let mut nothing = result(&id, &cmd);
                        nothing.insert("effect".into(), json!("unknown_target"));
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

    /// Asks the process that plays the game for a move, or refuses a game too many.
    fn go(&mut self, go: Object, id: &str) -> Option<Object> {
        let name = go.get("x_game").and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = self.lanes.iter().position(|lane| lane.game.as_ref() == Some(&name));
        let Some(place) = place.or_else(|| self.lanes.iter().position(|lane| lane.game.is_none())) else {
            let message = format!("{} games are played already, as many as were offered", self.lanes.len());
            return Some(error(id, "too_many_sessions", &message));
        };
        if self.lanes[place].game.is_none() {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            let preset = text(go.get("rules").and_then(|rules| rules.get("preset")));
            self.report(&Event::Begun { name: &name, game: &text(go.get("game")), preset: &preset });
            self.lanes[place].play(Some(name));
        }
        self.lanes[place].go(&self.bot, go, id);
        None
    }

    /// A game has ended.
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
    }

    /// Prints what happened. That nobody reads it any more ends no game.
    fn report(&mut self, event: &Event<'_>) {
        let _nobody_reads = event.write(self.json, &self.offer.token, self.out);
    }
}

/// A result without more in it.
fn result(id: &str, of: &str) -> Object {
    [("type", "result"), ("id", id), ("of", of)]
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_at_the_port_of_https_needs_no_port() {
        for (text, expected) in [
            ("wss://ladder.example", "wss=ladder.example:443"),
            ("wss://ladder.example/ws", "wss=ladder.example:443"),
            ("wss://[2001:db8::1]", "wss=[2001:db8::1]:443"),
            ("wss://ladder.example?ca=/a:1", "wss=ladder.example:443?ca=/a:1"),
            ("wss://ladder.example:8443/ws", "wss=ladder.example:8443"),
            ("tls://ladder.example:7127", "tls=ladder.example:7127"),
        ] {
            assert_eq!(ladder(text).unwrap().to_string(), expected, "{text}");
        }
        for text in ["wss://", "tls://ladder.example", "ladder.example", "https://ladder.example"] {
            assert!(ladder(text).is_err(), "{text}");
        }
    }

    #[test]
    fn games_are_offered_with_all_presets_that_are_named() {
        for (given, expected) in [
            (&["isolation"][..], &[("isolation", &[][..])][..]),
            (&["isolation:7x7", "ijk", "isolation:5x5"], &[("isolation", &["7x7", "5x5"]), ("ijk", &[])]),
            (&["isolation:7x7", "isolation"], &[("isolation", &[])]),
        ] {
            let folder = std::env::temp_dir().join(format!("plyd-connect-{}", std::process::id()));
            std::fs::write(&folder, "token\n").unwrap();
            let args = Args {
                ladder: Address::Tcp("localhost:1".into()),
                token_file: folder.clone(),
                games: given.iter().map(|text| game(text).unwrap()).collect(),
                clocks: Vec::new(),
                concurrency: 2,
                legal: false,
                options: Vec::new(),
                record: None,
                insecure: false,
                json: false,
                command: Vec::new(),
            };
            let offered = offer(&args).unwrap_or_else(|failure| panic!("{failure}")).games;
            let _gone = std::fs::remove_file(folder);
            let offered: Vec<_> =
                offered.iter().map(|game| (game.game.as_str(), &game.presets[..])).collect();
            let expected: Vec<(&str, Vec<String>)> = expected
                .iter()
                .map(|(game, presets)| (*game, presets.iter().map(|preset| (*preset).to_owned()).collect()))
                .collect();
            assert_eq!(
                offered,
                expected.iter().map(|(game, presets)| (*game, &presets[..])).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn clocks_are_offered_as_a_game_begins_with_them() {
        for (text, expected) in [
            ("time=100ms", json!({ "kind": "per_move", "ms": 100 })),
            ("tc=10s+0.1s", json!({ "kind": "increment", "me_ms": 10_000, "inc_ms": 100 })),
            ("bank=1s+30s", json!({ "kind": "bank", "turn_ms": 1000, "bank_ms": 30_000 })),
        ] {
            assert_eq!(json!(start_clock(text).unwrap()), expected, "{text}");
        }
        assert!(start_clock("soon").is_err());
    }
}
