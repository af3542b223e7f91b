//! `plyd arena --html`, and the end of `--watch`: a match as one file that a browser shows without a network:
//! figures, charts, and games to step through.
//!
//! The file holds one JSON object and scripts that draw it. Boards are drawn by the modules of the page of
//! `plyd gui`, which are in the file as they are, but for how they name each other.

mod delta;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plyd_protocol::{Player, Score};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::report::Report;
use super::reviews::MatchReview;
use crate::arena::{Header, PlayedGame};
use crate::bridge;
use crate::cli::failure::Failure;
use crate::cli::review::{mark_name, mark_words};
use crate::cli::words::label;
use crate::daemon::page::{self, Page};
use crate::engine::AnyRoot;
use crate::engine::settings;
use crate::review::{Mark, ReviewedMove};

/// The most games that can be stepped through, and the most bytes of their boards: more would make a file
/// that browsers are slow to open.
const GAMES: usize = 200;
const BYTES: usize = 8 << 20;

/// What draws boards, of the page of `plyd gui`; the look of the match's game comes with it.
const MODULES: [&str; 11] = [
    "board.js",
    "changes.js",
    "dom.js",
    "download.js",
    "graph.js",
    "looks.js",
    "motion.js",
    "pieces.js",
    "preferences.js",
    "symmetry.js",
    "words.js",
];

/// The report's own, which name those and each other as if all were in one folder.
const OWN: [(&str, &str); 7] = [
    ("charts.js", include_str!("charts.js")),
    ("evaluations.js", include_str!("evaluations.js")),
    ("figures.js", include_str!("figures.js")),
    ("games.js", include_str!("games.js")),
    ("headline.js", include_str!("headline.js")),
    ("replay.js", include_str!("replay.js")),
    ("slide.js", include_str!("slide.js")),
];

/// What puts the page together.
const SCRIPT: &str = include_str!("report.js");

/// What the page needs of a match's games beside the report, gathered as they end.
#[derive(Debug, Default)]
pub(super) struct Gallery {
    /// Those with faults, and the first ones.
    shown: Vec<PlayedGame>,
    /// Games by their moves.
    lengths: BTreeMap<usize, u64>,
}

impl Gallery {
    /// Records a game. Of too many those are shown that have a fault, and then the first ones.
    pub(super) fn add(&mut self, game: &PlayedGame) {
        *self.lengths.entry(game.answers.len()).or_default() += 1;
        if self.shown.len() < GAMES {
            self.shown.push(game.clone());
        } else if let Some(last) = self.shown.iter_mut().max_by_key(|game| place(game))
            && place(game) < place(last)
        {
            *last = game.clone();
        }
    }

    /// The page.
    ///
    /// # Errors
    /// A game whose record does not open.
    pub(super) fn page(mut self, header: &Header, report: &Report<'_>) -> Result<String, Failure> {
        self.shown.sort_by_key(place);
        let (mut games, mut bytes) = (Vec::new(), 0);
        for game in &self.shown {
            let game = Shown::new(header, game, report.review)?;
            bytes += game.boards.iter().map(|board| board.get().len()).sum::<usize>();
            if bytes > BYTES {
                break;
            }
            games.push(game);
        }
        games.sort_by_key(|game| game.number);
        let named = |mark: Mark| (mark.name(), mark_name(mark));
        let errors = report.review.map(|review| review.errors().map(named).collect());
        let data = Data { report, games, lengths: &self.lengths, errors };
        let look = page::look(header.game);
        Ok(page(look, &serde_json::to_string(&data).map_err(std::io::Error::from)?))
    }
}

/// The order in which games are taken.
fn place(game: &PlayedGame) -> (bool, usize) {
    (!is_faulty(game), game.number)
}

/// Whether the game shows something about a player that its result does not.
fn is_faulty(game: &PlayedGame) -> bool {
    game.forfeit.is_some() || !game.contradictions.is_empty()
}

/// All that the page's script reads.
#[derive(Serialize)]
struct Data<'m> {
    report: &'m Report<'m>,
    games: Vec<Shown<'m>>,
    lengths: &'m BTreeMap<usize, u64>,
    /// The marks of a review that were given for errors, with their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<(&'static str, &'static str)>>,
}

/// A game to step through.
#[derive(Serialize)]
struct Shown<'m> {
    number: usize,
    players: [&'m str; 2],
    opening: usize,
    moves: &'m [String],
    /// By ply, what its player said; none for the opening and for chance.
    answers: Vec<Option<ShownReply>>,
    /// By ply, what a review says of it; none for the opening and for chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Vec<Option<ShownMark>>>,
    /// Who won; none: a draw, or nobody says.
    winner: Option<Player>,
    /// How it ended, as records name it: an ending of the game, or the kind of a forfeit.
    by: &'m str,
    /// How it ended, for people.
    end: String,
    fault: bool,
    /// The board before the first ply, then for each ply what it changes.
    boards: Vec<Box<RawValue>>,
}

/// What a player said with a move.
#[derive(Serialize)]
struct ShownReply {
    player: Player,
    time_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Score>,
}

/// What a review says of a move.
#[derive(Serialize)]
struct ShownMark {
    /// In words, with the better move.
    text: String,
    /// Whether there was a better move, and whether that is proven.
    error: bool,
    proven: bool,
}

impl ShownMark {
    fn new(reviewed: &ReviewedMove) -> Self {
        let mut text = mark_words(reviewed);
        if let Some(better) = &reviewed.better {
            let _never_fails = write!(text, "; better: {}", better.mv());
        }
        Self { text, error: reviewed.mark.is_error(), proven: reviewed.mark.is_proven() }
    }
}

impl<'m> Shown<'m> {
    fn new(header: &Header, game: &'m PlayedGame, review: Option<&MatchReview>) -> Result<Self, Failure> {
        let record = &game.record;
        let rules = settings::rules(header.game, &bridge::given(&record.rules), header.seed.0)?;
        let mut root = settings::open(header.game, &rules, Some(&record.start))?;
        let mut boards = Vec::with_capacity(record.moves.len() + 1);
        let mut last = board(root.as_ref());
        boards.push(written(&last));
        for mv in &record.moves {
            root = root.extend(std::slice::from_ref(mv))?;
            let next = board(root.as_ref());
            boards.push(written(&delta::delta(&last, &next)));
            last = next;
        }
        let mut said = game.answers.iter();
        let answers = record.moves.iter().enumerate().map(|(ply, mv)| {
            let asked = ply >= game.opening && !mv.starts_with('~');
            let answered = asked.then(|| said.next()).flatten()?;
            Some(ShownReply { player: answered.player, time_us: answered.time_us, score: answered.score })
        });
        Ok(Self {
            number: game.number,
            players: [0, 1].map(|side| label(&game.players[side].name)),
            opening: game.opening,
            moves: &record.moves,
            answers: answers.collect(),
            marks: review.map(|review| {
                (0..record.moves.len()).map(|ply| review.at(game.number, ply).map(ShownMark::new)).collect()
            }),
            winner: record.result.as_ref().and_then(|outcome| outcome.winner),
            by: record.result.as_ref().map_or("", |outcome| &outcome.by),
            end: end(game),
            fault: is_faulty(game),
            boards,
        })
    }
}

fn board(root: &dyn AnyRoot) -> Value {
    serde_json::to_value(bridge::board(root.board())).expect("a board is plain data")
}

fn written(board: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(board).expect("a board is plain data")
}

/// How a game ended, in words.
fn end(game: &PlayedGame) -> String {
    let outcome = game.record.result.as_ref();
    let mut text = match outcome.and_then(|outcome| outcome.winner) {
        None => "draw".to_owned(),
        Some(winner) => format!("{} wins", label(&game.entrant(winner).name)),
    };
    if let Some(outcome) = outcome {
        let _never_fails = write!(text, ", {}", outcome.by);
        if let Some([p1, p2]) = outcome.scores {
            let _never_fails = write!(text, " {p1} : {p2}");
        }
    }
    if let Some(forfeit) = &game.forfeit {
        let _never_fails = write!(text, " ({})", forfeit.reason.message);
    }
    for contradiction in &game.contradictions {
        let player = label(&game.entrant(contradiction.player).name);
        let _never_fails = write!(text, "; {player} {}", contradiction.message);
    }
    text
}

/// The page around its data, with the look of its game.
fn page(look: &str, data: &str) -> String {
    let style = format!("{}\n{}", source("style.css"), include_str!("report.css"));
    let mut imports: BTreeMap<String, String> =
        modules().map(|(path, text)| (named(path), as_url(&renamed(text)))).collect();
    imports.insert(named("look.js"), as_url(look));
    let imports = serde_json::json!({ "imports": imports }).to_string();
    let mut page = include_str!("page.html").to_owned();
    for (place, text) in [
        ("{{style}}", &*style),
        ("{{imports}}", &*imports.replace('<', "\\u003c")),
        ("{{script}}", &*renamed(SCRIPT)),
        // Last, so that nothing in it is taken for a place; and no text of a player ends the element.
        ("{{data}}", &*data.replace('<', "\\u003c")),
    ] {
        page = page.replacen(place, text, 1);
    }
    page
}

/// The modules by their names.
fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    MODULES.iter().map(|path| (*path, source(path))).chain(OWN)
}

/// A file of the page of `plyd gui`.
fn source(path: &str) -> &'static str {
    let content = Page::new(&[]).content(&format!("/{path}")).expect("the tests look for each of them");
    std::str::from_utf8(content.bytes).expect("the files of the page are texts")
}

/// The name under which scripts of the report import a module.
fn named(path: &str) -> String {
    format!("plyd/{path}")
}

/// A module that names others as the report does: a data URL has no place from which `./` could lead
/// anywhere.
fn renamed(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for line in source.lines() {
        let import =
            line.strip_prefix("import ").and_then(|rest| rest.strip_suffix("';")?.split_once(" from '"));
        let _never_fails = match import {
            Some((names, place)) => {
                let place = place.strip_prefix("./").unwrap_or(place);
                writeln!(out, "import {names} from '{}';", named(place))
            }
            None => writeln!(out, "{line}"),
        };
    }
    out
}

/// A script as a URL that is its own content.
fn as_url(script: &str) -> String {
    let mut url = "data:text/javascript;charset=utf-8,".to_owned();
    for byte in script.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'('
            | b')'
            | b'='
            | b','
            | b';' => {
                url.push(char::from(byte));
            }
            _ => {
                let _never_fails = write!(url, "%{byte:02X}");
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn modules_find_each_other_by_name() {
        let known: Vec<String> = modules().map(|(path, _)| named(path)).chain([named("look.js")]).collect();
        assert_eq!(known.iter().collect::<BTreeSet<_>>().len(), known.len(), "no two have one name");
        for (path, text) in modules().chain([("report.js", SCRIPT)]) {
            let text = renamed(text);
            let imports: Vec<&str> = text.lines().filter(|line| line.starts_with("import")).collect();
            for import in &imports {
                let name = import.split('\'').nth(1).unwrap_or_default();
                assert!(known.iter().any(|known| known == name), "{path}: {import}");
            }
            // An import over several lines would be left as it is.
            assert_eq!(text.matches(" from '").count(), imports.len(), "{path}");
        }
    }

    #[test]
    fn no_text_ends_an_element() {
        let page = page("'</script>'", r#"{"name":"</script><script>alert(1)</script>{{script}}"}"#);
        assert!(page.contains(r"\u003c/script>\u003cscript>alert(1)"));
        assert_eq!(page.matches("</script>").count(), 3, "the page's own");
        assert!(
            page.contains(r#""plyd/look.js":"data:text/javascript;charset=utf-8,%27%3C%2Fscript%3E%27""#)
        );
        assert!(page.contains("{{script}}"), "a player's text is no place of the page");
    }

    #[test]
    fn scripts_are_whole_as_urls() {
        assert_eq!(as_url("a = 'é%';\n"), "data:text/javascript;charset=utf-8,a%20=%20%27%C3%A9%25%27;%0A");
    }
}
