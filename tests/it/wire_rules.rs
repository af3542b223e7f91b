//! The rules through the wire: `inspect`, texts, hashes, records, endings, seeds and sessions' options.

// The functions beside the tests are called by them alone.
use crate::common::{Peer, Random, Server, inspect, texts, with};
use crate::games::{Request, games};
use plyd::bridge;
use plyd::engine::conformance::{few, samples};
use serde_json::{Value, json};

const WANTS: [&str; 14] = [
    "to_move", "outcome", "legal", "moves", "chance", "board", "text", "hash", "eval", "record", "svg",
    "actions", "decisive", "edits",
];

fn texts_of(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn inspect_answers_what_is_wanted_and_all_of_it_agrees() {
    let (_server, mut peer) = Server::stdio(&[]);
    let mut random = Random::new(7);
    for sample in games().into_iter().flat_map(|entry| few(entry, 3, 200).unwrap()) {
        let game = sample.game();
        for plies in [0, 1, 5, 12] {
            let moves = sample.stroll(&mut random, plies);
            let position = sample.position(&moves);
            let all = inspect(&mut peer, &game, &position, &WANTS);
            for want in WANTS {
                // A position that is over has no evaluation, and a game need not have an editor.
                let may_lack = want == "eval" || want == "edits" && sample.entry.edits.is_none();
                assert!(all.get(want).is_some() || may_lack, "{game} {position}: no {want} in {all}");
                let one = inspect(&mut peer, &game, &position, &[want]);
                if want == "moves" {
                    // An evaluation of each comes only where `eval` is wanted, too.
                    let evals = inspect(&mut peer, &game, &position, &["moves", "eval"]);
                    assert_eq!(evals.get(want), all.get(want), "{game} {position} {want}");
                    assert!(texts_of(&one["moves"], "move") == texts_of(&all["moves"], "move"));
                } else {
                    assert_eq!(one.get(want), all.get(want), "{game} {position} {want}");
                }
                for other in WANTS.iter().filter(|other| **other != want) {
                    assert!(one.get(*other).is_none(), "{other} was not wanted: {one}");
                }
            }
            let legal = texts(&all["legal"]);
            let is_chance = all["to_move"] == "chance";
            let is_over = !all["outcome"].is_null();
            assert_eq!(legal.is_empty(), is_over || is_chance, "{game} {position}: {all}");
            assert_eq!(all["chance"] != json!([]), is_chance, "{game} {position}: {all}");
            let root = sample.root().unwrap().extend(&moves).unwrap();
            assert_eq!(all["to_move"], json!(bridge::to_move(root.to_move())), "{game} {position}");
            let mut twice = legal.clone();
            twice.sort();
            twice.dedup();
            assert_eq!(twice.len(), legal.len(), "{game} {position}: a move twice: {legal:?}");
            for (entry, mv) in all["moves"].as_array().unwrap().iter().zip(&legal).take(40) {
                assert_eq!(entry["move"], mv.as_str(), "`moves` stands in the order of `legal`");
                let line = [&moves[..], std::slice::from_ref(mv)].concat();
                let played = sample.position(&line);
                let next = inspect(&mut peer, &game, &played, &["text", "outcome", "hash"]);
                assert_eq!(entry["text"], next["text"], "{game} {played}");
                assert_eq!(entry.get("outcome").unwrap_or(&Value::Null), &next["outcome"], "{game} {played}");
                let text = entry["text"].as_str().unwrap();
                let direct = inspect(&mut peer, &game, &json!({ "start": text }), &["hash", "text"]);
                assert_eq!(direct["text"], next["text"], "{game} {played}");
                // Under some rules the way to a position counts.
                let own = sample.at(text).root().unwrap().hash()
                    == root.extend(std::slice::from_ref(mv)).unwrap().hash();
                assert_eq!(direct["hash"] == next["hash"], own, "{game} {played}");
            }
            assert_eq!(all["moves"].as_array().unwrap().len(), legal.len());
            check_board(&all["board"]);
            check_record(&mut peer, &game, &moves, &all);
        }
    }
}

/// Every cell of a drawing is on its grid, and every line of the grid has its label.
fn check_board(board: &Value) {
    let (rows, cols) = (board["grid"]["rows"].as_u64().unwrap(), board["grid"]["cols"].as_u64().unwrap());
    assert_eq!(board["grid"]["row_labels"].as_array().unwrap().len() as u64, rows, "{board}");
    assert_eq!(board["grid"]["col_labels"].as_array().unwrap().len() as u64, cols, "{board}");
    let inside = |cell: &Value| cell[0].as_u64().unwrap() < rows && cell[1].as_u64().unwrap() < cols;
    for piece in board["pieces"].as_array().into_iter().flatten() {
        assert!(inside(&piece["cell"]) && piece["piece"].is_string(), "{board}");
        assert!(piece["also"].as_array().into_iter().flatten().all(inside), "{board}");
    }
    for mark in board["marks"].as_array().into_iter().flatten() {
        assert!(inside(&mark["cell"]) && mark["mark"].is_string(), "{board}");
    }
}

/// A record can be sent back, and gives the same position.
fn check_record(peer: &mut Peer, game: &Value, moves: &[String], all: &Value) {
    let record = &all["record"];
    assert_eq!(record["record"], 1, "{record}");
    assert_eq!((&record["game"], &record["moves"]), (&game["game"], &json!(moves)), "{record}");
    assert_eq!(record["result"], all["outcome"], "{record}");
    let again = json!({ "game": record["game"], "rules": record["rules"] });
    let position = json!({ "start": record["start"], "moves": record["moves"] });
    let result = inspect(peer, &again, &position, &["hash", "text", "outcome"]);
    for field in ["hash", "text", "outcome"] {
        assert_eq!(result[field], all[field], "{game} {record}");
    }
}

#[test]
fn a_book_tells_who_wins_by_each_placement_and_how_many_replies_do() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    assert_eq!(peer.hello(json!({ "require": ["book"] }))["type"], "result");
    let isolation = json!({ "game": "isolation" });
    let mut book =
        |moves: Value| inspect(&mut peer, &isolation, &json!({ "moves": moves }), &["book"])["book"].clone();
    let outcome = |judged: &Value| judged["score"]["proof"]["outcome"].as_str().unwrap().to_owned();
    let start = book(json!([]));
    assert_eq!(start["score"], json!({ "bound": "exact", "proof": { "outcome": "loss", "plies_max": 48 } }));
    let moves = start["moves"].as_array().unwrap().clone();
    assert!(moves.iter().all(|judged| outcome(judged) == "loss"), "{start}");
    assert_eq!(
        (&moves[0]["move"], &moves[0]["replies"]),
        (&json!("d4"), &json!({ "wins": 16, "draws": 0, "losses": 32 }))
    );
    // Folded by symmetry; together they are all placements, each once.
    let all = |moves: &[Value]| {
        let named = moves.iter().flat_map(|judged| {
            let alike = judged["alike"].as_array().into_iter().flatten();
            std::iter::once(&judged["move"]).chain(alike).map(|mv| mv.as_str().unwrap().to_owned())
        });
        let mut named: Vec<String> = named.collect();
        named.sort();
        named.dedup();
        named.len()
    };
    assert_eq!((moves.len(), all(&moves)), (10, 49));
    let wins: Vec<u64> = moves.iter().map(|judged| judged["replies"]["wins"].as_u64().unwrap()).collect();
    assert!(wins.is_sorted(), "fewest replies win against the first: {wins:?}");

    let placed = book(json!(["d4"]));
    assert_eq!(outcome(&placed), "win");
    let moves = placed["moves"].as_array().unwrap();
    assert_eq!(all(moves), 48);
    let won = moves
        .iter()
        .filter(|judged| outcome(judged) == "win")
        .map(|judged| all(std::slice::from_ref(judged)));
    assert_eq!(won.sum::<usize>(), 16, "as the empty board says");
    assert!(moves.is_sorted_by_key(|judged| outcome(judged) != "win"), "the best first: {placed}");
    let lost = moves.iter().rfind(|judged| outcome(judged) == "loss").unwrap();
    let [second, reply] = [&lost["move"], &lost["reply"]].map(|mv| mv.as_str().unwrap().to_owned());

    let opening = book(json!(["d4", second]));
    assert_eq!((outcome(&opening), opening["moves"][0]["move"].as_str()), ("win".to_owned(), Some(&*reply)));
    assert_eq!(book(json!(["d4", second, reply])), Value::Null, "the book ends there");
    let won = moves.iter().find(|judged| outcome(judged) == "win").unwrap();
    let refuted = book(json!(["d4", won["move"]]));
    assert_eq!((outcome(&refuted), &refuted["moves"]), ("loss".to_owned(), &json!([])));
    let small = json!({ "game": "isolation", "rules": { "width": 5, "height": 5 } });
    assert_eq!(inspect(&mut peer, &small, &json!({}), &["book"]).get("book"), None);
}

#[test]
fn equal_positions_have_equal_hashes_by_any_way() {
    let (_server, mut peer) = Server::stdio(&[]);
    let game = json!({ "game": "isolation" });
    // Placements, then knight's moves whose order does not matter for the cells that are gone.
    let ways = [json!(["a1", "g7", "b3", "f5"]), json!(["a1", "g7", "c2", "f5"])];
    let hashes: Vec<Value> = ways
        .iter()
        .map(|moves| inspect(&mut peer, &game, &json!({ "moves": moves }), &["hash"])["hash"].clone())
        .collect();
    assert_ne!(hashes[0], hashes[1]);
    let l = json!({ "game": "l-game" });
    let start = inspect(&mut peer, &l, &json!({}), &["text", "hash"]);
    let same = inspect(&mut peer, &l, &json!({ "start": "3 1 w 4 4 1 1 2 4 e 1" }), &["text", "hash"]);
    assert_eq!(
        (&start["hash"], &start["text"]),
        (&same["hash"], &same["text"]),
        "either case, tokens in either order"
    );
    let other = inspect(&mut peer, &l, &json!({ "start": "3 1 W 1 1 4 4 2 4 E 2" }), &["hash"]);
    assert_ne!(start["hash"], other["hash"], "the mover counts");
}

#[test]
fn a_start_sets_the_size_that_its_text_has() {
    let (_server, mut peer) = Server::stdio(&[]);
    let position = json!({ "start": "1.../..../..../..2. 1" });
    let bare = json!({ "game": "isolation" });
    let result = inspect(&mut peer, &bare, &position, &["record", "board", "legal", "hash"]);
    assert_eq!(
        (&result["record"]["rules"]["width"], &result["record"]["rules"]["height"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(texts(&result["legal"]).len(), 2, "{result}");
    let given = json!({ "game": "isolation", "rules": { "width": 4, "height": 4 } });
    assert_eq!(inspect(&mut peer, &given, &position, &["hash"])["hash"], result["hash"]);
    // The same in a session whose rules were not given, and in a search.
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation" }));
    let session = json!({ "session": "s" });
    assert_eq!(inspect(&mut peer, &session, &position, &["hash"])["hash"], result["hash"]);
    for whose in [&bare, &given, &session] {
        let go = json!({ "id": "g", "cmd": "go", "position": position, "limit": { "depth": 1 } });
        assert_eq!(peer.best(&with(go, whose))["hash"], result["hash"], "{whose}");
    }
    peer.result(
        &json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "rules": { "width": 5 } }),
    );
    let error = peer.ask(
        &json!({ "id": "g", "cmd": "go", "session": "s", "position": position, "limit": { "depth": 1 } }),
    );
    assert_eq!(
        (&error["code"], &error["pointer"]),
        (&json!("illegal_position"), &json!("/position/start")),
        "{error}"
    );
}

#[test]
fn history_is_taken_from_the_moves() {
    let (_server, mut peer) = Server::stdio(&[]);
    // Each side moves its L away and back: the start comes again.
    let none = json!({ "game": "l-game", "rules": { "neutrals": "none" } });
    let start = inspect(&mut peer, &none, &json!({}), &["text"])["text"].as_str().unwrap().to_owned();
    let words: Vec<&str> = start.split(' ').collect();
    let back = [words[..3].join(" "), words[7..10].join(" ")];
    let mut cycle = None;
    for first in texts(&inspect(&mut peer, &none, &json!({}), &["legal"])["legal"]) {
        for second in texts(&inspect(&mut peer, &none, &json!({ "moves": [first] }), &["legal"])["legal"]) {
            let moves = json!([first, second, back[0], back[1]]);
            let request =
                json!({ "id": "i", "cmd": "inspect", "position": { "moves": moves }, "want": ["text"] });
            if cycle.is_none() && peer.ask(&with(request, &none))["text"] == start.as_str() {
                cycle = Some(texts(&moves));
            }
        }
    }
    let cycle = cycle.expect("some way leads back");
    let twice = [&cycle[..], &cycle[..]].concat();
    for (repetition, drawn_at) in [(0, None), (2, Some(4)), (3, Some(8))] {
        let rules = json!({ "game": "l-game", "rules": { "neutrals": "none", "repetition": repetition } });
        for plies in [3, 4, 7, 8] {
            let position = json!({ "moves": twice[..plies] });
            if drawn_at.is_some_and(|at| at < plies) {
                continue;
            }
            let outcome = inspect(&mut peer, &rules, &position, &["outcome"])["outcome"].clone();
            let drawn = drawn_at == Some(plies);
            let expected = if drawn { json!({ "winner": null, "by": "repetition" }) } else { Value::Null };
            assert_eq!(outcome, expected, "{rules} {plies}");
            let go = json!({ "id": "g", "cmd": "go", "position": position, "limit": { "depth": 1 } });
            let last = peer.ask(&with(go, &rules));
            assert_eq!(last["code"] == "game_over", drawn, "{rules} {plies}: {last}");
            assert_eq!(last["outcome"], expected, "{rules} {plies}: {last}");
        }
        // A move played past the end is not legal.
        if let Some(at) = drawn_at.filter(|&at| at < 8) {
            let request = json!({ "id": "i", "cmd": "inspect", "position": { "moves": twice[..=at] } });
            let error = peer.ask(&with(request, &rules));
            assert_eq!(
                (&error["code"], &error["pointer"]),
                (&json!("illegal_move"), &json!("/position/moves/4"))
            );
        }
    }
    for (cap, plies, over) in [(0, 4, false), (4, 3, false), (4, 4, true), (1, 1, true)] {
        let rules = json!({ "game": "l-game", "rules": { "neutrals": "none", "max_plies": cap } });
        let position = json!({ "moves": cycle[..plies] });
        let outcome = inspect(&mut peer, &rules, &position, &["outcome"])["outcome"].clone();
        let expected = if over { json!({ "winner": null, "by": "max_plies" }) } else { Value::Null };
        assert_eq!(outcome, expected, "{rules} {plies}");
    }
    let one_left = json!({ "game": "l-game", "rules": { "max_plies": 1 } });
    let best =
        peer.best(&with(json!({ "id": "g", "cmd": "go", "position": {}, "mode": "analyse" }), &one_left));
    let proof = &best["lines"][0]["score"]["proof"];
    assert_eq!((&best["reason"], &proof["outcome"]), (&json!("proven"), &json!("draw")), "{best}");
    assert_eq!(best["lines"][0]["pv"].as_array().unwrap().len(), 1, "{best}");
    assert!(best.get("ponder").is_none(), "nobody replies after the last ply: {best}");
}

#[test]
fn newgame_reports_what_is_in_force() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let newgame = |fields: Value| {
        with(json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation" }), &fields)
    };
    let result = peer.result(&newgame(json!({ "seed": "5eed", "options": { "depth": 4, "threads": 1 } })));
    assert_eq!(
        (&result["session"], &result["game"], &result["seed"]),
        (&json!("s"), &json!("isolation"), &json!("5eed"))
    );
    assert_eq!((&result["to_move"], &result["options"]["seed"]), (&json!("p1"), &json!("5eed")), "{result}");
    assert_eq!(
        (&result["options"]["depth"], &result["options"]["threads"]),
        (&json!(4), &json!(1)),
        "{result}"
    );
    assert_eq!((&result["rules"]["width"], &result["rules"]["height"]), (&json!(7), &json!(7)), "{result}");
    let result = peer
        .result(&newgame(json!({ "seed": "1", "options": { "seed": "2" }, "rules": { "preset": "11x9" } })));
    assert_eq!((&result["seed"], &result["options"]["seed"]), (&json!("1"), &json!("2")), "{result}");
    assert_eq!((&result["rules"]["width"], &result["rules"]["height"]), (&json!(11), &json!(9)), "{result}");
    assert!(result["options"].get("depth").is_none(), "a reset starts from the defaults: {result}");
    let mut drawn: Vec<String> =
        (0..20).map(|_| peer.result(&newgame(json!({})))["seed"].as_str().unwrap().to_owned()).collect();
    for seed in &drawn {
        let again = peer.result(&newgame(json!({ "seed": seed })));
        assert_eq!(again["seed"], seed.as_str());
    }
    drawn.sort();
    drawn.dedup();
    assert!(drawn.len() > 15, "seeds are drawn: {drawn:?}");
    let l = json!({ "id": "n", "cmd": "newgame", "session": "l", "game": "l-game", "rules": { "neutrals": "both" } });
    let result = peer.result(&l);
    assert_eq!(result["rules"], json!({ "neutrals": "both", "max_plies": 0, "repetition": 0 }), "{result}");
}

#[test]
fn a_former_name_is_taken_with_a_warning() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let warnings = |peer: &Peer| {
        let is_it = |message: &&Value| message["type"] == "notice" && message["kind"] == "warning";
        peer.log.iter().filter(is_it).map(|message| message["id"].clone()).collect::<Vec<_>>()
    };
    let mut warned = Vec::new();
    for entry in games() {
        for named in entry.players() {
            let Some(former) = named.former else { continue };
            let game = json!({ "game": entry.name, "options": { "player": former } });
            let result = peer.result(&with(json!({ "id": "n", "cmd": "newgame", "session": "s" }), &game));
            assert_eq!(result["options"]["player"], named.name);
            let go = json!({ "id": "g", "cmd": "go", "position": {}, "limit": { "nodes": 10 } });
            peer.best(&with(go.clone(), &json!({ "session": "s" })));
            peer.best(&with(go, &game));
            warned.extend([json!("n"), json!("g")]);
            assert_eq!(warnings(&peer), warned, "{}: where it is asked for, and not later", entry.name);
        }
        let about = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "game", "game": entry.name }));
        let names = texts_of(&about["body"]["players"], "name");
        assert_eq!(names, entry.players().map(|named| named.name).collect::<Vec<_>>());
    }
    assert!(!warned.is_empty() || games().len() == 1);
}

#[test]
fn options_come_from_the_connection_the_session_and_the_search() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let set = |options: Value| json!({ "id": "o", "cmd": "setoption", "options": options });
    let result = peer.result(&set(json!({ "depth": 2, "threads": 1 })));
    assert_eq!(
        (&result["options"]["depth"], &result["options"]["threads"]),
        (&json!(2), &json!(1)),
        "{result}"
    );
    let newgame = json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "options": { "depth": 3 } });
    let result = peer.result(&newgame);
    assert_eq!(
        (&result["options"]["depth"], &result["options"]["threads"]),
        (&json!(3), &json!(1)),
        "{result}"
    );
    peer.result(&set(json!({ "depth": 5 })));
    let session = |options: Value| with(set(options), &json!({ "session": "s" }));
    assert_eq!(peer.result(&session(json!({})))["options"]["depth"], 3, "an open session keeps its own");
    let result = peer.result(&session(json!({ "player": "alphabeta" })));
    assert_eq!(
        (&result["options"]["player"], &result["options"]["depth"]),
        (&json!("alphabeta"), &json!(3)),
        "{result}"
    );
    // A search's own options are for it alone.
    let go = |options: Value| {
        json!({ "id": "g", "cmd": "go", "session": "s", "position": {}, "options": options,
        "clock": { "kind": "none" } })
    };
    assert_eq!(peer.best(&go(json!({ "depth": 1 })))["lines"][0]["depth"], 1);
    assert_eq!(peer.best(&go(json!({})))["lines"][0]["depth"], 3);
    // During a search a change waits for the next one.
    peer.result(&session(json!({ "player": "default" })));
    let endless = json!({ "id": "g", "cmd": "go", "session": "s", "position": {}, "mode": "ponder", "options": { "depth": 1000 },
        "info": { "events": ["progress"] } });
    peer.send(&endless);
    assert_eq!(peer.result(&session(json!({ "player": "random" })))["options"]["player"], "random");
    let before = peer.log.len();
    peer.wait("progress", |peer| peer.log[before..].iter().any(|message| message["event"] == "progress"));
    peer.result(&json!({ "id": "s", "cmd": "stop", "target": "g" }));
    assert_eq!(peer.last("g")["reason"], "stopped");
}

#[test]
fn seeds_make_players_repeat_themselves() {
    let (_server, mut peer) = Server::stdio(&[]);
    let mut game = |seed: &str| -> Vec<String> {
        peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "seed": seed,
            "options": { "player": "random" } }));
        let mut moves = Vec::new();
        for _ in 0..12 {
            let go = json!({ "id": "g", "cmd": "go", "session": "s", "position": { "moves": moves },
                "clock": { "kind": "none" } });
            let best = peer.ask(&go);
            let Some(mv) = best["move"].as_str() else { break };
            moves.push(mv.to_owned());
        }
        moves
    };
    let first = game("abc");
    assert_eq!(game("abc"), first);
    let others: Vec<_> = ["1", "2", "3"].into_iter().map(&mut game).collect();
    assert!(others.iter().any(|other| *other != first), "{first:?}");
}

#[test]
fn describe_agrees_with_what_is_accepted() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for entry in games() {
        let game = entry.name;
        let body =
            peer.result(&json!({ "id": "d", "cmd": "describe", "what": "game", "game": game }))["body"]
                .clone();
        for field in ["name", "title", "position", "moves", "unit"] {
            assert!(
                body[field].as_str().is_some_and(|text| !text.is_empty()),
                "{game}: no {field} in {body}"
            );
        }
        let is_stochastic =
            samples(entry).unwrap().iter().any(|sample| sample.root().unwrap().is_stochastic());
        assert_eq!((&body["name"], &body["chance"]), (&json!(game), &json!(is_stochastic)));
        let ends: Vec<&str> =
            body["by"].as_array().unwrap().iter().map(|end| end["name"].as_str().unwrap()).collect();
        let own: Vec<&str> = entry.endings.iter().map(|end| end.name).collect();
        assert_eq!(ends, own, "{game}");
        for (field, rules) in [("rules", true), ("options", false)] {
            for spec in body[field].as_array().unwrap() {
                let name = spec["name"].as_str().unwrap();
                let kind = spec["type"].as_str().unwrap_or_else(|| panic!("no type: {spec}"));
                let mut values: Vec<Value> = spec.get("default").into_iter().cloned().collect();
                match kind {
                    "word" => values.extend(spec["words"].as_array().unwrap().iter().cloned()),
                    "bool" => values.extend([json!(true), json!(false)]),
                    "int" => values.extend(["min", "max"].iter().map(|end| spec[*end].clone())),
                    "seed" => values.push(json!("ff")),
                    "word_or_int" | "text" => {}
                    _ => panic!("{spec}"),
                }
                // A repetition at the first occurrence is no game, and a board has a most.
                for value in values.into_iter().filter(|value| !(rules && value.is_u64())) {
                    let mut request = json!({ "id": "n", "cmd": "newgame", "session": "s", "game": game });
                    request[field] = json!({ name: value });
                    let result = peer.ask(&request);
                    // A word may be impossible beside the defaults of other rules.
                    let is_default = spec.get("default") == Some(&value);
                    if rules && !is_default && result["code"] == "rules_unsupported" {
                        continue;
                    }
                    assert_eq!(result["type"], "result", "{request} -> {result}");
                    // A rule may decide nothing beside the defaults of others; then it is not listed.
                    let is_idle = rules && !is_default && result[field][name].is_null();
                    if !is_idle && !["threads", "hash_mb"].contains(&name) {
                        assert_eq!(result[field][name], value, "{result}");
                    }
                }
                if kind == "int" {
                    let mut request = json!({ "id": "n", "cmd": "newgame", "session": "s", "game": game });
                    request[field] = json!({ name: spec["max"].as_i64().unwrap() + 1 });
                    let expected = if rules { "rules_unsupported" } else { "option_invalid" };
                    assert_eq!(peer.ask(&request)["code"], expected, "{request}");
                }
            }
        }
    }
    let schema = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "schema" }))["body"].clone();
    assert!(schema["requests"].is_object() && schema["messages"].is_object());
}

#[test]
fn the_sessions_evaluator_rates_the_position_and_its_moves() {
    let (_server, mut peer) = Server::stdio(&[]);
    for eval in ["race", "mobility", "improved"] {
        let new = json!({ "id": eval, "cmd": "newgame", "session": eval, "game": "isolation",
                          "rules": { "width": 5, "height": 5 }, "options": { "eval": eval } });
        peer.result(&new);
        let game = json!({ "session": eval });
        let opening = ["c3", "a1"];
        let rated = inspect(&mut peer, &game, &json!({ "moves": opening }), &["moves", "eval"]);
        for info in rated["moves"].as_array().unwrap() {
            let mut line: Vec<&str> = opening.to_vec();
            line.push(info["move"].as_str().unwrap());
            let after = inspect(&mut peer, &game, &json!({ "moves": line }), &["eval"]);
            // `improved` counts from the root player's view; both questions have the mover as root.
            let expected = after["eval"].as_i64().map(|eval| -eval);
            assert_eq!(info["eval"].as_i64(), expected, "{eval}: {info}");
        }
    }
}
