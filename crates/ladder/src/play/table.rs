//! One game: the referee's questions go to the bots' connections or to the house, whatever comes back is
//! judged, and what happens is taken down.
//!
//! A bot whose connection breaks may come back: its clock runs on, and it is asked again with the time that
//! it has spent. One that is overloaded has its own clock against it: a ladder need not be fair to that. A
//! game that the ladder itself has left, because it was stopped or killed, goes on where the recorder had it,
//! with the clocks of then.

mod head;
mod running;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_arena::referee::{Play, Reply, Step, Terms, Turn};
use plyd_arena::{Entrant, Strictness, TimeControl};
use plyd_core::engine::Entry;
use plyd_protocol::{Over, OverOutcome, Player, Seed};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, spawn_blocking};

use head::{Head, number, unseen};
use running::{Running, Trouble, side};

use super::bots::{Bots, SeatGuard};
use super::house::{House, HousePlayer};
use super::line;
use super::link::Link;
use super::recorder::{Recorder, Stopped};
use crate::game::{GameEnd, Seated};
use crate::live::{LiveGame, LiveTurn};
use crate::terms::PoolClock;
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

impl Table {
    /// Plays a game to its end, which is kept when this is done. One whose rules panic does not count.
    ///
    /// # Errors
    /// The ladder stops; the game can be resumed.
    pub async fn play(&self, mut game: Game) -> Result<GameEnd, Stopped> {
        let head = Head::of(&game);
        // Held until they know of the end, or a game more than they offered could begin before.
        let [one, other] = game.players.each_ref().map(|seat| match seat {
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
        // At once: a bot that does not read keeps only itself waiting.
        tokio::join!(
            self.announce(&end, head.entry, Player::P1, one),
            self.announce(&end, head.entry, Player::P2, other)
        );
        Ok(end)
    }

    /// Announces to a player how its game ended, and which one begins for it now. Whether it understands that
    /// does not matter.
    async fn announce(&self, end: &GameEnd, entry: &Entry, player: Player, place: Option<Arc<SeatGuard>>) {
        let Some(place) = place else { return };
        let bot = place.bot();
        let result = end.played.record.result.as_ref();
        let message = match (&end.void, &end.played.forfeit, result) {
            (Some(why), ..) => why.clone(),
            (None, Some(forfeit), _) => forfeit.reason.to_string(),
            (None, None, result) => result.map(|result| ending(entry, &result.by)).unwrap_or_default(),
        };
        let over = Over {
            x_game: end.id().name(),
            outcome: line::outcome(result, player),
            message,
            record: Some(end.played.record.clone()),
            next: self.next(bot, end.id()),
        };
        self.see_off(bot, place, |id| line::over(id, &over)).await;
    }

    /// Sends a bot the end of its game, and gives its place back then. A bot that came back before that was
    /// answered that the game goes on, so that it is sent the end over its new connection, too.
    async fn see_off<P>(&self, bot: BotId, place: P, over: impl Fn(&str) -> Vec<u8>) {
        let link = || self.bots.find(bot).ok().flatten().map(|(link, _)| link);
        let before = link();
        if let Some(link) = &before {
            let _gone = link.ask(&over).await.sent().await;
        }
        drop(place);
        let is_new = |link: &Link| before.as_ref().is_none_or(|before| !before.is(link));
        if let Some(link) = link().filter(is_new) {
            drop(link.ask(&over).await);
        }
    }

    /// The game that follows for a bot: the second one of a pair has its places before the first one gives
    /// its own back.
    fn next(&self, bot: BotId, ended: GameId) -> Option<String> {
        let next = ended.partner().name();
        (!ended.is_second() && self.bots.plays(bot, &next)).then_some(next)
    }

    /// Announces to its bots that a game that was arranged for them does not begin.
    pub async fn call_off(&self, id: GameId, game: &str, places: [SeatGuard; 2], why: &str) {
        let over = Over {
            x_game: id.name(),
            outcome: OverOutcome::Void,
            message: why.to_owned(),
            record: Some(unseen(game)),
            next: None,
        };
        let over = |id: &str| line::over(id, &over);
        let [one, other] = places;
        tokio::join!(self.see_off(one.bot(), one, over), self.see_off(other.bot(), other, over));
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

/// How a game ended, for people: what the game says of it as the end of a sentence, or else the word for it.
fn ending(entry: &Entry, by: &str) -> String {
    let Some(ending) = entry.endings.iter().find(|ending| ending.name == by) else { return by.to_owned() };
    let mut rest = ending.about.trim_end_matches('.').chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_are_told_in_words_how_a_game_ended() {
        let told = ["taken", "max_moves"].map(|by| ending(&plyd_core::nim::ENTRY, by));
        assert_eq!(told, ["the last stone is taken", "max_moves"]);
    }

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
