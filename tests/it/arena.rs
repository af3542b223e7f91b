//! Matches as people run them: the real binary plays against itself.

use crate::common::{Folder, Server, process};
use crate::games::games;
use crate::matches::{
    FAST, GREEDY, RANDOM, arena, command, directory, records, records_in, report, timeless,
};
use plyd::bridge;
use plyd::engine::settings;
use plyd::games::REGISTRY;
use plyd_protocol::{Setting, Settings};
use serde_json::{Value, json};

#[test]
fn the_same_seed_gives_the_same_games() {
    for game in [
        &["l-game", "--random-plies", "4", "--max-moves", "12"][..],
        &["isolation", "--rules", "width=5,height=5"],
    ] {
        let played = |options: &[&str]| -> Vec<Value> {
            let players = ["--player", FAST, "--player", RANDOM, "--games", "8"];
            let (records, _) = records(&[game, &players, options].concat());
            records.into_iter().map(timeless).collect()
        };
        let first = played(&["--seed", "5"]);
        assert_eq!(first, played(&["--seed", "5", "--concurrency", "2"]));
        assert_ne!(first, played(&["--seed", "6"]));
    }
}

#[test]
fn records_are_whole_games_in_pairs() {
    let (records, report) = records(&[
        "isolation",
        "--rules",
        "width=5,height=5",
        "--player",
        FAST,
        "--player",
        GREEDY,
        "--games",
        "6",
    ]);
    assert_eq!(records.len(), 6);
    let entry = REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap();
    let size: Settings =
        [("width", 5), ("height", 5)].map(|(name, n)| (name, Setting::Int(n))).into_iter().collect();
    let mut wins = 0;
    for (record, number) in records.iter().zip(1..) {
        assert_eq!(record["number"], number);
        let first = &records[(number - 1) / 2 * 2];
        let opening = |record: &Value| record["moves"].as_array().unwrap()[..2].to_vec();
        assert_eq!((&record["opening"], opening(record)), (&json!(2), opening(first)));
        let indexes = [0, 1].map(|side| record["players"][side]["index"].as_u64().unwrap());
        assert_eq!(indexes, if number % 2 == 1 { [0, 1] } else { [1, 0] });
        let moves: Vec<String> = serde_json::from_value(record["moves"].clone()).unwrap();
        assert_eq!(record["answers"].as_array().unwrap().len() + 2, moves.len());
        let rules = settings::rules(entry, &bridge::given(&size), 0).unwrap();
        let start = settings::open(entry, &rules, record["start"].as_str()).unwrap();
        let outcome =
            serde_json::to_value(start.extend(&moves).unwrap().outcome().map(bridge::outcome)).unwrap();
        assert_eq!(record["result"], outcome);
        wins += u64::from(outcome["winner"] == ["p1", "p2"][(number - 1) % 2]);
    }
    let summary = &report["summary"];
    assert_eq!((&summary["games"], &summary["meetings"][0]["wins"]), (&json!(6), &json!(wins)));
    assert_eq!(report["openings"], 3);
}

#[test]
fn the_stronger_player_wins() {
    let report = report(&[
        "isolation",
        "--rules",
        "width=5,height=5",
        "--player",
        RANDOM,
        "--player",
        FAST,
        "--games",
        "20",
        "--concurrency",
        "2",
    ]);
    assert!(report["scores"][0]["score"]["value"].as_f64() < Some(0.2), "{report}");
    let pairs: Vec<u64> = serde_json::from_value(report["summary"]["meetings"][0]["pairs"].clone()).unwrap();
    assert_eq!(pairs.iter().sum::<u64>(), 10, "{report}");
    for player in report["summary"]["players"].as_array().unwrap() {
        assert_eq!((&player["faults"], &player["contradicted_proofs"]), (&json!({}), &json!(0)), "{report}");
    }
}

#[test]
fn a_game_without_end_is_a_draw() {
    let players = ["--player", FAST, "--player", FAST];
    let (records, _) = records(
        &[&["l-game", "--games", "2", "--random-plies", "0", "--max-moves", "3"], &players[..]].concat(),
    );
    for record in records {
        assert_eq!(record["result"], json!({ "winner": null, "by": "max_moves" }));
        assert_eq!(record["moves"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn clocks_are_kept_through_the_game() {
    let rules = ["isolation", "--rules", "width=5,height=5", "--games", "2", "--player"];
    let (records, _) =
        records(&[&rules[..], &["default,tc=3/20s+1s", "--player", "default,delay=20s+1s"]].concat());
    for record in records {
        let mut left = [20_000_000; 2];
        let mut moves = 0;
        for answer in record["answers"].as_array().unwrap() {
            let side = usize::from(answer["player"] == "p2");
            let time = answer["time_us"].as_u64().unwrap();
            if record["players"][side]["index"] == 0 {
                moves += 1;
                left[side] = left[side] - time + 1_000_000 + if moves % 3 == 0 { 20_000_000 } else { 0 };
            } else {
                left[side] -= time.saturating_sub(1_000_000);
            }
            assert!(answer["left_us"].as_u64().unwrap().abs_diff(left[side]) <= moves + 1, "{record}");
        }
        assert!(moves > 3, "a period ends: {record}");
    }
}

#[test]
fn games_that_both_players_proved_end_as_they_would() {
    let players = ["--player", FAST, "--player", "default,nodes=300", "--games", "12"];
    let game = ["isolation", "--rules", "width=5,height=5"];
    let (whole, _) = records(&[&game[..], &players].concat());
    let (adjudicated, report) = records(&[&game[..], &players, &["--adjudicate", "proof"]].concat());
    for (whole, cut) in whole.iter().zip(&adjudicated) {
        let moves = |record: &Value| record["moves"].as_array().unwrap().clone();
        assert!(moves(whole).starts_with(&moves(cut)), "{cut}");
        assert_eq!(cut["result"]["winner"], whole["result"]["winner"], "{cut}");
    }
    assert!(report["summary"]["endings"]["adjudication"].as_u64() > Some(6), "{report}");
}

#[test]
fn a_server_plays_over_tcp() {
    let server = Server::tcp(&[]);
    let address = server.socket().peer_addr().unwrap();
    let called = format!("tcp={address},player={RANDOM}");
    let players = ["--player", FAST, "--player", &called, "--games", "4", "--concurrency", "2"];
    let report = report(&[&["isolation", "--rules", "width=5,height=5"], &players[..]].concat());
    assert_eq!(report["summary"]["players"][1]["faults"], json!({}), "{report}");
}

#[test]
fn cores_are_kept_apart_or_a_warning_says_that_they_are_not() {
    let players = ["--player", FAST, "--player", FAST, "--games", "2", "--pin"];
    for (concurrency, warns) in [("1", false), ("256", true)] {
        let output =
            arena(&[&["l-game", "--max-moves", "2", "--concurrency", concurrency], &players[..]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        assert_eq!(text.contains("256 games at once want 256 cores"), warns, "{text}");
    }
}

#[test]
fn mistakes_end_the_command_before_the_first_game() {
    for (arguments, word) in [
        (&[][..], "<GAME>"),
        (&["isolation"], "--player"),
        (&["--preset", "nonsense"], "isolation"),
        (&["--preset", "l-game", "l-game"], "cannot be used with"),
        (&["--preset", "l-game", "--openings", "x"], "cannot be used with"),
        (&["--preset", "l-game", "--rules", "a=b"], "cannot be used with"),
        (&["--preset", "l-game", "--record", "/dev/null"], "directory"),
        (&["l-game", "--player", FAST, "--player", FAST, "--html", "/nonexistent/page.html"], "--html"),
        (&["l-game", "--player", FAST, "--player", FAST, "--html", "/dev"], "--html"),
        (&["isolation", "--player", FAST], "twice"),
        (
            &["isolation", "--player", "default,name=a", "--player", "random,name=a"],
            "two players are called `a`",
        ),
        (&["isolation", "--tc", "10+0.1"], "--player default,tc=10s+0.1s"),
        (&["isolation", "--engine", "cmd=./bot"], "\"cmd=python3 bot.py,name=anna\""),
        (&["isolation", "--rounds", "10"], "--games"),
        (&["isolation", "--player", FAST, "--player", "expert"], "random"),
        (&["isolation", "--player", FAST, "--player", FAST, "--games", "3"], "even"),
        (
            &[
                "isolation",
                "--player",
                FAST,
                "--player",
                FAST,
                "--rules",
                "width=3,height=3",
                "--random-plies",
                "9",
            ],
            "fewer",
        ),
    ] {
        let output = arena(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?} without `{word}`: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn people_get_a_table_and_a_running_score() {
    let output = arena(&["l-game", "--player", FAST, "--player", RANDOM, "--games", "4"]);
    let (table, progress) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let words = ["score", "points of a pair", "contradicted proofs", "longest", "ended by: ", "openings: 2"];
    for word in words.into_iter().chain(["played: l-game, openings of 2 random plies\n"]) {
        assert!(table.contains(word), "no `{word}` in:\n{table}");
    }
    assert!(progress.contains("4/4 games"), "{progress}");
}

#[test]
fn published_matches_are_played_again() {
    let directory = directory();
    let given = ["--preset", "l-game", "--games", "2", "--json", "--record", "games"];
    let play = || {
        let output = process::output(command(&directory, &given));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let tables = play();
    assert_eq!(tables["ended"], "played");
    let tables = tables["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2, "{tables:?}");
    let matches: Vec<&Value> = tables.iter().flat_map(|table| table["matches"].as_array().unwrap()).collect();
    for found in &matches {
        let games: u64 = ["wins", "draws", "losses"].iter().map(|kind| found[kind].as_u64().unwrap()).sum();
        assert_eq!((games, &found["forfeits"]), (2, &json!(0)), "{found}");
        assert!(found["verdict"].is_string() && found["claims"][0] == "no loss", "{found}");
    }
    assert_eq!(std::fs::read_dir(directory.join("games")).unwrap().count(), matches.len());
    assert_eq!(
        play()["tables"].as_array().unwrap(),
        tables,
        "the recorded games are counted, not played again"
    );
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_match_becomes_one_page() {
    for entry in games() {
        let directory = directory();
        let given = ["--player", RANDOM, "--player", GREEDY, "--games", "2", "--html", "match.html"];
        let (records, _) = records_in(&directory, &[&[entry.name][..], &given].concat());
        let page = std::fs::read_to_string(directory.join("match.html")).unwrap();
        let data = page.split(r#"<script type="application/json" id="data">"#).nth(1).unwrap();
        let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
        let games = data["games"].as_array().unwrap();
        assert_eq!(games.len(), records.len(), "{}", entry.name);
        for (game, record) in games.iter().zip(&records) {
            assert_eq!(game["moves"], record["moves"]);
            let boards = game["boards"].as_array().unwrap();
            assert_eq!(boards.len(), record["moves"].as_array().unwrap().len() + 1);
            assert!(boards[0]["grid"].is_object(), "{}", entry.name);
        }
        // No address but those of the drawing's own language: the page needs no network.
        let addresses = page.matches("://").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/").count(), "{}", entry.name);
        std::fs::remove_dir_all(directory).unwrap();
    }
}

#[test]
fn a_page_never_replaces_the_record() {
    let directory = directory();
    let given = ["l-game", "--player", FAST, "--player", RANDOM, "--games", "2", "--record", "games"];
    for page in ["games", "./games"] {
        let output = process::output(command(&directory, &[&given[..], &["--html", page]].concat()));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("would replace the record"), "{text}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_program_that_crashes_without_the_legal_moves_is_told_how_to_get_them() {
    let folder = Folder::new("arena-legal");
    // It knows `go` alone, and ends where the moves are missing.
    let bot = folder.file(
        "bot.sh",
        r#"while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  case $line in
    *'"cmd":"go"'*) exit 1 ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\",\"message\":\"go alone\"}" ;;
  esac
done"#,
    );
    for (more, is_told) in [("", true), (",legal=true", false)] {
        let player = format!("cmd=sh {bot}{more},nodes=1");
        let output = process::output(process::plyd([
            "arena", "l-game", "--player", FAST, "--player", &player, "--games", "2",
        ]));
        let said = String::from_utf8_lossy(&output.stdout);
        let all = "ended by its faults: 2 crash; this says nothing about strength";
        assert!(said.contains(all), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(said.contains("`,legal=true` behind it"), is_told, "{said}");
    }
}

#[test]
fn reports_call_players_by_their_names_and_records_keep_their_texts() {
    let directory = directory();
    let players = ["--player", "random,time=1000s,name=anna", "--player", GREEDY];
    let (records, report) = records_in(&directory, &[&["l-game", "--games", "2"], &players[..]].concat());
    assert_eq!(report["players"], json!(["anna", GREEDY]));
    assert_eq!(records[0]["players"][0]["name"], players[1]);
    let mut show = process::plyd(["show", "games.jsonl"]);
    show.command.current_dir(&directory);
    let listed = String::from_utf8(process::output(show).stdout).unwrap();
    assert!(listed.contains("anna") && !listed.contains("name="), "{listed}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn games_that_repeat_another_one_are_counted_and_the_report_says_what_that_means() {
    let whole = ["arena", "isolation", "--rules", "width=4,height=4", "--random-plies", "0", "--games", "8"];
    let whole = [&whole[..], &["--player", "default,nodes=50", "--player", "minimax,nodes=50"]].concat();
    let output = process::output(process::plyd(whole.iter().copied()));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("warning: 6 of 8 games repeat an earlier one"), "{said}");
    let output = process::output(process::plyd([&whole[..], &["--json"]].concat()));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["summary"]["repeats"], &report["openings"]), (&6.into(), &1.into()), "{report}");
}
