//! What searches claim, checked through the wire alone: moves, variations, hashes, scores, proofs.

// The functions beside the tests are called by them alone.
use crate::common::{Peer, Random, Server, inspect, texts, with};
use crate::games::{games, questions};
use serde_json::{Value, json};

/// What searches of all games are asked: the fields that name a game and its rules, and a position.
fn positions() -> Vec<(Value, Value)> {
    games().into_iter().flat_map(|entry| questions(entry, 3, 200)).collect()
}

/// The position some plies later.
fn after(position: &Value, plies: &[String]) -> Value {
    let mut position = position.clone();
    let mut moves = position.get("moves").map(texts).unwrap_or_default();
    moves.extend(plies.iter().cloned());
    position["moves"] = json!(moves);
    position
}

/// The names that `describe` lists under a field of a game.
fn names(peer: &mut Peer, game: &str, field: &str) -> Vec<String> {
    let body =
        peer.result(&json!({ "id": "d", "cmd": "describe", "what": "game", "game": game }))["body"].clone();
    body[field].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

/// Checks a best move and all its lines against the rules.
pub(crate) fn check_best(peer: &mut Peer, game: &Value, position: &Value, best: &Value, row: &Value) {
    let rules = inspect(peer, game, position, &["legal", "hash", "to_move"]);
    let legal = texts(&rules["legal"]);
    assert!(legal.contains(&best["move"].as_str().unwrap().to_owned()), "{row} -> {best}");
    assert_eq!(best["hash"], rules["hash"], "{row} -> {best}");
    let mut seen = Vec::new();
    for line in best["lines"].as_array().unwrap() {
        let pv = texts(&line["pv"]);
        assert!(!seen.contains(&pv[0]), "a move twice: {row} -> {best}");
        seen.push(pv[0].clone());
        // Legal to its end, so that it does not run past the game's.
        inspect(peer, game, &after(position, &pv), &["outcome"]);
    }
    let pv = texts(&best["lines"][0]["pv"]);
    let reply = best.get("ponder").map(|reply| reply.as_str().unwrap().to_owned());
    match (&reply, pv.get(1)) {
        (Some(reply), Some(second)) => assert_eq!(reply, second, "{row} -> {best}"),
        // What chance does is nobody's reply.
        (None, Some(second)) if second.starts_with('~') => {}
        (None, Some(_)) => panic!("a reply is known, but not sent: {row} -> {best}"),
        (Some(reply), None) => {
            inspect(peer, game, &after(position, &[pv[0].clone(), reply.clone()]), &["outcome"]);
        }
        (None, None) => {}
    }
}

#[test]
fn every_player_and_evaluator_answers_legal_lines_in_every_mode() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for entry in games() {
        let game = entry.name;
        let (players, evaluators) = (names(&mut peer, game, "players"), names(&mut peer, game, "evaluators"));
        assert!(players.len() >= 5 && !evaluators.is_empty(), "{game}: {players:?} {evaluators:?}");
        let all = questions(entry, 3, 200);
        for (at, player) in players.iter().enumerate() {
            let mut taken = 0;
            for (also, eval) in evaluators.iter().enumerate() {
                for (then, mode) in ["move", "analyse", "ponder"].iter().enumerate() {
                    let (rules, position) = &all[(at + also + then) % all.len()];
                    let request = json!({
                        "id": "g", "cmd": "go", "position": position, "mode": mode, "multipv": 1 + 2 * (also % 2),
                        "limit": { "nodes": 1500, "depth": 3 },
                        "options": { "player": player, "eval": eval, "depth": 2 },
                    });
                    let request = with(request, rules);
                    let best = peer.ask(&request);
                    // Some players have evaluations of their own, and take no other.
                    if best["code"] == "option_invalid" {
                        assert_eq!(best["pointer"], "/options/eval", "{request} -> {best}");
                        continue;
                    }
                    assert_eq!(best["type"], "bestmove", "{request} -> {best}");
                    taken += 1;
                    assert!(
                        ["limit", "proven", "only_move"].contains(&best["reason"].as_str().unwrap()),
                        "{request} -> {best}"
                    );
                    check_best(&mut peer, rules, position, &best, &request);
                }
            }
            assert!(taken > 0, "{game}: {player} takes none of {evaluators:?}");
        }
    }
}

#[test]
fn several_lines_are_distinct_and_ordered() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    for (rules, position) in positions() {
        let legal = texts(&inspect(&mut peer, &rules, &position, &["legal"])["legal"]);
        if legal.len() < 3 {
            continue;
        }
        for (asked, searched, excluded) in [
            (1, vec![], vec![]),
            (3, vec![], vec![]),
            (1000, vec![], vec![]),
            (4, legal[..2].to_vec(), vec![]),
            (2, vec![], legal[1..].to_vec()),
            (9, legal[..3].to_vec(), legal[1..2].to_vec()),
        ] {
            let allowed: Vec<&String> = legal
                .iter()
                .filter(|mv| (searched.is_empty() || searched.contains(mv)) && !excluded.contains(mv))
                .collect();
            let request = json!({ "id": "g", "cmd": "go", "position": position, "multipv": asked, "mode": "analyse",
                "limit": { "nodes": 30_000, "depth": 4 }, "searchmoves": searched, "excludemoves": excluded });
            let request = with(request, &rules);
            let best = peer.best(&request);
            check_best(&mut peer, &rules, &position, &best, &request);
            let lines = best["lines"].as_array().unwrap();
            assert_eq!(lines.len(), asked.min(allowed.len()), "{request} -> {best}");
            for line in lines {
                assert!(allowed.iter().any(|mv| line["move"] == mv.as_str()), "{request} -> {line}");
            }
            for pair in lines.windows(2) {
                let [Some(better), Some(worse)] = [worth(&pair[0]), worth(&pair[1])] else { continue };
                assert!(better >= worse, "{request} -> {} above {}", pair[0], pair[1]);
            }
        }
    }
}

/// A line's exact score as a number that orders such scores; a sure win or loss is beyond all evaluations.
fn worth(line: &Value) -> Option<i64> {
    let score = line.get("score").filter(|score| score["bound"] == "exact")?;
    let plies = score["proof"]["plies"].as_i64();
    match (score["proof"]["outcome"].as_str(), plies) {
        (None, _) => score["eval"].as_i64(),
        (Some("win"), Some(plies)) => Some(i64::MAX - plies),
        (Some("loss"), Some(plies)) => Some(i64::MIN + plies),
        _ => None,
    }
}

/// Plays the engine against itself from a proven position: each side keeps its word, to the ply.
fn play_out(peer: &mut Peer, rules: &Value, position: &Value, proof: &Value) {
    let exact = proof["plies"].as_u64();
    let most = exact.or(proof["plies_max"].as_u64());
    let winner = inspect(peer, rules, position, &["to_move"])["to_move"].clone();
    let wins = proof["outcome"] == "win";
    let mut played = Vec::new();
    loop {
        let here = after(position, &played);
        let result = inspect(peer, rules, &here, &["outcome", "to_move"]);
        if !result["outcome"].is_null() {
            assert_eq!(
                result["outcome"]["winner"] == winner,
                wins,
                "{position} {proof} ended {result} by {played:?}"
            );
            let plies = played.len() as u64;
            assert!(exact.is_none_or(|exact| exact == plies), "{position} {proof} ended after {played:?}");
            assert!(most.is_none_or(|most| plies <= most), "{position} {proof} ended after {played:?}");
            let over = peer
                .ask(&with(json!({ "id": "g", "cmd": "go", "position": here, "mode": "analyse" }), rules));
            assert_eq!(
                (&over["code"], &over["outcome"]),
                (&json!("game_over"), &result["outcome"]),
                "{over}"
            );
            return;
        }
        assert!(
            most.is_none_or(|most| (played.len() as u64) < most),
            "{rules} {position} {proof}: {played:?}"
        );
        assert!(played.len() < 200, "{rules} {position} {proof} has no end: {played:?}");
        let request =
            with(json!({ "id": "g", "cmd": "go", "position": here, "clock": { "kind": "none" } }), rules);
        let best = peer.best(&request);
        let mine = result["to_move"] == winner;
        if let Some(claim) = best["lines"][0]["score"].get("proof") {
            assert_eq!(claim["outcome"] == "win", mine == wins, "{request} -> {best}");
            if let (Some(exact), Some(rest)) = (exact, claim["plies"].as_u64()) {
                assert_eq!(rest + played.len() as u64, exact, "{request} -> {best}");
            }
        }
        played.push(best["move"].as_str().unwrap().to_owned());
    }
}

#[test]
fn a_proven_win_is_won_in_exactly_so_many_plies() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let mut random = Random::new(3);
    let (mut wins, mut long) = (0, 0);
    for neutrals in ["one", "both", "compulsory", "none"] {
        let rules = json!({ "game": "l-game", "rules": { "neutrals": neutrals } });
        let (mut proven, mut position) = (0, json!({}));
        // A stroll; most places of this game are drawn, a few are won or lost.
        for _ in 0..400 {
            let result = inspect(&mut peer, &rules, &position, &["legal"]);
            let legal = texts(&result["legal"]);
            if legal.is_empty() || proven == 10 {
                break;
            }
            position = after(&position, &[random.pick(&legal).clone()]);
            if !inspect(&mut peer, &rules, &position, &["outcome"])["outcome"].is_null() {
                position = json!({});
                continue;
            }
            let request = json!({ "id": "g", "cmd": "go", "position": position, "mode": "analyse" });
            let best = peer.best(&with(request, &rules));
            assert_eq!(best["reason"], "proven", "{best}");
            let proof = &best["lines"][0]["score"]["proof"];
            if proof["outcome"] != "draw" {
                assert!(proof["plies"].is_u64() || proof["plies_max"].is_u64(), "{best}");
                play_out(&mut peer, &rules, &position, proof);
                wins += usize::from(proof["outcome"] == "win");
                // The side that loses a longer one keeps its word, too.
                long += usize::from(proof["plies"].as_u64() > Some(2));
                proven += 1;
            }
        }
    }
    assert!(wins >= 8 && long >= 2, "too few proofs to judge: {wins} wins, {long} of some length");
}

#[test]
fn small_boards_are_solved_and_played_to_the_ply() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    for (width, height, moves) in [
        (3, 3, json!([])),
        (3, 4, json!([])),
        (4, 4, json!(["a1"])),
        (4, 4, json!(["b2", "c3"])),
        (5, 4, json!(["a1", "b1"])),
        (5, 5, json!(["a1", "e5"])),
        (5, 5, json!(["c3", "a1"])),
    ] {
        let rules = json!({ "game": "isolation", "rules": { "width": width, "height": height } });
        let position = json!({ "moves": moves });
        let request = json!({ "id": "g", "cmd": "go", "position": position, "mode": "analyse" });
        let request = with(request, &rules);
        let best = peer.best(&request);
        assert_eq!(best["reason"], "proven", "{request} -> {best}");
        check_best(&mut peer, &rules, &position, &best, &request);
        let proof = &best["lines"][0]["score"]["proof"];
        assert_ne!(proof["outcome"], "draw", "nobody draws this game: {best}");
        play_out(&mut peer, &rules, &position, proof);
    }
}

#[test]
fn each_of_several_lines_proves_true_one_ply_later() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let mut random = Random::new(11);
    let mut checked = 0;
    for round in 0..40 {
        let (width, height) = *random.pick(&[(3, 4), (4, 3), (4, 4), (5, 3), (5, 4)]);
        let rules = json!({ "game": "isolation", "rules": { "width": width, "height": height } });
        let mut position = json!({});
        for _ in 0..2 + random.below(4) {
            let legal = texts(&inspect(&mut peer, &rules, &position, &["legal"])["legal"]);
            if !legal.is_empty() {
                position = after(&position, &[random.pick(&legal).clone()]);
            }
        }
        let legal = texts(&inspect(&mut peer, &rules, &position, &["legal"])["legal"]);
        if legal.is_empty() {
            continue;
        }
        let threads = json!({ "options": { "threads": 1 + round % 2 } });
        let analyse = |position: &Value, lines: usize| {
            let request =
                json!({ "id": "g", "cmd": "go", "position": position, "mode": "analyse", "multipv": lines });
            with(with(request, &rules), &threads)
        };
        let best = peer.best(&analyse(&position, 1000));
        assert_eq!(best["reason"], "proven", "{position} {best}");
        assert_eq!(best["lines"].as_array().unwrap().len(), legal.len(), "{position} {best}");
        play_out(&mut peer, &rules, &position, &best["lines"][0]["score"]["proof"]);
        for line in best["lines"].as_array().unwrap() {
            let proof = &line["score"]["proof"];
            let next = after(&position, &[line["move"].as_str().unwrap().to_owned()]);
            let reply = peer.ask(&analyse(&next, 1));
            let (wins, plies) = match reply["code"].as_str() {
                Some("game_over") => (false, Some(0)),
                _ => {
                    let proof = &reply["lines"][0]["score"]["proof"];
                    (proof["outcome"] == "win", proof["plies"].as_u64())
                }
            };
            assert_eq!(proof["outcome"] == "win", !wins, "{rules} {next}: {line} but {reply}");
            if let (Some(claimed), Some(plies)) = (proof["plies"].as_u64(), plies) {
                assert_eq!(claimed, plies + 1, "{rules} {next}: {line} but {reply}");
                checked += 1;
            }
            if let (Some(most), Some(plies)) = (proof["plies_max"].as_u64(), plies) {
                assert!(plies < most, "{rules} {next}: {line} but {reply}");
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "too few distances to judge: {checked}");
}

#[test]
fn minimax_and_alphabeta_agree() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for (rules, position) in positions() {
        let game = rules["game"].as_str().unwrap();
        for eval in names(&mut peer, game, "evaluators") {
            for depth in [1, 2] {
                let mut score = |player: &str| {
                    let request = json!({ "id": "g", "cmd": "go", "position": position, "clock": { "kind": "none" },
                        "options": { "player": player, "eval": eval, "depth": depth } });
                    peer.best(&with(request, &rules))["lines"][0]["score"].clone()
                };
                assert_eq!(score("minimax"), score("alphabeta"), "{rules} {position} {eval} {depth}");
            }
        }
    }
}

/// An answer without what may differ between equal searches.
fn answer(best: &Value) -> Value {
    let mut answer = best.clone();
    let fields = answer.as_object_mut().unwrap();
    for name in ["seq", "t_us", "timing", "id"] {
        fields.remove(name);
    }
    let stats = answer["stats"].as_object_mut().unwrap();
    stats.remove("nps");
    stats.remove("time_ms");
    answer
}

#[test]
fn equal_questions_get_equal_answers() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for (rules, position) in positions() {
        for (player, limit) in [
            ("default", json!({ "nodes": 20_000 })),
            ("default", json!({ "depth": 3 })),
            ("alphabeta", json!({ "depth": 2 })),
            ("greedy", json!({ "nodes": 1000 })),
            ("random", json!({ "nodes": 1000 })),
        ] {
            let go = json!({ "id": "g", "cmd": "go", "position": position, "limit": limit, "multipv": 2,
                "options": { "deterministic": true, "threads": 1, "player": player, "depth": 3 } });
            let first = answer(&peer.best(&with(go.clone(), &rules)));
            assert_eq!(answer(&peer.best(&with(go.clone(), &rules))), first, "{rules} {go}");
            // A new session with the seed that a go without session has.
            let newgame = json!({ "id": "n", "cmd": "newgame", "session": "s", "seed": "0" });
            peer.result(&with(newgame, &rules));
            let mut go = go;
            go["session"] = json!("s");
            assert_eq!(answer(&peer.best(&go)), first, "{rules} {go}");
        }
    }
}
