//! How the players of a game are asked for their moves: a bot until it answers or forfeits, wherever its
//! connection is meanwhile.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_arena::referee::{
    ForfeitKind, ForfeitReason, GoSettings, MoveRequest, Play, Question, Reply, Verdict,
};
use plyd_core::play::Position;
use plyd_protocol::Player;
use tokio::time::{sleep, timeout_at};

use super::{Network, Table, blocking, later};
use crate::BotId;
use crate::game::{Line, Speaker};
use crate::play::house::HousePlayer;
use crate::play::line;
use crate::play::link::{Closed, ClosedKind, Link};
use crate::terms::whole_ms;

/// Why a player gives no reply.
pub(super) enum Trouble {
    /// It forfeits.
    Forfeit(ForfeitReason),
    /// The game does not count.
    Void(String),
    /// The ladder stops.
    Stopped,
}

/// A game that is being played.
pub(super) struct Running<'t> {
    pub(super) table: &'t Table,
    pub(super) name: String,
    pub(super) network: Network,
    /// How long to wait for an answer beyond its clock.
    pub(super) timeout: Duration,
    /// How much later than its clock an answer may come.
    pub(super) margin: Duration,
    /// None for a player of the house.
    pub(super) bots: [Option<BotId>; 2],
    /// Until when to wait for each side's bot without its clock, until it was there once.
    pub(super) awaited: [Option<Instant>; 2],
    pub(super) began: Instant,
    pub(super) conversations: [VecDeque<Line>; 2],
}

impl Running<'_> {
    /// Asks a bot for its move, until there is a reply or there will be none.
    pub(super) async fn ask(
        &mut self,
        play: Play,
        ask: MoveRequest,
        bot: BotId,
    ) -> (Play, Result<Reply, Trouble>) {
        let mut play = Some(play);
        let reply = self.reply(&mut play, ask, bot).await;
        (play.expect("it is given back"), reply)
    }

    async fn reply(
        &mut self,
        play: &mut Option<Play>,
        ask: MoveRequest,
        bot: BotId,
    ) -> Result<Reply, Trouble> {
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
    async fn question(&self, play: &mut Option<Play>, ask: &MoveRequest, legal: bool) -> Question {
        let held = play.take().expect("it was given back");
        let (ask, timeout) = (ask.clone(), self.timeout);
        let (held, question) = blocking(move || {
            let question = Question::new(&held, ask, &GoSettings { legal, ..GoSettings::default() }, timeout);
            (held, question)
        })
        .await;
        *play = Some(held);
        question
    }

    /// Lets a player of the house choose a move.
    pub(super) async fn house(&self, play: Play, seat: &mut HousePlayer) -> (Play, Result<Reply, Trouble>) {
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
    pub(super) fn note(&mut self, player: Player, by: Speaker, line: &[u8]) {
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

/// A side as an index: p1 is 0.
pub(super) fn side(player: Player) -> usize {
    usize::from(player == Player::P2)
}
