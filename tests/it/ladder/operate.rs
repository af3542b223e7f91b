//! What whoever runs a ladder does to it while games are played.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use plyd_ladder::GameId;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::hand::Hand;
use super::pool;
use crate::common::cluster::Cluster;
use crate::common::ladder::Ladder;
use crate::common::{TIMEOUT, until};
use crate::tls::{file, refused};

/// A ladder with a pool in which no machine is too slow, and the tokens of two bots.
fn ladder(name: &str) -> (Ladder, [String; 2]) {
    let ladder = Ladder::new(name);
    pool(&ladder, "calm", &["--clock", "tc=10m+1s"]);
    let tokens = ["ann", "bob"].map(|name| ladder.token(name, name));
    (ladder, tokens)
}

/// Lets both bots dial, and a game begin: its number, whose move it is, and whose it is not.
fn begin(ladder: &Ladder, tokens: &[String; 2]) -> (GameId, Hand, Hand) {
    let [ann, bob] = tokens.each_ref().map(|token| Hand::dial(ladder.address.unwrap(), token));
    seated(ladder, ann, bob)
}

/// The game that is played, whose move it is, and whose it is not.
fn seated(ladder: &Ladder, ann: Hand, bob: Hand) -> (GameId, Hand, Hand) {
    let mut store = ladder.store();
    until("a game is played", || !store.open_games().unwrap().is_empty());
    let game = store.open_games().unwrap().remove(0);
    // The opening has an even number of plies.
    let is_ann = game.players[0].name == "ann";
    if is_ann { (game.id, ann, bob) } else { (game.id, bob, ann) }
}

fn state(ladder: &Ladder, game: GameId) -> String {
    ladder.store().game(game).unwrap().state
}

#[test]
fn a_game_that_is_made_void_while_it_is_played_ends_and_the_table_goes_on() {
    let (mut ladder, tokens) = ladder("ladder-void");
    ladder.serve(&[]);
    let (game, mover, other) = begin(&ladder, &tokens);
    let go = mover.asked();
    let said = ladder.run(&["games", "void", &game.to_string(), "--why", "the wrong board", "--who", "olga"]);
    assert_eq!(said, "made void: 1 of 1; void before: 0\n");
    for bot in [&mover, &other] {
        let over = bot.next();
        assert_eq!((&over["cmd"], &over["x_game"]), (&json!("over"), &go["x_game"]), "{over}");
        assert_eq!((&over["outcome"], &over["message"]), (&json!("void"), &json!("the wrong board")));
    }
    // An answer to what nobody asks any more changes nothing.
    mover.answer(&go);
    for game in [game, game.partner()] {
        assert_eq!(state(&ladder, game), "void");
    }
    let again = ladder.run(&["games", "void", &game.to_string(), "--why", "again"]);
    assert_eq!(again, "made void: 0 of 1; void before: 1\n");
    // They meet again, and that counts: one bot plays in a thread while the other one does.
    std::thread::scope(|scope| {
        for bot in [mover, other] {
            scope.spawn(move || {
                for _ in 0..2 {
                    let over = bot.play_out();
                    assert_ne!(over["outcome"], "void", "{over}");
                }
            });
        }
    });
    let checked = ladder.check();
    assert_eq!((checked.void, checked.encounters >= 1), (2, true), "{checked:?}");
    ladder.stop();
}

#[test]
fn games_end_before_a_ladder_that_drains_does_and_bots_come_back_to_them() {
    let (mut ladder, tokens) = ladder("ladder-drain");
    // Longer than the test.
    ladder.serve(&["--drain-ms", "3600000"]);
    let (game, mover, other) = begin(&ladder, &tokens);
    mover.asked();
    ladder.signal(Signal::TERM);
    ladder.logged("the ladder stops");
    // A connection that breaks now costs no game either.
    mover.hang_up();
    let token = &tokens[usize::from(ladder.store().open_games().unwrap()[0].players[0].name == "bob")];
    let mover = Hand::dial(ladder.address.unwrap(), token);
    assert_eq!(mover.offered["games"], json!([format!("g{game}")]));
    std::thread::scope(|scope| {
        for bot in [mover, other] {
            scope.spawn(move || {
                let over = bot.play_out();
                assert_ne!(over["outcome"], "void", "{over}");
                // No further game begins.
                let left = bot.next();
                assert_eq!(
                    (&left["type"], &left["kind"]),
                    (&json!("notice"), &json!("going_away")),
                    "{left}"
                );
            });
        }
    });
    assert!(ladder.exit().success());
    assert_eq!(state(&ladder, game), "over");
    assert_eq!(ladder.check().void, 0);
    // The second game of the pair is played once it is served again.
    ladder.serve(&[]);
    let (second, mover, other) = begin(&ladder, &tokens);
    assert_eq!(second, game.partner());
    std::thread::scope(|scope| {
        for bot in [mover, other] {
            scope.spawn(move || assert_ne!(bot.play_out()["outcome"], "void"));
        }
    });
    ladder.stop();
    assert_eq!((ladder.check().encounters >= 1, ladder.check().void), (true, 0));
}

#[test]
fn a_second_signal_ends_a_ladder_that_drains_at_once_and_its_games_go_on_later() {
    let (mut ladder, tokens) = ladder("ladder-insist");
    ladder.serve(&["--drain-ms", "3600000"]);
    let (game, mover, _other) = begin(&ladder, &tokens);
    let go = mover.asked();
    ladder.signal(Signal::TERM);
    ladder.logged("the ladder stops");
    ladder.signal(Signal::TERM);
    ladder.logged("it ends at once");
    assert_eq!(ladder.exit().code(), Some(1));
    assert_eq!((state(&ladder, game).as_str(), ladder.check().open > 0), ("playing", true));
    ladder.serve(&[]);
    let (same, mover, _other) = begin(&ladder, &tokens);
    let again = mover.asked();
    assert_eq!((same, &again["x_game"], &again["position"]), (game, &go["x_game"], &go["position"]));
    ladder.stop();
}

/// Puts a certificate and its key where the ladder reads them.
fn place(ladder: &Ladder, name: &str) {
    for end in ["pem", "key"] {
        let bytes = std::fs::read(file(&format!("{name}.{end}"))).unwrap();
        ladder.folder.file(&format!("served.{end}"), bytes);
    }
}

#[test]
fn certificates_are_read_again_while_games_go_on() {
    let (mut ladder, tokens) = ladder("ladder-hangup");
    place(&ladder, "server");
    let path = |end: &str| ladder.folder.path.join(format!("served.{end}")).to_str().unwrap().to_owned();
    let (cert, key) = (path("pem"), path("key"));
    ladder.serve(&["--http", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key]);
    let (lines, web) = (ladder.address.unwrap(), ladder.web.unwrap());
    let trusting = |authority: &str| {
        [format!("tls={lines}?ca={}", file(authority)), format!("wss={web}?ca={}", file(authority))]
    };
    let (ours, foreign) = (trusting("authority.pem"), trusting("foreign-authority.pem"));
    let bots = [0, 1].map(|at| ladder.connect_to(&ours[at], &tokens[at], &["--option", "level=1"]));
    until("they play", || ladder.check().games > 0);
    // A stranger is told what to do, once it has shaken hands; a client that trusts others does not do so.
    let all_read = |addresses: &[String], word: &str| {
        for said in addresses.iter().map(|at| refused(at)) {
            assert!(said.contains(word), "not {word}: {said}");
        }
    };
    let greets = |addresses: &[String]| all_read(addresses, r#"code\":\"handshake"#);
    let distrusts = |addresses: &[String]| all_read(addresses, "UnknownIssuer");
    greets(&ours);
    distrusts(&foreign);

    ladder.folder.file("served.key", "");
    ladder.signal(Signal::HUP);
    let said = ladder.logged("the certificates before stay in use");
    assert!(said.contains("served.key") && said.contains("no private key"), "{said}");
    greets(&ours);
    distrusts(&foreign);

    place(&ladder, "foreign");
    ladder.signal(Signal::HUP);
    ladder.logged("the certificates are read again");
    greets(&foreign);
    distrusts(&ours);
    // Those who were connected play on: over a new connection they would not.
    let before = ladder.check().games;
    until("they play on", || ladder.check().games > before + 2);
    assert_eq!(ladder.check().void, 0);
    drop(bots);
    ladder.stop();
}

/// A WebSocket that offers a bot, and passes these addresses on; gives the first message back.
fn offer(web: SocketAddr, token: &str, forwarded: &str) -> (TcpStream, Value) {
    let mut stream = TcpStream::connect(web).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    write!(
        stream,
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
         {forwarded}\r\n"
    )
    .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    let offer = json!({
        "id": "offer", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": token, "concurrency": 0,
    });
    let offer = offer.to_string();
    // A text frame, masked by zeros.
    let mut frame = vec![0x81];
    match u8::try_from(offer.len()) {
        Ok(length) if length < 126 => frame.push(0x80 | length),
        _ => {
            frame.push(0x80 | 126);
            frame.extend(u16::try_from(offer.len()).unwrap().to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(offer.as_bytes());
    // One that finds no place is refused before it has said anything.
    let _refused = stream.write_all(&frame);
    let mut message = Vec::new();
    loop {
        let mut start = [0; 2];
        stream.read_exact(&mut start).unwrap();
        let length = match start[1] {
            126 => {
                let mut length = [0; 2];
                stream.read_exact(&mut length).unwrap();
                usize::from(u16::from_be_bytes(length))
            }
            length => usize::from(length),
        };
        message.resize(length, 0);
        stream.read_exact(&mut message).unwrap();
        let message: Value = serde_json::from_slice(&message).unwrap();
        if message["cmd"] != "ping" {
            return (stream, message);
        }
    }
}

#[test]
fn connections_are_counted_by_what_a_proxy_says_if_there_is_one() {
    let (mut ladder, tokens) = ladder("ladder-proxy");
    let tokens = tokens.map(|token| std::fs::read_to_string(token).unwrap().trim().to_owned());
    let of = |address: &str| format!("X-Forwarded-For: {address}\r\n");
    let taken = of("198.51.100.1, 192.0.2.1");
    // What the next one passes on, and whether it finds a place where each address has one.
    let cases = [
        (of("192.0.2.1"), false, false),
        (of("192.0.2.2"), true, false),
        // The last of the list is the proxy's word, and those before it are anybody's.
        (of("192.0.2.2, 192.0.2.1"), false, false),
        (of("192.0.2.1, 192.0.2.2"), true, false),
        (of("192.0.2.2") + &of("192.0.2.1"), false, false),
        (of("192.0.2.1") + &of("192.0.2.2"), true, false),
        // Nothing that can be read: the address of the proxy.
        (of("nobody"), true, false),
        (String::new(), true, false),
    ];
    for is_behind in [true, false] {
        let flags = ["--http", "127.0.0.1:0", "--connections-per-address", "1"];
        let proxy = ["--behind-proxy", "--dial", "wss://ladder.example"];
        ladder.serve(&[&flags[..], if is_behind { &proxy } else { &[] }].concat());
        let web = ladder.web.unwrap();
        let (_first, answer) = offer(web, &tokens[0], &taken);
        assert_eq!(answer["of"], "offer", "{answer}");
        for (forwarded, behind, plain) in &cases {
            let expected = if is_behind { *behind } else { *plain };
            // It is free again before the next one comes.
            let code = if expected { "auth_failed" } else { "too_many_connections" };
            until(&format!("{code}: {forwarded}"), || offer(web, "plyd_nobody", forwarded).1["code"] == code);
            let (_, answer) = offer(web, "plyd_nobody", &of("192.0.2.1"));
            assert_eq!(answer["code"], "too_many_connections", "the first one is there");
        }
        ladder.stop();
    }
}

#[test]
fn a_ladder_in_postgresql_goes_on_while_that_is_started_again() {
    let Some(cluster) = Cluster::start("binary") else {
        let reason = "PostgreSQL is not installed (apt-get install postgresql): not tested";
        return drop(writeln!(std::io::stderr(), "{reason}"));
    };
    let mut ladder = Ladder::within("ladder-postgresql", cluster.new_database("ladder"));
    pool(&ladder, "calm", &["--clock", "tc=10m+1s"]);
    // What keeps it from listening is said, whatever the database is.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (code, _, stderr) = ladder.try_run(&["serve", "--tcp", &taken.local_addr().unwrap().to_string()]);
    assert!(code == Some(1) && stderr.contains("cannot listen on"), "{code:?} {stderr}");
    ladder.serve(&["--http", "127.0.0.1:0"]);
    let tokens = ["ann", "bob"].map(|name| ladder.token(name, name));
    let bots = tokens
        .each_ref()
        .map(|token| ladder.connect(token, &["--option", "threads=1", "--option", "level=1"]));
    let page = || super::get(ladder.web.unwrap(), "/games", "");
    for games in [2, 4] {
        until("games are played", || ladder.check().games >= games);
        cluster.end();
        cluster.serve();
        ladder.logged("the connection to PostgreSQL is lost");
        ladder.logged("connected to PostgreSQL again");
        until("the pages are there again", || page().starts_with("HTTP/1.1 200"));
    }
    let before = ladder.check().games;
    until("games are played", || ladder.check().games > before + 2);
    drop(bots);
    ladder.stop();
    let mut store = ladder.store();
    for bot in store.bots().unwrap() {
        assert_eq!(store.games_of(bot.id, None, true, 100).unwrap(), [], "{} forfeited", bot.name);
    }
    assert_eq!(ladder.check().void, 0);
}
