//! A bot that is played by hand: a test sees what it is asked, and answers when it wants to.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::common::TIMEOUT;

pub(super) struct Hand {
    stream: TcpStream,
    /// What it is asked, but for pings, which are answered.
    asked: Receiver<Value>,
    /// What its offer was answered.
    pub(super) offered: Value,
}

impl Hand {
    /// Dials, and offers one game at a time.
    pub(super) fn dial(address: SocketAddr, token: &str) -> Self {
        let token = std::fs::read_to_string(token).unwrap().trim().to_owned();
        let offer = json!({
            "id": "offer", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": token, "legal": true,
            "concurrency": 1,
        });
        let stream = TcpStream::connect(address).unwrap();
        let (mut out, input) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
        writeln!(&stream, "{offer}").unwrap();
        let (sender, asked) = channel();
        thread::spawn(move || {
            for line in BufReader::new(input).lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap();
                if message["cmd"] == "ping" {
                    // The ladder may have gone.
                    let _gone =
                        writeln!(out, "{}", json!({ "id": message["id"], "type": "result", "of": "ping" }));
                } else if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut hand = Self { stream, asked, offered: Value::Null };
        hand.offered = hand.next();
        assert_eq!(hand.offered["of"], "offer", "{}", hand.offered);
        hand
    }

    /// The next message.
    pub(super) fn next(&self) -> Value {
        self.asked.recv_timeout(TIMEOUT).expect("the ladder asks for something")
    }

    /// The next question, which is for a move.
    pub(super) fn asked(&self) -> Value {
        let go = self.next();
        assert_eq!(go["cmd"], "go", "{go}");
        go
    }

    /// Answers a question with the first legal move.
    pub(super) fn answer(&self, go: &Value) {
        let best = json!({ "id": go["id"], "type": "bestmove", "move": go["x_legal"][0] });
        writeln!(&self.stream, "{best}").unwrap();
    }

    /// Plays on until a game is over, which it learns.
    pub(super) fn play_out(&self) -> Value {
        loop {
            let message = self.next();
            match message["cmd"].as_str() {
                Some("go") => self.answer(&message),
                Some("over") => return message,
                _ => panic!("{message}"),
            }
        }
    }

    /// Breaks the connection.
    pub(super) fn hang_up(self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
}
