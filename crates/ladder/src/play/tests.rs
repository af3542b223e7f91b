//! A ladder's hall and tables with bots that dial in over sockets of this machine.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_arena::referee::{ForfeitKind, Terms, Turn};
use plyd_arena::{Entrant, Strictness, TimeControl};
use plyd_core::effort::Effort;
use plyd_core::engine::{
    AnyRoot, Candidates, ChanceOutcome, Counting, Engine, Entry, Fault, Learner, Successor, ToMove,
};
use plyd_core::game::{Drawing, Rules};
use plyd_core::nim;
use plyd_core::options::Options;
use plyd_core::play::Position;
use plyd_core::search::Control;
use plyd_games::REGISTRY;
use plyd_protocol::{ErrorCode, Offer, Player, Seed};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::*;
use crate::game::GameEnd;
use crate::live::{Live, LiveEvent, Update};
use crate::test_bot::{Bot, LONG};
use crate::{BotId, GameId, PoolId};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Lets bots in by tokens such as `bot-7`, but not number 13.
struct Doorman;

impl Door for Doorman {
    async fn admit(&self, offer: &Offer, _: Option<IpAddr>) -> Result<Admitted, Refusal> {
        let number = offer.token.strip_prefix("bot-").and_then(|number| number.parse().ok());
        match number {
            Some(13) => Err(Refusal { code: ErrorCode::Forbidden, message: "three forfeits".into() }),
            Some(number) => Ok(Admitted { bot: BotId(number), name: format!("the {number}"), most_games: 4 }),
            None => Err(Refusal { code: ErrorCode::AuthFailed, message: "no such token".into() }),
        }
    }
}

/// A ladder, and what its recorder was given.
struct Ladder {
    hall: Arc<Hall<Doorman>>,
    table: Table,
    address: SocketAddr,
    kept: JoinHandle<BTreeMap<GameId, Vec<Turn>>>,
    listening: JoinHandle<()>,
}

impl Ladder {
    async fn open(settings: Settings) -> Self {
        Self::reopen(settings, BTreeMap::new()).await
    }

    /// A ladder whose recorder has some turns of its games already.
    async fn reopen(settings: Settings, known: BTreeMap<GameId, Vec<Turn>>) -> Self {
        let hall = Hall::new(Doorman, settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let visited = Arc::clone(&hall);
        let listening = tokio::spawn(async move {
            loop {
                let (stream, address) = listener.accept().await.unwrap();
                tokio::spawn(Arc::clone(&visited).serve(stream, Some(address.ip())));
            }
        });
        let (recorder, events) = Recorder::new(4, Live::new(1));
        let table =
            Table { bots: Arc::clone(hall.bots()), house: Arc::new(House::start(2, 1).unwrap()), recorder };
        Self { hall, table, address, kept: tokio::spawn(keep(events, known)), listening }
    }

    /// Plays a game of these two.
    fn play(&self, game: Game) -> JoinHandle<Result<GameEnd, Stopped>> {
        let table = self.table.clone();
        tokio::spawn(async move { table.play(game).await })
    }

    fn bot(&self, number: u64, game: u64) -> Seat {
        Seat::Bot(Arc::new(self.hall.bots().seat(BotId(number), &GameId(game).name())))
    }

    /// The turns of each game, once the ladder is closed.
    async fn close(self) -> BTreeMap<GameId, Vec<Turn>> {
        self.listening.abort();
        drop((self.table, self.hall));
        self.kept.await.unwrap()
    }
}

/// Keeps what happens.
async fn keep(
    mut events: mpsc::Receiver<Event>,
    mut games: BTreeMap<GameId, Vec<Turn>>,
) -> BTreeMap<GameId, Vec<Turn>> {
    while let Some(event) = events.recv().await {
        match event {
            Event::Turn { game, index, turn } => {
                let turns = games.entry(game).or_default();
                assert_eq!(turns.len(), index, "turns come in their order");
                turns.push(*turn);
            }
            Event::Ended { kept, .. } => drop(kept.send(())),
        }
    }
    games
}

fn settings() -> Settings {
    Settings { heartbeat: ms(50), ..Settings::default() }
}

fn game(id: u64, players: [Seat; 2], opening: Arc<dyn AnyRoot>) -> Game {
    let entrant = |index| Entrant { index, name: format!("bot {index}"), build: None };
    let strictness = Strictness { max_moves: 12, timeout: LONG, ..Strictness::default() };
    Game {
        id: GameId(id),
        pool: PoolId(1),
        seed: Seed(7),
        players,
        entrants: [entrant(1), entrant(2)],
        terms: Terms { strictness, chance: 7, ..Terms::new(opening) },
        network: Network::default(),
        resumed: None,
        voided: None,
    }
}

fn heap() -> Arc<dyn AnyRoot> {
    Position::start(&nim::ENTRY).root().clone()
}

/// A bot of that number that has not offered itself yet.
async fn dial(address: SocketAddr, number: u64) -> Bot<TcpStream> {
    Bot::new(TcpStream::connect(address).await.unwrap(), token(number))
}

/// A bot of that number whose offer was taken.
async fn join(address: SocketAddr, number: u64) -> Bot<TcpStream> {
    Bot::join(TcpStream::connect(address).await.unwrap(), token(number)).await
}

fn token(number: u64) -> String {
    format!("bot-{number}")
}

/// Runs a bot that plays `games` games at once or one after the other.
fn bot(address: SocketAddr, number: u64, games: usize) -> JoinHandle<Vec<Value>> {
    tokio::spawn(async move { join(address, number).await.plays(games).await.unwrap() })
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waited = timeout(LONG, async {
        while !holds() {
            sleep(ms(1)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    timeout(LONG, work).await.expect("in time")
}

#[tokio::test]
async fn bots_play_every_game_several_at_once_and_learn_how_it_ended() {
    let ladder = Ladder::open(settings()).await;
    // Spectators who do not look slow nobody.
    let _idle = ladder.table.recorder.live().watch();
    let mut played = Vec::new();
    let bots: Vec<_> = (1..=2).map(|number| bot(ladder.address, number, REGISTRY.len())).collect();
    for (id, entry) in (1..).zip(REGISTRY) {
        let seats = [ladder.bot(1, id), ladder.bot(2, id)];
        let mut game = game(id, seats, Position::start(entry).root().clone());
        game.terms.controls = [TimeControl::PerMove(LONG); 2];
        played.push((entry, ladder.play(game)));
    }
    let mut records = BTreeMap::new();
    for (entry, played) in played {
        let ended = within(played).await.unwrap().unwrap();
        assert_eq!((&ended.played.forfeit, &ended.void), (&None, &None), "{}", entry.name);
        assert!(ended.conversations.iter().all(|lines| !lines.is_empty()), "{}", entry.name);
        records.insert(ended.id().name(), ended);
    }
    for (player, bot) in [Player::P1, Player::P2].into_iter().zip(bots) {
        for over in within(bot).await.unwrap() {
            let ended = &records[over["x_game"].as_str().unwrap()];
            let result = ended.played.record.result.as_ref();
            assert_eq!(over["outcome"], line::outcome(result, player));
            assert_eq!(over["record"], serde_json::to_value(&ended.played.record).unwrap());
        }
    }
    let kept = within(ladder.close()).await;
    for ended in records.values() {
        let moves = ended.played.record.moves.iter().filter(|ply| !ply.starts_with('~'));
        assert!(moves.eq(kept[&ended.id()].iter().map(|turn| &turn.mv)));
    }
}

/// How a bot behaves when it is asked.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// With this move.
    Move(&'static str),
    /// With a line, in which `ID` stands for the id.
    Line(&'static str),
    /// With a line, and then properly.
    Then(&'static str),
    /// After that many milliseconds.
    After(u64),
    /// Not at all.
    Never,
    /// It leaves.
    Leave,
    /// With many lines.
    Flood,
}

async fn misbehave(address: SocketAddr, way: Way) {
    let mut bot = join(address, 1).await;
    let mut is_first = true;
    while let Some(message) = bot.read().await {
        if message["cmd"] != "go" {
            continue;
        }
        let legal = message["x_legal"][0].clone();
        let line = |text: &str| text.replace("ID", message["id"].as_str().unwrap());
        match way {
            Way::Move(mv) => bot.best(&message, &json!(mv)).await,
            Way::Line(text) => bot.write(&line(text)).await,
            Way::Then(text) if is_first => bot.write(&line(text)).await,
            Way::Then(_) => bot.best(&message, &legal).await,
            Way::After(time) => {
                sleep(ms(time)).await;
                bot.best(&message, &legal).await;
            }
            Way::Never => {}
            Way::Leave => return,
            Way::Flood => {
                for _ in 0..2000 {
                    bot.write(r#"{"type":"info"}"#).await;
                }
            }
        }
        is_first = false;
    }
}

#[tokio::test]
async fn each_fault_is_recorded_by_its_name() {
    use ForfeitKind::{Crash, Illegal, Late, Protocol, Timeout};
    let long = "x".repeat(plyd_protocol::MAX_LINE + 2).leak();
    let overloaded = r#"{"id":"ID","type":"error","code":"overloaded","retry_ms":1}"#;
    let other = r#"{"id":"other","type":"bestmove","move":"3"}"#;
    // The clock in ms; how long to wait beyond it in ms; the behaviour; the fault and a word of its message.
    for (clock, wait, way, expected) in [
        (60_000, 60_000, Way::Move("1"), None),
        (60_000, 60_000, Way::Then(overloaded), None),
        (60_000, 60_000, Way::Move("4"), Some((Illegal, "`4`"))),
        (60_000, 60_000, Way::Move(""), Some((Illegal, ""))),
        (20, 60_000, Way::After(40), Some((Late, "us after its 20ms"))),
        (20, 20, Way::Never, Some((Timeout, "no answer"))),
        (20, 20, Way::Line(other), Some((Timeout, "no answer"))),
        (20, 20, Way::Line(r#"{"type":"info"}"#), Some((Timeout, "no answer"))),
        (60_000, 60_000, Way::Line("thinking..."), Some((Protocol, "thinking..."))),
        (60_000, 60_000, Way::Line(r#"{"id":"ID","type":"bestmove"}"#), Some((Protocol, "bestmove"))),
        (60_000, 60_000, Way::Line(r#"{"id":"ID","type":"result"}"#), Some((Protocol, "no `bestmove`"))),
        (60_000, 60_000, Way::Line(r#"{"id":"ID","type":"error","code":"x"}"#), Some((Protocol, "refused"))),
        (60_000, 60_000, Way::Line(r#"{"type":"error","message":"m"}"#), Some((Protocol, "refused: m"))),
        (60_000, 60_000, Way::Line(long), Some((Protocol, "longer than"))),
        (60_000, 60_000, Way::Flood, Some((Protocol, "500 lines"))),
        (50, 60_000, Way::Leave, Some((Crash, "was not back in time"))),
    ] {
        let ended = against(way, clock, wait).await;
        let found = ended.played.forfeit.as_ref();
        match expected {
            None => assert_eq!(found, None, "{way:?}"),
            Some((kind, word)) => {
                let forfeit = found.unwrap_or_else(|| panic!("{way:?} is a fault"));
                assert_eq!((forfeit.player, forfeit.reason.kind), (Player::P1, kind), "{way:?}: {forfeit:?}");
                assert!(forfeit.reason.message.contains(word), "{way:?}: {forfeit:?}");
                let asked = ended.conversations[0].iter().any(|line| line.text.contains("\"go\""));
                assert!(asked, "{way:?}: {:?}", ended.conversations);
            }
        }
    }
}

#[tokio::test]
async fn a_bot_that_is_overloaded_until_its_clock_ends_loses_by_it() {
    let overloaded = r#"{"id":"ID","type":"error","code":"overloaded","message":"full","retry_ms":1}"#;
    let ended = against(Way::Line(overloaded), 50, 60_000).await;
    let forfeit = ended.played.forfeit.expect("its clock ran");
    assert_eq!((forfeit.player, forfeit.reason.kind, ended.void), (Player::P1, ForfeitKind::Late, None));
    let why = forfeit.reason.message;
    assert!(why.starts_with("it was overloaded for ") && why.ends_with(": full"), "{why}");
    // It is asked again until then, and no sooner after the last time than it said.
    assert!(ended.conversations[0].len() > 2, "{:?}", ended.conversations[0]);
    // One that wants more time than its clock leaves need not be asked again.
    let long = r#"{"id":"ID","type":"error","code":"overloaded","message":"full","retry_ms":60000}"#;
    let ended = against(Way::Line(long), 50_000, 60_000).await;
    assert_eq!(ended.played.forfeit.unwrap().reason.kind, ForfeitKind::Late);
}

/// A game that a bot of this behaviour begins, with so many ms for a move and so many to wait beyond that.
async fn against(way: Way, clock: u64, wait: u64) -> GameEnd {
    let ladder = Ladder::open(settings()).await;
    let bots = [tokio::spawn(misbehave(ladder.address, way)), {
        let address = ladder.address;
        tokio::spawn(async move { drop(join(address, 2).await.play().await) })
    }];
    until("both are there", || ladder.hall.bots().ready().len() == 2).await;
    let mut game = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], heap());
    game.terms.controls = [TimeControl::PerMove(ms(clock)), TimeControl::Unlimited];
    game.terms.strictness.timeout = ms(wait);
    // No machine is slow enough to be late on the other side.
    let ended = within(ladder.play(game)).await.unwrap().unwrap();
    for bot in bots {
        bot.abort();
    }
    ended
}

#[tokio::test]
async fn a_bot_that_comes_back_goes_on_with_its_clock() {
    let ladder = Ladder::open(settings()).await;
    let opponent = bot(ladder.address, 2, 1);
    let mut first = join(ladder.address, 1).await;
    assert_eq!(first.taken["games"], json!([]));
    let mut game = game(8, [ladder.bot(1, 8), ladder.bot(2, 8)], heap());
    game.terms.controls = [TimeControl::PerMove(LONG), TimeControl::Unlimited];
    let played = ladder.play(game);
    let asked = first.read().await.unwrap();
    // Its machine is cut off, so that the ladder sees nothing of that.
    let mut second = join(ladder.address, 1).await;
    let end = first.read().await.unwrap();
    assert_eq!((&end["code"], &end["fatal"]), (&json!("disconnected"), &json!(true)));
    assert_eq!(first.read().await, None);
    assert_eq!(second.taken["games"], json!(["g8"]));
    let again = second.read().await.unwrap();
    assert_eq!((&again["x_game"], &again["position"]), (&asked["x_game"], &asked["position"]));
    // An answer to what was asked over another connection is nobody's.
    second.best(&json!({ "id": "77" }), &json!("3")).await;
    drop(second);
    until("it has left", || ladder.hall.bots().find(BotId(1)).is_ok_and(|found| found.is_none())).await;
    sleep(ms(20)).await;
    let mut third = join(ladder.address, 1).await;
    let again = third.read().await.unwrap();
    assert_eq!(again["position"], asked["position"]);
    assert!(again["elapsed_ms"].as_u64() >= Some(20), "{again}");
    third.best(&again, &json!("2")).await;
    assert_eq!(third.play().await["outcome"], "drawn");
    let ended = within(played).await.unwrap().unwrap();
    assert_eq!((ended.played.forfeit, ended.void), (None, None));
    assert_eq!(ended.played.record.moves[0], "2");
    assert!(ended.played.answers[0].time_us >= 20_000, "{:?}", ended.played.answers[0]);
    within(opponent).await.unwrap();
    // The place is free again.
    assert_eq!(ladder.hall.bots().ready()[0].slots, 4);
}

#[tokio::test]
async fn a_game_goes_on_after_the_ladder_was_stopped_at_any_turn() {
    let play = async |known: Option<Vec<Turn>>| {
        let turns = known.clone().unwrap_or_default();
        let ladder = Ladder::reopen(settings(), BTreeMap::from([(GameId(3), turns)])).await;
        let mut game = game(3, [ladder.bot(1, 3), ladder.bot(2, 3)], heap());
        let base = Duration::from_secs(600);
        game.terms.controls = [TimeControl::Increment { base, increment: ms(100), moves: None }; 2];
        game.resumed = known.map(|turns| Resumed { turns, back_by: Instant::now() + LONG });
        // It waits for its bots, whose clocks do not run meanwhile.
        let played = ladder.play(game);
        let bots = [1, 2].map(|number| bot(ladder.address, number, 1));
        let ended = within(played).await.unwrap().unwrap();
        for bot in bots {
            within(bot).await.unwrap();
        }
        (ended, within(ladder.close()).await.remove(&GameId(3)).unwrap_or_default())
    };
    let (whole, turns) = play(None).await;
    assert_eq!(turns.len(), 12);
    for cut in [0, 1, 5, 11] {
        let (resumed, all) = play(Some(turns[..cut].to_vec())).await;
        assert_eq!((resumed.void, resumed.played.record), (None, whole.played.record.clone()), "{cut}");
        assert_eq!(resumed.played.answers[..cut], whole.played.answers[..cut], "after {cut}");
        assert_eq!(all[..cut], turns[..cut], "after {cut}");
    }
}

#[tokio::test]
async fn a_game_does_not_count_if_neither_bot_comes_back_to_it_or_the_ladder_says_so() {
    let ladder = Ladder::open(settings()).await;
    let turn = json!({ "move": "1", "player": "p1", "time_us": 0 });
    let turn: Turn = serde_json::from_value(turn).unwrap();
    for (id, turns, back, is_present, word) in [
        (1, 0, ms(10), false, "neither bot came back"),
        (2, 9, ms(10), true, "cannot go on"),
        (3, 0, LONG, true, "a bug of the rules"),
    ] {
        let mut present = None;
        if is_present {
            present = Some(join(ladder.address, 2).await);
        }
        let mut game = game(id, [ladder.bot(1, id), ladder.bot(2, id)], heap());
        game.resumed = Some(Resumed { turns: vec![turn.clone(); turns], back_by: Instant::now() + back });
        let (void, voided) = oneshot::channel();
        game.voided = Some(voided);
        let played = ladder.play(game);
        if id == 3 {
            void.send("a bug of the rules".to_owned()).unwrap();
        }
        let ended = within(played).await.unwrap().unwrap();
        assert!(ended.void.as_ref().is_some_and(|why| why.contains(word)), "{:?}", ended.void);
        assert_eq!(ended.played.record.result, None);
        if let Some(mut present) = present {
            let over = present.read().await.unwrap();
            assert_eq!((&over["cmd"], &over["outcome"]), (&json!("over"), &json!("void")));
        }
    }
}

#[tokio::test]
async fn a_bot_that_alone_stays_away_from_a_game_that_goes_on_loses_by_its_clock() {
    // Who is there: the opponent; nobody any more; the house.
    for (comes, stays) in [(true, true), (true, false), (false, true)] {
        let ladder = Ladder::open(settings()).await;
        let opponent = match comes {
            true => ladder.bot(2, 1),
            false => Seat::House(HousePlayer::new(Options::default(), 9)),
        };
        let mut game = game(1, [ladder.bot(1, 1), opponent], heap());
        game.terms.controls = [TimeControl::PerMove(ms(50)); 2];
        let mut present = None;
        if comes {
            let bot = Some(join(ladder.address, 2).await).filter(|_| stays);
            // It answers pings meanwhile.
            present = bot.map(|mut bot| tokio::spawn(async move { bot.read().await }));
            until("who does not stay has left", || {
                ladder.hall.bots().find(BotId(2)).is_ok_and(|found| found.is_some() == stays)
            })
            .await;
        }
        let back_by = Instant::now() + ms(100);
        game.resumed = Some(Resumed { turns: Vec::new(), back_by });
        let ended = within(ladder.play(game)).await.unwrap().unwrap();
        assert!(Instant::now() >= back_by + ms(50), "it is awaited, and then its clock runs");
        let forfeit = ended.played.forfeit.expect("it lost");
        assert_eq!((forfeit.player, forfeit.reason.kind), (Player::P1, ForfeitKind::Crash));
        assert_eq!((forfeit.reason.message.as_str(), ended.void), ("it was not there", None));
        if let Some(present) = present {
            assert_eq!(within(present).await.unwrap().unwrap()["outcome"], "won");
        }
    }
}

#[tokio::test]
async fn a_bot_that_is_disabled_loses_its_games_asked_or_awaited_or_gone() {
    let ladder = Ladder::open(settings()).await;
    let mut present = join(ladder.address, 2).await;
    for (id, joins, resumes) in [(1, false, true), (2, true, false), (3, false, false)] {
        let mut disabled = None;
        if joins {
            disabled = Some(join(ladder.address, 1).await);
        }
        let mut game = game(id, [ladder.bot(1, id), ladder.bot(2, id)], heap());
        game.terms.controls = [TimeControl::PerMove(LONG); 2];
        game.resumed = resumes.then(|| Resumed { turns: Vec::new(), back_by: Instant::now() + LONG });
        let played = ladder.play(game);
        if let Some(bot) = &mut disabled {
            assert_eq!(bot.read().await.unwrap()["cmd"], "go");
        }
        ladder.hall.bots().forbid(BotId(1), "five forfeits");
        let ended = within(played).await.unwrap().unwrap();
        let forfeit = ended.played.forfeit.expect("it lost");
        assert_eq!((forfeit.player, forfeit.reason.kind, ended.void), (Player::P1, ForfeitKind::Crash, None));
        assert!(forfeit.reason.message.contains("disabled: five forfeits"), "{forfeit:?}");
        assert_eq!(present.read().await.unwrap()["outcome"], "won");
        if let Some(mut bot) = disabled {
            assert_eq!(bot.read().await.unwrap()["code"], "forbidden");
            assert_eq!(bot.read().await, None);
        }
    }
}

#[tokio::test]
async fn a_bot_takes_no_further_game_until_it_knows_how_the_one_before_ended() {
    let ladder = Ladder::open(settings()).await;
    let (recorder, mut events) = Recorder::new(1, Live::new(1));
    let table = Table { recorder, ..ladder.table.clone() };
    let bot = bot(ladder.address, 1, 1);
    until("it is there", || ladder.hall.bots().ready().len() == 1).await;
    let house = Seat::House(HousePlayer::new(Options::default(), 9));
    let game = game(1, [ladder.bot(1, 1), house], heap());
    let slots = || ladder.hall.bots().ready()[0].slots;
    let played = tokio::spawn(async move { table.play(game).await });
    let kept = loop {
        match within(events.recv()).await.unwrap() {
            Event::Turn { .. } => {}
            Event::Ended { kept, .. } => break kept,
        }
    };
    // It is over, and the bot has not heard of it.
    sleep(ms(20)).await;
    assert_eq!(slots(), 3);
    kept.send(()).unwrap();
    within(bot).await.unwrap();
    within(played).await.unwrap().unwrap();
    assert_eq!(slots(), 4);
}

#[tokio::test]
async fn a_bot_that_is_disconnected_may_come_back() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 1).await;
    ladder.hall.bots().disconnect(BotId(1), "its token was replaced");
    ladder.hall.bots().disconnect(BotId(9), "it is not there");
    let last = bot.read().await.unwrap();
    assert_eq!((&last["code"], &last["message"]), (&json!("disconnected"), &json!("its token was replaced")));
    assert_eq!(bot.read().await, None);
    join(ladder.address, 1).await;
}

#[tokio::test]
async fn offers_are_answered_by_what_is_wrong_with_them() {
    let few = Settings { offer_within: ms(100), connections: 3, ..settings() };
    let ladder = Ladder::open(few).await;
    let offer = |token: &str, version: u32| {
        let protocol = json!({ "min": version, "max": version });
        json!({ "id": "o", "cmd": "offer", "protocol": protocol, "token": token }).to_string()
    };
    let long = "x".repeat(1 << 17);
    for (line, id, code) in [
        ("GET / HTTP/1.1", Value::Null, "bad_json"),
        (r#"{"id":"h","cmd":"hello"}"#, json!("h"), "handshake_required"),
        (r#"{"id":"o","cmd":"offer"}"#, json!("o"), "missing_field"),
        (&offer("somebody", 1), json!("o"), "auth_failed"),
        (&offer("bot-13", 1), json!("o"), "forbidden"),
        (&offer("bot-1", 2), json!("o"), "version_unsupported"),
        (&long, Value::Null, "line_too_long"),
        ("", Value::Null, "timed_out"),
    ] {
        let mut bot = dial(ladder.address, 1).await;
        bot.write(line).await;
        let error = bot.read().await.unwrap_or_else(|| panic!("{line:.40}"));
        assert_eq!((&error["id"], &error["code"]), (&id, &json!(code)), "{line:.40}");
        assert_eq!((&error["type"], &error["fatal"]), (&json!("error"), &json!(true)), "{line:.40}");
        assert_eq!(bot.read().await, None, "{line:.40}");
    }
    let mut bots = Vec::new();
    for number in 1..=3 {
        // The places of those before are free at some time.
        until("a place is free", || ladder.hall.bots().ready().len() == bots.len()).await;
        bots.push(joined(ladder.address, number).await);
    }
    let mut fourth = dial(ladder.address, 4).await;
    fourth.offer(1).await;
    assert_eq!(fourth.read().await.unwrap()["code"], "too_many_connections");
    assert_eq!(fourth.read().await, None);
}

/// Joins as soon as there is a place.
async fn joined(address: SocketAddr, number: u64) -> Bot<TcpStream> {
    loop {
        let mut bot = dial(address, number).await;
        bot.offer(1).await;
        match bot.read().await {
            Some(taken) if taken["type"] == "result" => return bot,
            Some(full) => assert_eq!(full["code"], "too_many_connections"),
            None => {}
        }
    }
}

#[tokio::test]
async fn a_bot_changes_what_it_offers() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 5).await;
    assert_eq!((&bot.taken["bot"], &bot.taken["heartbeat_ms"]), (&json!("the 5"), &json!(50)));
    let slots = || ladder.hall.bots().ready().first().map(|ready| (ready.bot, ready.slots));
    assert_eq!(slots(), Some((BotId(5), 4)));
    let seated = ladder.bot(5, 9);
    assert_eq!(slots(), Some((BotId(5), 3)));
    // More than the ladder allows, one that has begun, and none.
    for (concurrency, applied, expected) in [(9, 4, Some(3)), (1, 1, None), (0, 0, None)] {
        bot.offer(concurrency).await;
        let taken = bot.read().await.unwrap();
        assert_eq!((&taken["concurrency"], &taken["games"]), (&json!(applied), &json!(["g9"])));
        assert_eq!(slots().map(|(_, slots)| slots), expected);
    }
    assert!(ladder.hall.bots().is_leaving(BotId(5)) && !ladder.hall.bots().is_leaving(BotId(6)));
    drop(seated);
    assert_eq!(slots(), None);
    // What is no offer is refused, and the connection goes on.
    bot.write(r#"{"id":"q","cmd":"status"}"#).await;
    assert_eq!(bot.read().await.unwrap()["code"], "unknown_cmd");
    bot.offer(1).await;
    assert_eq!(bot.read().await.unwrap()["concurrency"], 1);
    // Another bot's token ends it.
    bot.token = token(6);
    bot.offer(1).await;
    assert_eq!(bot.read().await.unwrap()["code"], "forbidden");
    assert_eq!(bot.read().await, None);
    until("it is gone", || slots().is_none()).await;
}

#[tokio::test]
async fn a_bot_that_answers_no_ping_is_gone_unless_it_thinks() {
    let ladder = Ladder::open(settings()).await;
    let address = ladder.address;
    let alive = tokio::spawn(async move { join(address, 1).await.read().await });
    let mut mute = join(address, 2).await;
    until("it was measured", || {
        let found = ladder.hall.bots().find(BotId(1)).ok().flatten();
        found.is_some_and(|(link, _)| link.round_trip().is_some())
    })
    .await;
    // It is asked, and thinks for as long as three pings and more.
    let game = game(1, [ladder.bot(2, 1), ladder.bot(1, 1)], heap());
    let played = ladder.play(game);
    sleep(ms(400)).await;
    assert!(ladder.hall.bots().find(BotId(2)).unwrap().is_some());
    played.abort();
    until("it is gone", || ladder.hall.bots().find(BotId(2)).unwrap().is_none()).await;
    assert!(ladder.hall.bots().find(BotId(1)).unwrap().is_some());
    // What it reads last are pings, until the end.
    while let Ok(Some(line)) = within(mute.lines.next_line()).await {
        assert!(line.contains("\"ping\"") || line.contains("\"go\""), "{line}");
    }
    alive.abort();
}

#[tokio::test]
async fn the_house_plays_without_a_clock_and_alike_each_time() {
    let mut records = Vec::new();
    for _ in 0..2 {
        let ladder = Ladder::open(settings()).await;
        let opponent = bot(ladder.address, 1, 1);
        let options = Options { level: 3, seed: 5, deterministic: true, ..Options::default() };
        let house = Seat::House(HousePlayer::new(options, 500));
        let opening = Position::start(&plyd_games::isolation::ENTRY).root().clone();
        let mut game = game(1, [house, ladder.bot(1, 1)], opening);
        game.terms.controls = [TimeControl::PerMove(Duration::ZERO), TimeControl::PerMove(LONG)];
        let ended = within(ladder.play(game)).await.unwrap().unwrap();
        assert_eq!((&ended.played.forfeit, &ended.void), (&None, &None));
        assert!(ended.conversations[0].is_empty());
        within(opponent).await.unwrap();
        records.push(ended.played.record);
    }
    assert_eq!(records[0], records[1]);
    // What the house cannot play is nobody's loss.
    let ladder = Ladder::open(settings()).await;
    let stranger = Options { player: "grandmaster".to_owned(), ..Options::default() };
    let seats = [500, 1].map(|nodes| Seat::House(HousePlayer::new(stranger.clone(), nodes)));
    let ended = within(ladder.play(game(2, seats, heap()))).await.unwrap().unwrap();
    assert!(ended.void.is_some_and(|why| why.contains("grandmaster")));
}

/// A heap whose rules break at the second move.
struct Broken(Arc<dyn AnyRoot>);

impl AnyRoot for Broken {
    fn entry(&self) -> &'static Entry {
        self.0.entry()
    }
    fn rules(&self) -> Rules {
        self.0.rules()
    }
    fn extend_within(&self, moves: &[String], effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, Fault> {
        Ok(Arc::new(Self(self.0.extend_within(moves, effort)?)))
    }
    fn play(&mut self, text: &str) -> Result<(), Fault> {
        assert!(self.played().is_empty(), "a token stands on its edge");
        self.0 = self.0.extend(&[text.to_owned()])?;
        Ok(())
    }
    fn played(&self) -> &[String] {
        self.0.played()
    }
    fn is_stochastic(&self) -> bool {
        false
    }
    fn to_move(&self) -> ToMove {
        self.0.to_move()
    }
    fn outcome(&self) -> Option<plyd_core::game::Outcome> {
        self.0.outcome()
    }
    fn legal(&self) -> Vec<String> {
        self.0.legal()
    }
    fn moves_within(&self, evaluator: Option<&str>, effort: &Arc<Effort>) -> Result<Vec<Successor>, Fault> {
        self.0.moves_within(evaluator, effort)
    }
    fn chance(&self) -> Vec<ChanceOutcome> {
        Vec::new()
    }
    fn text(&self) -> String {
        self.0.text()
    }
    fn state_text(&self) -> Option<String> {
        None
    }
    fn start_text(&self) -> String {
        self.0.start_text()
    }
    fn board_within(&self, effort: &Arc<Effort>) -> Drawing {
        self.0.board_within(effort)
    }
    fn hash(&self) -> u64 {
        self.0.hash()
    }
    fn eval(&self, evaluator: &str) -> Result<Option<i64>, Fault> {
        self.0.eval(evaluator)
    }
    fn perft(&self, depth: u32, counting: Counting, control: &Control) -> u64 {
        self.0.perft(depth, counting, control)
    }
    fn check(&self, seed: u64, plies: usize) -> Result<usize, String> {
        self.0.check(seed, plies)
    }
    fn candidates_within(
        &self,
        searchmoves: &[String],
        excludemoves: &[String],
        effort: &Arc<Effort>,
    ) -> Result<Candidates, Fault> {
        self.0.candidates_within(searchmoves, excludemoves, effort)
    }
    fn engine(&self, options: &Options) -> Result<Box<dyn Engine>, Fault> {
        self.0.engine(options)
    }
    fn learner(&self, evaluator: &str) -> Result<Box<dyn Learner>, Fault> {
        self.0.learner(evaluator)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[tokio::test]
async fn a_game_whose_rules_panic_does_not_count_and_the_ladder_goes_on() {
    let ladder = Ladder::open(settings()).await;
    let bots = [1, 2].map(|number| bot(ladder.address, number, 2));
    let broken = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], Arc::new(Broken(heap())));
    let ended = within(ladder.play(broken)).await.unwrap().unwrap();
    let why = ended.void.as_deref().expect("it does not count");
    assert!(why.contains("a token stands on its edge"), "{why}");
    // As far as it was seen.
    assert_eq!((ended.played.record.moves, ended.played.record.result), (vec!["1".to_owned()], None));
    assert_eq!(ladder.table.recorder.live().games(), []);
    let sound = game(2, [ladder.bot(1, 2), ladder.bot(2, 2)], heap());
    let ended = within(ladder.play(sound)).await.unwrap().unwrap();
    assert_eq!((ended.void, ended.played.forfeit), (None, None));
    for bot in bots {
        let outcomes = within(bot).await.unwrap().into_iter().map(|over| over["outcome"].clone());
        assert_eq!(outcomes.collect::<Vec<_>>(), ["void", "drawn"]);
    }
}

#[tokio::test]
async fn spectators_see_each_turn_and_the_end() {
    let ladder = Ladder::open(settings()).await;
    let live = Live::new(100);
    let (recorder, events) = Recorder::new(4, live.clone());
    let table = Table { recorder, ..ladder.table.clone() };
    let keeper = tokio::spawn(keep(events, BTreeMap::new()));
    let (games, mut watcher) = live.watch();
    assert_eq!(games, []);
    let seats = [7, 8].map(|seed| Seat::House(HousePlayer::new(Options { seed, ..Options::default() }, 9)));
    // IJK, in which chance has a part.
    let rules = plyd_core::engine::settings::Settings::from_iter([("mode", "nondet")]);
    let start = Position::open(&plyd_games::ijk::ENTRY, &rules, None).unwrap();
    let ended = within(table.play(game(9, seats, start.root().clone()))).await.unwrap();
    let Some(Update::Event(began)) = within(watcher.next()).await else { panic!("it began") };
    let LiveEvent::Began(began) = &*began else { panic!("{began:?}") };
    let names = began.players.each_ref().map(|player| (player.bot, player.name.clone()));
    assert_eq!(names, [(BotId(1), "bot 1".to_owned()), (BotId(2), "bot 2".to_owned())]);
    assert_eq!((began.id, began.pool, began.clocks), (GameId(9), PoolId(1), [None, None]));
    let (mut moves, mut answers) = (began.record.moves.clone(), Vec::new());
    let end = loop {
        let Some(Update::Event(event)) = within(watcher.next()).await else { panic!("it goes on") };
        match &*event {
            LiveEvent::Turn(turn) => {
                assert_eq!(turn.index, answers.len());
                moves.extend(turn.plies.clone());
                answers.push(turn.turn.answered.clone());
                let root = start.root().extend(&moves).unwrap();
                assert_eq!((turn.text.clone(), turn.to_move.is_none()), (root.text(), answers.len() == 12));
            }
            LiveEvent::Ended(end) => break end.clone(),
            LiveEvent::Began(_) => panic!("it began once"),
        }
    };
    assert_eq!((&*end, &moves, &answers), (&ended, &ended.played.record.moves, &ended.played.answers));
    assert_eq!(live.games(), []);
    drop(table);
    within(keeper).await.unwrap();
}

#[tokio::test]
async fn nothing_goes_on_once_nobody_keeps_it() {
    let (recorder, events) = Recorder::new(1, Live::new(1));
    drop(events);
    let table = Table { bots: Arc::default(), house: Arc::new(House::start(1, 0).unwrap()), recorder };
    let seats = [1, 2].map(|seed| Seat::House(HousePlayer::new(Options { seed, ..Options::default() }, 9)));
    assert_eq!(within(table.play(game(1, seats, heap()))).await, Err(Stopped));
}

#[tokio::test]
async fn bots_are_taken_leave_of() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 1).await;
    ladder.hall.bots().farewell("back in a minute", 60_000);
    let notice = bot.read().await.unwrap();
    assert_eq!((&notice["kind"], &notice["retry_ms"]), (&json!("going_away"), &json!(60_000)));
    assert_eq!(bot.read().await, None);
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_floods_its_connection_with_is_read_at_its_rate() {
    let hall = Hall::new(Doorman, Settings { bytes_a_second: 1 << 20, ..Settings::default() });
    let (near, far) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(Arc::clone(&hall).serve(far, None));
    let (input, mut out) = tokio::io::split(near);
    let reading = tokio::spawn(async move {
        let mut lines = BufReader::new(input).lines();
        let mut kinds = Vec::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            kinds.push(message["type"].as_str().or(message["cmd"].as_str()).unwrap().to_owned());
        }
        kinds
    });
    let offer = json!({ "id": "1", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": "bot-7" });
    out.write_all(format!("{offer}\n").as_bytes()).await.unwrap();
    let begun = tokio::time::Instant::now();
    let info = json!({ "type": "info", "id": "nobody's", "x_padding": "x".repeat((1 << 19) - 64) });
    let line = format!("{info}\n");
    let (lines, mib) = (60, 60 * line.len() as u64 / (1 << 20));
    for _ in 0..lines {
        out.write_all(line.as_bytes()).await.unwrap();
    }
    // The clock stands still while anything is done, so that this is the time that was waited.
    let waited = begun.elapsed().as_secs();
    assert!((mib - 3..=mib).contains(&waited), "{mib} MiB after {waited} s");
    out.shutdown().await.unwrap();
    serving.await.unwrap();
    let kinds = reading.await.unwrap();
    assert!(kinds.iter().all(|kind| kind == "result" || kind == "ping"), "it is no fault: {kinds:?}");
}

#[tokio::test]
async fn offers_of_an_address_are_taken_at_its_rate() {
    let settings = Settings { offers_at_once: 3, offers_a_second: 0, ..settings() };
    let ladder = Ladder::open(settings).await;
    // A further offer counts as the one of another connection does.
    let mut first = join(ladder.address, 1).await;
    first.offer(2).await;
    assert_eq!(first.read().await.unwrap()["type"], "result");
    let _second = join(ladder.address, 2).await;
    first.offer(3).await;
    let refused = first.read().await.unwrap();
    assert_eq!((&refused["code"], &refused["id"]), (&json!("too_many_requests"), &json!("offer-3")));
    let mut third = dial(ladder.address, 3).await;
    third.offer(1).await;
    let refused = third.read().await.unwrap();
    assert_eq!((&refused["code"], &refused["fatal"]), (&json!("too_many_connections"), &json!(true)));
    assert!(third.read().await.is_none(), "its connection is closed");
    // Whoever is there stays.
    first.offer(4).await;
    assert_eq!(first.read().await.unwrap()["code"], "too_many_requests");
    drop((first, third));
    ladder.close().await;
}
