//! A bot's end of its connection, for the tests of tables and of encounters.

use std::fmt::Display;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf, split,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than any of these tests takes, whatever else the machine does.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A bot that plays by the legal moves that it is sent.
pub(crate) struct Bot<S> {
    pub(crate) lines: Lines<BufReader<ReadHalf<S>>>,
    out: WriteHalf<S>,
    /// What it offers itself with.
    pub(crate) token: String,
    /// What the ladder answered to its first offer.
    pub(crate) taken: Value,
}

impl<S: AsyncRead + AsyncWrite + Send + 'static> Bot<S> {
    /// One that has not offered itself yet.
    pub(crate) fn new(stream: S, token: String) -> Self {
        let (input, out) = split(stream);
        Self { lines: BufReader::new(input).lines(), out, token, taken: Value::Null }
    }

    /// One whose offer was taken.
    pub(crate) async fn join(stream: S, token: String) -> Self {
        let mut bot = Self::new(stream, token);
        bot.offer(4).await;
        bot.taken = bot.read().await.unwrap();
        assert_eq!((&bot.taken["of"], &bot.taken["type"]), (&json!("offer"), &json!("result")));
        bot
    }

    /// Offers itself; it wants the legal moves.
    pub(crate) async fn offer(&mut self, concurrency: u32) {
        let offer = json!({
            "id": format!("offer-{concurrency}"), "cmd": "offer", "protocol": { "min": 1, "max": 1 },
            "token": self.token, "concurrency": concurrency, "legal": true,
        });
        self.write(offer).await;
    }

    pub(crate) async fn write(&mut self, line: impl Display) {
        // The ladder may have closed the connection.
        let _gone = self.out.write_all(format!("{line}\n").as_bytes()).await;
    }

    /// The next line that is no ping, which is answered; nothing at the end.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        loop {
            let line = timeout(LONG, self.lines.next_line()).await.expect("in time").ok()??;
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["cmd"] != "ping" {
                return Some(message);
            }
            self.write(json!({ "id": message["id"], "type": "result" })).await;
        }
    }

    /// Answers with a move.
    pub(crate) async fn best(&mut self, go: &Value, mv: &Value) {
        self.write(json!({ "id": go["id"], "type": "bestmove", "move": mv })).await;
    }

    /// Answers with the first legal move.
    pub(crate) async fn first(&mut self, go: &Value) {
        self.best(go, &go["x_legal"][0]).await;
    }

    /// Plays by the first legal move until one game is over; gives its end.
    pub(crate) async fn play(&mut self) -> Value {
        loop {
            let message = self.read().await.expect("the game is not over");
            match message["cmd"].as_str() {
                Some("go") => self.first(&message).await,
                Some("over") => return message,
                _ => panic!("{message}"),
            }
        }
    }

    /// Plays so many games, at once or one after the other; gives their ends.
    pub(crate) fn plays(mut self, games: usize) -> JoinHandle<Vec<Value>> {
        tokio::spawn(async move {
            let mut ends = Vec::new();
            for _ in 0..games {
                ends.push(self.play().await);
            }
            ends
        })
    }
}
