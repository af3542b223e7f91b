//! One game: the referee's questions go to the bots' connections or to the house, whatever comes back is
//! judged, and what happens is taken down.
//!
//! A bot whose connection breaks may come back: its clock runs on, and it is asked again with the time that
//! it has spent. One that is overloaded has its own clock against it: a ladder need not be fair to that. A
//! game that the ladder itself has left, because it was stopped or killed, goes on where the recorder had it,
//! with the clocks of then.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_arena::referee::{
    Ask, ForfeitKind, ForfeitReason, Manner, Play, Question, Reply, Step, Terms, Turn, Verdict,
};
use plyd_arena::{Entrant, PlayedGame, Strictness, TimeControl};
use plyd_core::play::Position;
use plyd_protocol::{Player, Record, Seed, Settings};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout_at};

use super::bots::{Bots, SeatGuard};
use super::house::{House, HousePlayer};
use super::line;
use super::link::{Closed, ClosedKind, Link};
use super::recorder::{Recorder, Stopped};
use crate::game::{GameEnd, Line, Seated, Speaker};
use crate::live::{LiveGame, LiveTurn};
use crate::terms::{PoolClock, whole_ms};
use crate::{BotId, GameId, PoolId, now_ms};

/// Longer than any game.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// What a table needs. A copy is of the same bots, house and recorder.
#[derive(Clone, Debug)]
pub struct Table {
    /// Who is there.
    pub bots: Arc<Bots>,
    /// Where house players think.
    pub house: Arc<House>,
    /// Where it is taken down.
    pub recorder: Recorder,
}

/// A game that is to be played.
pub struct Game {
    /// Which one.
    pub id: GameId,
    /// Its pool.
    pub pool: PoolId,
    /// The seed that its record names.
    pub seed: Seed,
    /// Who plays: p1, then p2.
    pub players: [Seat; 2],
    /// How the record names them: the index is the bot's number.
    pub entrants: [Entrant; 2],
    /// On what terms. A house player has no clock: limited by nodes it is as strong on a slow machine.
    pub terms: Terms,
    /// How much time bots are granted for the network.
    pub network: Network,
    /// Whether the ladder has left it; none: it is a new one.
    pub resumed: Option<Resumed>,
    /// Brings the reason if it shall not count, in the middle of it; none: nobody can say so.
    pub voided: Option<oneshot::Receiver<String>>,
}

/// Who plays a side.
pub enum Seat {
    /// A bot, which has a place in this game until it knows of the end.
    Bot(Arc<SeatGuard>),
    /// A player of the house.
    House(HousePlayer),
}

impl Seat {
    /// The bot; none for a player of the house.
    fn bot(&self) -> Option<BotId> {
        match self {
            Self::Bot(seated) => Some(seated.bot()),
            Self::House(_) => None,
        }
    }
}

/// Time that is granted to a bot because its lines need time on their way: the least round trip that was
/// measured, within these bounds, because a bot can delay its answers to pings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Network {
    /// The most for a move.
    pub most_of_move: Duration,
    /// The most for a game, for each player.
    pub most_of_game: Duration,
}

impl Network {
    /// Takes the way of the lines off the time of a reply; so much was granted in the game before.
    fn grant(self, reply: Reply, way: Option<Duration>, before: Duration) -> Reply {
        let left = self.most_of_game.saturating_sub(before);
        let granted = way.unwrap_or_default().min(reply.time).min(self.most_of_move).min(left);
        let time = reply.time - granted;
        Reply { time, granted: (!granted.is_zero()).then_some(granted), ..reply }
    }
}

/// A game that the ladder has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resumed {
    /// What was played.
    pub turns: Vec<Turn>,
    /// Until when to wait for each bot to come back before its clock runs. If neither came, the game does not
    /// count then; one that stays away alone loses by its clock.
    pub back_by: Instant,
}

/// Why a player gives no reply.
enum Trouble {
    /// It forfeits.
    Forfeit(ForfeitReason),
    /// The game does not count.
    Void(String),
    /// The ladder stops.
    Stopped,
}

impl Table {
    /// Plays a game to its end, which is kept when this is done. One whose rules panic does not count.
    ///
    /// # Errors
    /// The ladder stops; the game can be resumed.
    pub async fn play(&self, mut game: Game) -> Result<GameEnd, Stopped> {
        let head = Head::of(&game);
        // Held until they know of the end, or a game more than they offered could begin before.
        let _places = game.players.each_ref().map(|seat| match seat {
            Seat::Bot(place) => Some(Arc::clone(place)),
            Seat::House(_) => None,
        });
        let voided = game.voided.take();
        let voided = async {
            match voided {
                Some(voided) => voided.await,
                None => std::future::pending().await,
            }
        };
        // A task of its own, of which a panic is seen here and ends nothing else. It ends with this.
        let mut task = JoinSet::new();
        let table = self.clone();
        task.spawn(async move { table.referee(game).await });
        let refereed = tokio::select! {
            // One that shall not count before it begins never begins.
            biased;
            Ok(why) = voided => Ok(head.void(self, why)),
            joined = task.join_next() => match joined {
                Some(Ok(refereed)) => refereed,
                Some(Err(error)) if error.is_panic() => Ok(head.broken(self, error)),
                // The runtime ends.
                Some(Err(_)) | None => Err(Stopped),
            },
        };
        // What is left of it asks nobody any more.
        task.shutdown().await;
        let ended = match refereed {
            Ok(end) => self.recorder.ended(&end).await.map(|()| end),
            Err(Stopped) => Err(Stopped),
        };
        let end = ended.inspect_err(|_| self.recorder.live().left(head.id))?;
        for (bot, player) in head.bots.into_iter().zip([Player::P1, Player::P2]) {
            if let Some(bot) = bot
                && let Ok(Some((link, _))) = self.bots.find(bot)
            {
                announce(&link, &end, player, self.next(bot, end.id()).as_deref()).await;
            }
        }
        Ok(end)
    }

    /// The game that follows for a bot: the second one of a pair has its places before the first one gives
    /// its own back.
    fn next(&self, bot: BotId, ended: GameId) -> Option<String> {
        let next = ended.partner().name();
        (!ended.is_second() && self.bots.plays(bot, &next)).then_some(next)
    }

    /// Announces to its bots that a game that was arranged for them does not begin.
    pub async fn call_off(&self, id: GameId, game: &str, players: [BotId; 2], why: &str) {
        for bot in players {
            if let Ok(Some((link, _))) = self.bots.find(bot) {
                let (name, record) = (id.name(), unseen(game));
                drop(link.ask(|id| line::over(id, &name, "void", why, &record, None)).await);
            }
        }
    }

    /// Referees a game to its end.
    async fn referee(&self, game: Game) -> Result<GameEnd, Stopped> {
        let Game { id, pool, seed, mut players, entrants, mut terms, network, resumed, .. } = game;
        for (seat, control) in players.iter().zip(&mut terms.controls) {
            if matches!(seat, Seat::House(_)) {
                *control = TimeControl::Unlimited;
            }
        }
        let Strictness { timeout, margin, .. } = terms.strictness;
        let (turns, back_by) = match resumed {
            Some(resumed) => (resumed.turns, Some(resumed.back_by)),
            None => (Vec::new(), None),
        };
        let bots = players.each_ref().map(Seat::bot);
        let seated = entrants.each_ref().map(|entrant| Seated {
            bot: BotId(u64::try_from(entrant.index).unwrap_or(u64::MAX)),
            name: entrant.name.clone(),
        });
        let (mut play, mut void, live) = blocking(move || {
            let fresh = terms.clone();
            let (play, void) = match Play::resume(terms, &turns) {
                Ok(play) => (play, None),
                Err(error) => (Play::new(fresh.clone()), Some(format!("it cannot go on: {error}"))),
            };
            let live = LiveGame {
                id,
                pool,
                players: seated,
                clocks: fresh.controls.map(PoolClock::of),
                record: play.record(),
                opening: fresh.opening.played().len(),
                answers: play.answers().to_vec(),
                text: play.root().text(),
                to_move: to_move(&play),
                since_ms: now_ms(),
            };
            (play, void, live)
        })
        .await;
        self.recorder.began(live);
        let mut running = Running {
            table: self,
            name: id.name(),
            network,
            timeout,
            margin,
            bots,
            awaited: [back_by; 2],
            began: Instant::now(),
            conversations: [const { VecDeque::new() }; 2],
        };
        while void.is_none()
            && let Step::Ask(ask) = play.step()
        {
            let player = ask.player;
            let chosen;
            (play, chosen) = match &mut players[side(player)] {
                Seat::Bot(seated) => running.ask(play, ask, seated.bot()).await,
                Seat::House(seat) => running.house(play, seat).await,
            };
            match chosen {
                Ok(reply) => {
                    let turn;
                    (play, turn) = blocking(move || answered(play, reply, id)).await;
                    if let Some(turn) = turn {
                        self.recorder.turn(turn).await?;
                    }
                }
                Err(Trouble::Forfeit(reason)) => play.fail(player, reason),
                Err(Trouble::Void(why)) => void = Some(why),
                Err(Trouble::Stopped) => return Err(Stopped),
            }
        }
        let conversations = running.conversations.map(Vec::from);
        let mut played = play.into_played(number(id), seed, entrants);
        if void.is_some() {
            played.record.result = None;
        }
        Ok(GameEnd { played, void, conversations })
    }
}

/// Takes a reply; gives the turn that it is, unless the player forfeits by it.
fn answered(mut play: Play, reply: Reply, game: GameId) -> (Play, Option<LiveTurn>) {
    let before = play.root().played().len();
    let Ok(turn) = play.answer(reply, || None) else { return (play, None) };
    let turn = LiveTurn {
        game,
        index: play.answers().len() - 1,
        turn,
        plies: play.root().played()[before..].to_vec(),
        text: play.root().text(),
        to_move: to_move(&play),
        at_ms: now_ms(),
    };
    (play, Some(turn))
}

fn to_move(play: &Play) -> Option<Player> {
    match play.step() {
        Step::Ask(ask) => Some(ask.player),
        Step::Over(_) => None,
    }
}

/// What is known of a game whatever happens at its table.
struct Head {
    id: GameId,
    seed: Seed,
    entrants: [Entrant; 2],
    strictness: Strictness,
    game: &'static str,
    /// None for a player of the house.
    bots: [Option<BotId>; 2],
}

impl Head {
    fn of(game: &Game) -> Self {
        Self {
            id: game.id,
            seed: game.seed,
            entrants: game.entrants.clone(),
            strictness: game.terms.strictness,
            game: game.terms.opening.entry().name,
            bots: game.players.each_ref().map(Seat::bot),
        }
    }

    /// The end of a game whose rules panicked.
    fn broken(&self, table: &Table, error: JoinError) -> GameEnd {
        let panic = error.into_panic();
        let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "without a word".to_owned(),
        };
        self.void(table, format!("the ladder's rules of the game broke: {message}"))
    }

    /// The end of a game that does not count: what spectators have seen of it, and why.
    fn void(&self, table: &Table, why: String) -> GameEnd {
        let (record, opening, answers) = match table.recorder.live().game(self.id) {
            Some(seen) => (seen.record.clone(), seen.opening, seen.answers.clone()),
            None => (unseen(self.game), 0, Vec::new()),
        };
        let played = PlayedGame {
            record,
            number: number(self.id),
            seed: self.seed,
            terms: self.strictness,
            part: None,
            players: self.entrants.clone(),
            opening,
            answers,
            forfeit: None,
            contradictions: Vec::new(),
        };
        GameEnd { void: Some(why), ..GameEnd::of(played) }
    }
}

/// A game that is being played.
struct Running<'t> {
    table: &'t Table,
    name: String,
    network: Network,
    /// How long to wait for an answer beyond its clock.
    timeout: Duration,
    /// How much later than its clock an answer may come.
    margin: Duration,
    /// None for a player of the house.
    bots: [Option<BotId>; 2],
    /// Until when to wait for each side's bot without its clock, until it was there once.
    awaited: [Option<Instant>; 2],
    began: Instant,
    conversations: [VecDeque<Line>; 2],
}

impl Running<'_> {
    /// Asks a bot for its move, until there is a reply or there will be none.
    async fn ask(&mut self, play: Play, ask: Ask, bot: BotId) -> (Play, Result<Reply, Trouble>) {
        let mut play = Some(play);
        let reply = self.reply(&mut play, ask, bot).await;
        (play.expect("it is given back"), reply)
    }

    async fn reply(&mut self, play: &mut Option<Play>, ask: Ask, bot: BotId) -> Result<Reply, Trouble> {
        let player = ask.player;
        let bots = Arc::clone(&self.table.bots);
        if let Some(back_by) = self.awaited[side(player)].take() {
            match timeout_at(back_by.into(), bots.wait(bot)).await {
                Ok(Ok(_)) => {}
                Ok(Err(why)) => return Err(disabled(&why)),
                // Its clock runs from now on, or a bot that is losing would do well to stay away.
                Err(_) if self.has_anybody_come() => {}
                Err(_) => return Err(Trouble::Void("neither bot came back to it".to_owned())),
            }
        }
        let granted = self.granted(play.as_ref(), player);
        let wants = |found: Result<Option<(Link, bool)>, String>| found.map_err(|why| disabled(&why));
        let mut legal = wants(bots.find(bot))?.is_some_and(|(_, legal)| legal);
        let mut question = self.question(play, &ask, legal).await;
        let clock = ask.allowed.map(|allowed| allowed + self.margin + self.network.most_of_move);
        // Why its connection broke, until it has heard of the question again.
        let mut broke = None;
        let away = |broke: Option<String>| {
            let message = broke.unwrap_or_else(|| "it was not there".to_owned());
            Trouble::Forfeit(ForfeitReason::new(ForfeitKind::Crash, message))
        };
        // Its clock ran meanwhile; without one, so did the time that any answer may take.
        let overloaded = |message: &str| {
            let kind = if ask.allowed.is_some() { ForfeitKind::Late } else { ForfeitKind::Timeout };
            Trouble::Forfeit(ForfeitReason::new(kind, format!("it was overloaded {message}")))
        };
        // When it was asked first, or should have been.
        let mut first: Option<Instant> = None;
        loop {
            let back_by = later(first.unwrap_or_else(Instant::now), clock.unwrap_or(self.timeout));
            if broke.is_some() && first.is_some() && Instant::now() >= back_by {
                return Err(away(broke));
            }
            let (link, wants_legal) = match wants(bots.find(bot))? {
                Some(found) => found,
                None => {
                    // The clock runs although nobody is there.
                    let now = Instant::now();
                    question.sent(now);
                    first.get_or_insert(now);
                    match timeout_at(back_by.into(), bots.wait(bot)).await {
                        Ok(found) => found.map_err(|why| disabled(&why))?,
                        Err(_) => return Err(away(broke)),
                    }
                }
            };
            if wants_legal != legal {
                legal = wants_legal;
                question = self.question(play, &ask, legal).await;
                if let Some(first) = first {
                    question.sent(first);
                }
            }
            question.renew(Instant::now());
            let name = &self.name;
            let mut asked = link.ask(|id| line::go(id, name, question.command(), question.legal())).await;
            let sent = match asked.sent().await {
                Ok(sent) => sent,
                Err(closed) => {
                    broke = Some(broken(closed)?);
                    continue;
                }
            };
            self.note(player, Speaker::Ladder, asked.line());
            question.sent(sent);
            let by = *first.get_or_insert(sent);
            let answer_by = later(by, clock.unwrap_or_default().saturating_add(self.timeout));
            let heard = match timeout_at(answer_by.into(), asked.heard()).await {
                Ok(Ok(heard)) => heard,
                Ok(Err(closed)) => {
                    broke = Some(broken(closed)?);
                    continue;
                }
                Err(_) => {
                    let message = "no answer came";
                    return Err(Trouble::Forfeit(ForfeitReason::new(ForfeitKind::Timeout, message)));
                }
            };
            broke = None;
            self.note(player, Speaker::Bot, &heard.line);
            match question.hear(heard.said, heard.at) {
                Verdict::Reply(reply) => return Ok(self.network.grant(reply, link.round_trip(), granted)),
                Verdict::Again { pause, overloaded: message } => {
                    sleep(pause).await;
                    if !question.has_time(Instant::now()) {
                        return Err(overloaded(&message));
                    }
                }
                Verdict::Overloaded(message) => return Err(overloaded(&message)),
                Verdict::Forfeit(reason) => return Err(Trouble::Forfeit(reason)),
            }
        }
    }

    /// The question for a bot that wants the legal moves or not.
    async fn question(&self, play: &mut Option<Play>, ask: &Ask, legal: bool) -> Question {
        let held = play.take().expect("it was given back");
        let (ask, timeout) = (ask.clone(), self.timeout);
        let (held, question) = blocking(move || {
            let question = Question::new(&held, ask, &Manner { legal, ..Manner::default() }, timeout);
            (held, question)
        })
        .await;
        *play = Some(held);
        question
    }

    /// Lets a player of the house choose a move.
    async fn house(&self, play: Play, seat: &mut HousePlayer) -> (Play, Result<Reply, Trouble>) {
        let (play, position) = blocking(move || {
            let position = play.root().extend(&[]).expect("no move is no illegal one");
            (play, Position::from(position))
        })
        .await;
        let chosen = self.table.house.choose(seat.take(), position).await;
        let reply = match chosen {
            Ok((player, reply)) => {
                *seat = player;
                Ok(reply)
            }
            Err(why) => Err(Trouble::Void(format!("a player of the house failed: {why}"))),
        };
        (play, reply)
    }

    /// Whether a bot came back to the game, or the house is there, which never leaves.
    fn has_anybody_come(&self) -> bool {
        self.bots.iter().any(|bot| bot.is_none_or(|bot| self.table.bots.has_come(bot)))
    }

    /// What a player was granted so far.
    fn granted(&self, play: Option<&Play>, player: Player) -> Duration {
        let answers = play.map(Play::answers).unwrap_or_default();
        let own = answers.iter().filter(|answered| answered.player == player);
        Duration::from_micros(own.filter_map(|answered| answered.granted_us).sum())
    }

    /// Keeps a line of a conversation.
    fn note(&mut self, player: Player, by: Speaker, line: &[u8]) {
        let conversation = &mut self.conversations[side(player)];
        if conversation.len() == Line::MOST {
            conversation.pop_front();
        }
        let at_ms = whole_ms(self.began.elapsed());
        conversation.push_back(Line::new(by, at_ms, line));
    }
}

/// Why a bot's connection broke, if the bot may come back.
fn broken(closed: Closed) -> Result<String, Trouble> {
    match closed.kind {
        ClosedKind::Broken | ClosedKind::Replaced => {
            Ok(format!("its connection broke, and it was not back in time: {}", closed.message))
        }
        ClosedKind::Unread | ClosedKind::Garbled => Err(closed
            .forfeit_reason()
            .map_or_else(|| Trouble::Void(closed.message.clone()), Trouble::Forfeit)),
        ClosedKind::Forbidden => Err(disabled(&closed.message)),
        ClosedKind::Stopped => Err(Trouble::Stopped),
    }
}

/// A bot that is disabled loses what it plays: its owner, who may disable it, shall not save a game by that.
fn disabled(why: &str) -> Trouble {
    Trouble::Forfeit(ForfeitReason::new(ForfeitKind::Crash, format!("it was disabled: {why}")))
}

/// Announces to a player how its game ended, and which one begins for it now. Whether it understands that
/// does not matter.
async fn announce(link: &Link, end: &GameEnd, player: Player, next: Option<&str>) {
    let result = end.played.record.result.as_ref();
    let message = match (&end.void, &end.played.forfeit, result) {
        (Some(why), ..) => why.clone(),
        (None, Some(forfeit), _) => forfeit.reason.to_string(),
        (None, None, result) => result.map(|result| result.by.clone()).unwrap_or_default(),
    };
    let outcome = line::outcome(result, player);
    let name = end.id().name();
    let over = |id: &str| line::over(id, &name, outcome, &message, &end.played.record, next);
    drop(link.ask(over).await);
}

/// The record of a game that nobody saw begin.
fn unseen(game: &str) -> Record {
    Record {
        record: Record::VERSION,
        game: game.to_owned(),
        rules: Settings::new(),
        start: String::new(),
        moves: Vec::new(),
        result: None,
    }
}

/// The number of a game in its record.
fn number(id: GameId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}

/// Computes rules where no line waits for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime ends, and this with it.
        Err(_) => std::future::pending().await,
    }
}

/// An instant after another.
pub(crate) fn later(at: Instant, time: Duration) -> Instant {
    at + time.min(FOREVER)
}

/// A side as an index: p1 is 0.
fn side(player: Player) -> usize {
    usize::from(player == Player::P2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_is_granted_within_its_bounds() {
        let ms = Duration::from_millis;
        let network = Network { most_of_move: ms(50), most_of_game: ms(200) };
        // The time of the reply, the round trip, what was granted before; the time that counts and the grant.
        for (time, way, before, expected, granted) in [
            (100, Some(20), 0, 80, Some(20)),
            (100, None, 0, 100, None),
            (100, Some(0), 0, 100, None),
            (10, Some(20), 0, 0, Some(10)),
            (100, Some(70), 0, 50, Some(50)),
            (100, Some(20), 190, 90, Some(10)),
            (100, Some(20), 200, 100, None),
            (100, Some(20), 900, 100, None),
        ] {
            let reply = network.grant(Reply::new("1", ms(time)), way.map(ms), ms(before));
            assert_eq!((reply.time, reply.granted), (ms(expected), granted.map(ms)), "{time} {way:?}");
        }
        let none = Network::default().grant(Reply::new("1", ms(9)), Some(ms(5)), ms(0));
        assert_eq!((none.time, none.granted), (ms(9), None));
    }
}
