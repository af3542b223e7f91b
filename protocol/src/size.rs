//! What requests occupy in memory once they are decoded, so that a server can bound what waits in it.

use crate::{Command, DisconnectTarget, GameRef, Position, Request, Resume, Setting, Settings};

/// The bytes that an allocator adds to a block, and its smallest block.
const BLOCK: usize = 32;
/// What a name and a value take in the nodes of a map, which are half empty at worst.
const SETTING: usize = 160;

/// The heap bytes of a text.
fn text(text: &str) -> usize {
    if text.is_empty() { 0 } else { text.len().next_multiple_of(16) + BLOCK / 2 }
}

fn texts(texts: &Vec<String>) -> usize {
    // The list's capacity, unused slots included.
    texts.capacity() * size_of::<String>() + texts.iter().map(|item| text(item)).sum::<usize>()
}

fn game(game: &GameRef) -> usize {
    match game {
        GameRef::Session { session } => text(session),
        GameRef::Game { game, rules } => text(game) + rules.heap_bytes(),
    }
}

impl Request {
    /// The bytes that the request occupies, those of its allocations included, or a little more.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let of_command = match &self.command {
            Command::Hello(hello) => {
                let of_resume = match &hello.resume {
                    Some(Resume::Take { token, .. }) => text(token),
                    Some(Resume::Keep { .. }) | None => 0,
                };
                hello.token.as_deref().map_or(0, text) + texts(&hello.require) + of_resume
            }
            Command::Ping(ping) => ping.echo.as_deref().map_or(0, text),
            Command::Describe(describe) => describe.game.as_deref().map_or(0, text),
            Command::NewGame(new) => text(&new.game) + new.rules.heap_bytes() + new.options.heap_bytes(),
            Command::SetOption(set) => set.options.heap_bytes(),
            Command::Inspect(inspect) => {
                let of_draft = inspect.draft.as_deref().map_or(0, text);
                game(&inspect.game) + inspect.position.heap_bytes() + inspect.want.len() + of_draft
            }
            Command::Go(go) => {
                let lists = texts(&go.searchmoves) + texts(&go.excludemoves) + go.info.events.len();
                size_of_val(&**go)
                    + game(&go.game)
                    + go.position.heap_bytes()
                    + lists
                    + go.options.heap_bytes()
            }
            Command::Disconnect(disconnect) => match &disconnect.target {
                DisconnectTarget::Connection(_) => 0,
                DisconnectTarget::Client(name) => text(name),
            },
            Command::Close(_)
            | Command::Update(_)
            | Command::Stop(_)
            | Command::Status(_)
            | Command::Connections(_)
            | Command::Quit(_) => 0,
        };
        size_of::<Self>() + text(&self.id) + of_command
    }
}

impl Position {
    /// The bytes that the position's texts occupy on the heap, or a little more.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.start.as_deref().map_or(0, text) + texts(&self.moves)
    }
}

impl Settings {
    /// The bytes that the settings occupy on the heap, or a little more.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let of_value = |value: &Setting| match value {
            Setting::Text(value) => text(value),
            Setting::Bool(_) | Setting::Int(_) => 0,
        };
        self.iter().map(|(name, value)| SETTING + text(name) + of_value(value)).sum()
    }
}

/// At least the bytes that a line's request will occupy, known before it is decoded: its texts, and a place
/// for each element of an array and each field of an object.
#[must_use]
pub fn decoded_bound(line: &[u8]) -> usize {
    let count = |wanted: u8| line.iter().filter(|byte| **byte == wanted).count();
    // A text of one byte occupies a `String` and a block; a list may be full by half.
    let element = 2 * size_of::<String>() + BLOCK;
    // No text is longer than its escaped form in the line.
    size_of::<Request>() + 1024 + line.len() + element * (count(b',') + 1) + 2 * SETTING * count(b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn the_bound_holds_for_what_is_decoded() {
        let go = |moves: &str| {
            format!(
                r#"{{"id":"g","cmd":"go","game":"l-game","position":{{"moves":[{moves}]}},"clock":{{"kind":"none"}}}}"#
            )
        };
        let settings: Vec<String> = (0..5000).map(|n| format!("\"{n:x}\":\"\\u0061\"")).collect();
        for line in [
            go(""),
            go(r#""","#.repeat(20_000).trim_end_matches(',')),
            go(r#""a","#.repeat(20_000).trim_end_matches(',')),
            go(&format!("\"{}\"", "a".repeat(100_000))),
            r#"{"id":"p","cmd":"ping"}"#.to_owned(),
            format!(r#"{{"id":"s","cmd":"setoption","options":{{{}}}}}"#, settings.join(",")),
        ] {
            let request = decode(line.as_bytes()).unwrap();
            let (bound, bytes) = (decoded_bound(line.as_bytes()), request.heap_bytes());
            assert!(bytes <= bound, "{bytes} past {bound}: {}", &line[..60.min(line.len())]);
        }
    }

    #[test]
    fn many_short_texts_are_counted_with_their_places() {
        let moves = vec!["a".to_owned(); 262_144];
        let position = Position { start: None, moves };
        assert!(position.heap_bytes() >= 262_144 * 56);
    }
}
