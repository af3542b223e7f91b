//! A bot for every game: it plays any legal move. `rustc bot.rs && ./bot`
//! Rust's library has no JSON; `id` stands first in the line and `x_legal` last, so it looks for both.

use std::hash::{BuildHasher, RandomState};
use std::io::stdin;

fn main() {
    for line in stdin().lines().map_while(Result::ok) {
        let id = between(&line, r#""id":""#, r#"""#).unwrap_or_default();
        let legal = between(&line, r#""x_legal":[""#, r#""]"#);
        match legal.filter(|_| line.contains(r#""cmd":"go""#)) {
            Some(legal) => {
                let moves: Vec<&str> = legal.split(r#"",""#).collect();
                // The library has no random numbers, but its hash tables draw their keys.
                let random = RandomState::new().hash_one(id) as usize;
                println!(r#"{{"id":"{id}","type":"bestmove","move":"{}"}}"#, moves[random % moves.len()]);
            }
            None => println!(r#"{{"id":"{id}","type":"error","code":"unknown_cmd"}}"#),
        }
    }
}

fn between<'l>(line: &'l str, before: &str, after: &str) -> Option<&'l str> {
    Some(line.split_once(before)?.1.split_once(after)?.0)
}
