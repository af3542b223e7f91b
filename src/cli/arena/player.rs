//! The text of a player: `default,eval=mobility,time=100ms`, `cmd=/usr/bin/plyd
//! serve,player=default,nodes=5000` or `tcp=localhost:7117,tc=10s+0.1s`.

use std::io::{self, Write};
use std::time::Duration;

use crate::arena::{Address, Player, TimeControl};
use crate::bridge;
use crate::engine::settings;
use crate::engine::{Entry, Place};
use crate::options::COMMON;
use plyd_protocol::{Limit, MAX_INT, MAX_SEARCH_DEPTH, Settings};

use crate::cli::failure::Failure;
use crate::cli::nearest::nearest;
use crate::cli::token_file::read_token;
use crate::cli::words::label;
use crate::cli::{build, clock, own, parse, position};

/// The time for a move of a player that has no limit.
const DEFAULT_TIME: TimeControl = TimeControl::PerMove(Duration::from_millis(100));

/// What says where a player is.
const PLACES: &str = "cmd, tcp, ws, tls, wss or unix";

/// The commonest of the settings that the arena takes itself. No player has one whose name differs from
/// theirs in large letters alone, so that such a name is a mistake.
const OURS: [&str; 5] = ["cmd", "legal", "time", "nodes", "depth"];

/// How like one of them a name is that may be a slip: 1 is equal.
const LIKE: f64 = 0.85;

/// The most players that one text stands for.
const MOST_SPREAD: u32 = 100;

/// Reads a player of a game. Options of our own players are checked; those of other programs are theirs to
/// check.
pub(super) fn player(entry: &Entry, text: &str) -> Result<Player, Failure> {
    read(entry, text).map_err(|message| Failure::Usage(format!("--player {text}: {message}")))
}

/// Checks that no two players are called alike where a name was given.
pub(super) fn check_names(players: &[Player]) -> Result<(), Failure> {
    let labels: Vec<&str> = players.iter().map(|player| label(&player.name)).collect();
    let is_named = |at: usize| labels[at] != players[at].name;
    let again = |at: &usize| {
        labels[..*at]
            .iter()
            .enumerate()
            .any(|(other, name)| *name == labels[*at] && (is_named(other) || is_named(*at)))
    };
    (0..labels.len()).find(again).map_or(Ok(()), |at| {
        Err(Failure::Usage(format!("two players are called `{}`: give each another name=", labels[at])))
    })
}

/// A player for each value if an option is written as `NAME=A..B`, from A to B; the text itself if none
/// is.
pub(super) fn spread(text: &str) -> Result<Vec<String>, Failure> {
    let parts: Vec<&str> = text.split(',').collect();
    // Programs, hosts, files and names may have two dots in them.
    let range = |part: &str| {
        if Address::url(part).is_some() {
            return None;
        }
        let (name, values) = part.split_once('=')?;
        let is_text = ["cmd", "name", "token_file"].contains(&name) || Address::WAYS.contains(&name);
        let (first, last) = values.split_once("..").filter(|_| !is_text && !values.contains('/'))?;
        let bound = |text: &str| text.parse::<u32>().ok();
        let values = bound(first).zip(bound(last));
        Some((name.to_owned(), values.filter(|(first, last)| first <= last && last - first < MOST_SPREAD)))
    };
    let mut ranges = parts.iter().enumerate().filter_map(|(at, part)| Some((at, range(part)?)));
    let Some((at, (name, values))) = ranges.next() else { return Ok(vec![text.to_owned()]) };
    let wrong = |message: String| Err(Failure::Usage(format!("--player {text}: {message}")));
    if ranges.next().is_some() {
        return wrong("one range a player: give --player for each value of the other option".into());
    }
    let Some((first, last)) = values else {
        return wrong(format!(
            "`{}`: a range is A..B, two whole numbers, the least first, of {MOST_SPREAD} values at most",
            parts[at]
        ));
    };
    let player = |value| {
        let part = format!("{name}={value}");
        [&parts[..at], &[&part], &parts[at + 1..]].concat().join(",")
    };
    Ok((first..=last).map(player).collect())
}

fn read(entry: &Entry, text: &str) -> Result<Player, String> {
    let (mut address, mut token, mut time, mut limit) = (None, None, None, Limit::default());
    let mut legal = false;
    let mut options: Vec<(String, String)> = Vec::new();
    let mut names = Vec::new();
    for (index, part) in text.split(',').map(str::trim).enumerate() {
        let url = Address::url(part).map(|(way, place)| (way.to_owned(), place.to_owned()));
        let (name, value) = match url.map_or_else(|| parse::assignment(part), Ok) {
            Ok(setting) => setting,
            Err(_) if index == 0 && !part.is_empty() => ("player".into(), part.into()),
            Err(message) => return Err(format!("`{part}`: {message}")),
        };
        let small = name.to_ascii_lowercase();
        if name != small && OURS.contains(&&*small) {
            return Err(format!("`{part}`: did you mean `{small}`?"));
        }
        if names.contains(&name) {
            return Err(format!("`{name}` is given twice"));
        }
        match &*name {
            "cmd" => set(&mut address, Address::Program(parse::program(&value)?), PLACES)?,
            way if Address::WAYS.contains(&way) => {
                let called = Address::of(way, &value).expect("it is a kind of addresses");
                set(&mut address, called?, PLACES)?;
            }
            "token_file" => {
                let read = read_token(value.as_ref()).map_err(|error| format!("`{part}`: {error}"))?;
                set(&mut token, read, "token_file")?;
            }
            _ if clock::NAMES.contains(&&*name) => {
                let value = if name == "tc" { clock::in_seconds(&value) } else { value };
                let read = clock::clock(&name, &value).map_err(|message| format!("`{part}`: {message}"))?;
                set(&mut time, read, &clock::NAMES.join(" or "))?;
            }
            // Reports find it in the text.
            "name" if value.trim().is_empty() => return Err("`name=`: give a name".into()),
            "name" => {}
            "legal" => legal = value.parse().map_err(|_| format!("`{part}`: give true or false"))?,
            "nodes" => limit.nodes = Some(count(&value, MAX_INT as u64)?),
            // Some players have a depth of their own, the others search to the limit.
            "depth" => {
                limit.depth = Some(count(&value, MAX_SEARCH_DEPTH.into())? as u32);
                options.push((name.clone(), value));
            }
            _ => options.push((name.clone(), value)),
        }
        names.push(name);
    }
    if limit.is_empty() {
        time = time.or(Some(DEFAULT_TIME));
    }
    let options = match (&address, program(text)) {
        (Some(_), _) => foreign_options(entry, &options),
        (None, Some(program)) => {
            return Err(format!("write `cmd=` before a program, as in --player \"cmd={program}\""));
        }
        (None, None) => own_options(entry, &options)?,
    };
    let address = address.map_or_else(own_program, Ok)?;
    let build = build(&address);
    Ok(Player {
        name: text.to_owned(),
        address,
        token,
        build,
        options,
        time: time.unwrap_or_default(),
        limit,
        legal,
    })
}

/// The program or file that a text names, where a player of ours is expected.
fn program(text: &str) -> Option<&str> {
    let first = text.split(',').next().unwrap_or_default();
    (!first.contains('=') && first.contains(['/', '\\', '.', ' '])).then_some(first)
}

/// What distinguishes a program from another build of it. None for a server, and for a program that is
/// found on the path.
fn build(address: &Address) -> Option<String> {
    let Address::Program(program) = address else { return None };
    build::of(program.path.as_ref())
}

/// Takes what can be given only once; `names` lists the settings that give it.
fn set<T>(place: &mut Option<T>, value: T, names: &str) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("give only one of {names}")),
    }
}

/// This very program.
fn own_program() -> Result<Address, String> {
    let server = own::server().map_err(|error| format!("the path of this program is unknown: {error}"))?;
    Ok(Address::Program(server))
}

/// A limit, at most what the protocol allows.
fn count(text: &str, most: u64) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| format!("`{text}`: give a whole number from 1 to {most}"))
}

fn own_options(entry: &Entry, given: &[(String, String)]) -> Result<Settings, String> {
    let options = position::option_settings(entry, given);
    let checked = settings::check_options(entry, &bridge::given(&options));
    position::warn(&checked.map_err(|fault| match fault.place {
        Place::Option(name) => format!("`{name}`: {}", fault.message),
        _ => fault.message,
    })?);
    Ok(options)
}

/// A setting that our game does not have gets the type that it looks like.
fn foreign_options(entry: &Entry, given: &[(String, String)]) -> Settings {
    let known = |name: &str| COMMON.iter().chain(entry.options()).any(|spec| spec.name == name);
    let (known, unknown): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|(name, _)| known(name));
    for (name, _) in &unknown {
        if let Some(meant) = meant(name) {
            let text =
                format!("warning: the other program gets the option `{name}`; did you mean `{meant}`?");
            let _nobody_reads = writeln!(io::stderr(), "{text}");
        }
    }
    let mut options = position::option_settings(entry, &known);
    for (name, text) in unknown {
        options.insert(name, parse::setting(&text));
    }
    options
}

/// The setting of ours that a name of somebody else's option may be a slip of.
fn meant(name: &str) -> Option<String> {
    let likeness = |ours: &str| strsim::jaro_winkler(name, ours);
    Some(nearest(name, OURS.map(str::to_owned).into_iter())).filter(|ours| likeness(ours) > LIKE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Program;
    use crate::client::Secured;
    use crate::games::REGISTRY;

    fn isolation(text: &str) -> Result<Player, String> {
        read(REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap(), text)
    }

    fn json(options: &Settings) -> String {
        serde_json::to_string(options).unwrap()
    }

    #[test]
    fn a_player_has_options_and_limits() {
        for (text, options, ms, nodes, depth) in [
            ("default", r#"{"player":"default"}"#, Some(100), None, None),
            ("default,time=2s", r#"{"player":"default"}"#, Some(2000), None, None),
            ("default,nodes=50", r#"{"player":"default"}"#, None, Some(50), None),
            ("eval=mobility,depth=3", r#"{"depth":3,"eval":"mobility"}"#, None, None, Some(3)),
            ("threads=2,seed=7", r#"{"seed":"7","threads":2}"#, Some(100), None, None),
        ] {
            let player = isolation(text).unwrap();
            assert_eq!(json(&player.options), options, "{text}");
            let time =
                ms.map_or(TimeControl::Unlimited, |ms| TimeControl::PerMove(Duration::from_millis(ms)));
            assert_eq!(player.time, time, "{text}");
            assert_eq!((player.limit.nodes, player.limit.depth), (nodes, depth), "{text}");
            assert_eq!((&*player.name, player.address), (text, own_program().unwrap()));
        }
    }

    #[test]
    fn blanks_around_commas_are_no_part_of_a_name_and_slips_of_our_settings_are_found() {
        let player = isolation("cmd=/bin/true, legal=true , time=1s").unwrap();
        assert!(player.legal && player.options.is_empty());
        assert_eq!(player.time, TimeControl::PerMove(Duration::from_secs(1)));
        for (name, expected) in [("legl", Some("legal")), ("tiem", Some("time")), ("node", Some("nodes"))] {
            assert_eq!(meant(name).as_deref(), expected, "{name}");
        }
        for name in ["level", "player", "eval", "hash_mb", "weights", "temperature"] {
            assert_eq!(meant(name), None, "{name}");
        }
    }

    #[test]
    fn a_range_is_a_player_for_each_value() {
        for (text, players) in [
            (
                "default,level=1..3,seed=4",
                vec!["default,level=1,seed=4", "default,level=2,seed=4", "default,level=3,seed=4"],
            ),
            ("default,level=7..7", vec!["default,level=7"]),
            ("cmd=/bin/../plyd", vec!["cmd=/bin/../plyd"]),
            ("default,time=1s", vec!["default,time=1s"]),
        ] {
            assert_eq!(spread(text).unwrap(), players);
        }
        for (text, word) in [
            ("default,level=3..1", "the least first"),
            ("default,depth=1..101", "100 values at most"),
            ("default,level=1..", "`level=1..`: a range is A..B"),
            ("default,level=..3", "`level=..3`: a range"),
            ("default,level=1...3", "a range"),
            ("default,level=a..b", "a range"),
            ("default,level=1..1000000000000", "a range"),
            ("default,time=1..2ms", "`time=1..2ms`: a range"),
            ("default,level=1..2,depth=1..2", "one range a player"),
        ] {
            assert!(matches!(spread(text), Err(Failure::Usage(message)) if message.contains(word)), "{text}");
        }
        // Where two dots are no range.
        for text in [
            "cmd=../a..b/plyd,nodes=9",
            "cmd=./engine,weights=../w.bin",
            "tcp=127.0.0.1:7117,token_file=../token",
            "wss://localhost:7117?ca=../ca.pem",
            "default,name=v1..v2",
        ] {
            assert_eq!(spread(text).unwrap(), [text]);
        }
    }

    #[test]
    fn another_program_takes_what_options_it_likes() {
        let player = isolation("cmd=/bin/other serve -v,player=mine,style=3,bold=true,nodes=9").unwrap();
        let program = Program { path: "/bin/other".into(), arguments: vec!["serve".into(), "-v".into()] };
        assert_eq!(player.address, Address::Program(program));
        assert_eq!(json(&player.options), r#"{"bold":true,"player":"mine","style":3}"#);
        assert!(!player.legal);
    }

    #[test]
    fn a_player_is_called_by_its_name_and_each_name_is_given_once() {
        for (text, expected) in [
            ("default,level=3", "default,level=3"),
            ("cmd=python3 bot.py,name=anna,legal=true", "anna"),
            ("default, name=anna b", "anna b"),
            ("cmd=./bot name=x", "cmd=./bot name=x"),
        ] {
            assert_eq!(label(text), expected);
        }
        let player = isolation("cmd=/bin/bot,name=anna").unwrap();
        assert_eq!((&*player.name, json(&player.options).as_str()), ("cmd=/bin/bot,name=anna", "{}"));
        for (texts, is_refused) in [
            (["default", "default"], false),
            (["default,name=a", "default,name=b"], false),
            (["default,name=a", "random,name=a"], true),
            (["random", "default,name=random"], true),
        ] {
            let players = texts.map(|text| isolation(text).unwrap());
            assert_eq!(check_names(&players).is_err(), is_refused, "{texts:?}");
        }
    }

    #[test]
    fn a_bot_is_told_the_legal_moves_if_it_wants_them() {
        let player = isolation("cmd=/bin/bot,legal=true,time=1s").unwrap();
        assert_eq!((player.legal, json(&player.options).as_str()), (true, "{}"));
        assert!(!isolation("cmd=/bin/bot,legal=false").unwrap().legal);
    }

    #[test]
    fn a_server_is_called_and_has_a_clock_for_the_game() {
        let player = isolation("tcp=localhost:7117,player=greedy,tc=10s+0.1s").unwrap();
        assert_eq!(player.address, Address::Tcp("localhost:7117".into()));
        assert_eq!(json(&player.options), r#"{"player":"greedy"}"#);
        assert!(matches!(player.time, TimeControl::Increment { moves: None, .. }));
        assert_eq!(isolation("default,tc=10+0.1").unwrap().time, player.time);
    }

    #[test]
    fn servers_are_called_in_several_ways() {
        assert_eq!(
            isolation("ws=localhost:7118,nodes=9").unwrap().address,
            Address::WebSocket("localhost:7118".into())
        );
        assert_eq!(
            isolation("unix=/run/plyd.sock,nodes=9").unwrap().address,
            Address::Unix("/run/plyd.sock".into())
        );
        for text in ["wss=h:1?ca=/a,nodes=9", "wss://h:1/ws?ca=/a,nodes=9"] {
            let to = Secured { at: "h:1".into(), ca: Some("/a".into()), identity: None };
            assert_eq!(isolation(text).unwrap().address, Address::SecureWebSocket(to), "{text}");
        }
        let message = isolation("tcp=localhost:7117,token_file=/nowhere").unwrap_err();
        assert!(message.contains("/nowhere"), "{message}");
    }

    #[test]
    fn mistakes_are_reported_before_a_game_is_played() {
        for (text, word) in [
            ("", "a name"),
            ("expert", "`player`"),
            ("cmd=./bot,Legal=true", "did you mean `legal`?"),
            ("/tmp/bot.py,time=1s", "\"cmd=/tmp/bot.py\""),
            ("python3 bot.py", "\"cmd=python3 bot.py\""),
            ("./bot", "cmd=./bot"),
            ("default,eval=best", "`eval`"),
            ("default,threads=many", "`threads`"),
            ("default,colour=red", "`colour`"),
            ("default,time=5", "unit"),
            ("default,time=1.2345s", "whole"),
            ("default,time=1s,tc=1s", "only one"),
            ("tcp=localhost:7117,cmd=plyd", "only one"),
            ("unix=/run/plyd.sock,ws=localhost:7118", "only one"),
            ("tcp=localhost", "a host and a port"),
            ("default,nodes=-1", "-1"),
            ("default,nodes=0", "whole number"),
            ("default,nodes=18446744073709551615", "whole number"),
            ("cmd=/bin/other,depth=1001", "whole number"),
            ("default,name= ,time=1s", "give a name"),
            ("default,random", "`random`"),
            ("default,player=random", "twice"),
            ("cmd= ,nodes=5", "program"),
            ("cmd=/bin/bot,legal=yes", "true or false"),
        ] {
            let message = isolation(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
