//! Requests for bots that know no rules.

use plyd_protocol::{MAX_LINE, Request};

/// Writes a request as a line, without its line end, with the legal moves as its last field, `x_legal`. The
/// field is left out if the line would be longer than [`MAX_LINE`]; servers ignore it.
///
/// ```
/// use plyd_client::with_legal;
/// use plyd_protocol::{Command, GameRef, Go, Position, Request, Settings};
///
/// let game = GameRef::Game { game: "isolation".into(), rules: Settings::new() };
/// let command = Command::Go(Box::new(Go::new(game, Position::default())));
/// let line = with_legal(&Request { id: "1".into(), command }, &["e1".into(), "g5".into()]);
/// let line = String::from_utf8(line)?;
/// assert!(line.starts_with(r#"{"id":"1","cmd":"go","#) && line.ends_with(r#","x_legal":["e1","g5"]}"#));
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[must_use]
pub fn with_legal(request: &Request, legal: &[String]) -> Vec<u8> {
    let mut line = serde_json::to_vec(request).expect("requests hold only text keys and integers");
    let moves = serde_json::to_vec(legal).expect("a list of texts is JSON");
    let field = [b",\"x_legal\":", &*moves].concat();
    if line.len() + field.len() <= MAX_LINE {
        line.pop();
        line.extend(field);
        line.push(b'}');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::{Command, GameRef, Go, Position, decode};

    #[test]
    fn moves_come_along_as_long_as_the_line_holds_them_and_servers_skip_them() {
        let game = GameRef::Session { session: "s".into() };
        let clock = Some(plyd_protocol::Clock::None);
        let go = Go { clock, ..Go::new(game, Position::default()) };
        let request = Request { id: "1".into(), command: Command::Go(Box::new(go)) };
        let empty = with_legal(&request, &[String::new()]).len();
        for (length, has_them) in [(MAX_LINE, true), (MAX_LINE + 1, false)] {
            let line = with_legal(&request, &["a".repeat(length - empty)]);
            assert_eq!(line.len() == length, has_them);
            assert_eq!(line.ends_with(br#"a"]}"#), has_them);
            assert_eq!(decode(&line).unwrap(), request);
        }
    }
}
