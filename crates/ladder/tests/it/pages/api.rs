//! The API: what it answers, that its document is right about it, and its bounds.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use plyd_ladder::store::By;
use serde_json::{Value, json};

use super::fixtures::ALICE;
use super::schema::faults;
use super::site::{Site, end};

/// A site with games that are over, forfeited, void and being played.
async fn busy() -> Site {
    let site = Site::new();
    let [ann, _, bob, _] = site.bots;
    site.play([ann, bob], [2, 1]).await;
    site.play([ann, site.house], [2, 2]).await;
    site.play([bob, site.house], [1, 0]).await;
    let open = site.begin([ann, bob]).await;
    site.end(&open, 0, Some(0)).await;
    let open = site.begin([bob, site.house]).await;
    site.store(move |store| store.void_game(open.id, "a <b>broken</b> switch", &ALICE)).await;
    site.begin([ann, site.house]).await;
    site
}

/// An address of each path of the document.
const ADDRESSES: [(&str, &str); 17] = [
    ("/pools", "/pools"),
    ("/pools/{id}", "/pools/1"),
    ("/pools/{id}/standings", "/pools/1/standings?season=1"),
    ("/pools/{id}/crosstable", "/pools/1/crosstable"),
    ("/seasons", "/seasons"),
    ("/bots", "/bots?limit=3"),
    ("/bots/{id}", "/bots/1"),
    ("/bots/{id}", "/bots/2"),
    ("/bots/{id}/curve", "/bots/2/curve?pool=1"),
    ("/bots/{id}/opponents", "/bots/2/opponents?pool=1"),
    ("/bots/{id}/games", "/bots/2/games?forfeits=true"),
    ("/games", "/games?pool=1&limit=200"),
    ("/playing", "/playing"),
    ("/games/{id}", "/games/1"),
    ("/games/{id}/record", "/games/1/record"),
    ("/games/{id}/conversation", "/games/7/conversation"),
    ("/games/{id}/boards", "/games/1/boards?from=1&limit=2"),
];

#[tokio::test]
async fn every_answer_is_what_the_document_says() {
    let site = busy().await;
    let document = site.json("/api/v1/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut asked = BTreeSet::new();
    for (path, address) in ADDRESSES {
        let answer = site.json(&format!("/api/v1{address}")).await;
        let operation = &document["paths"][format!("/api/v1{path}")]["get"];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{path} is in the document: {operation}");
        assert_eq!(faults(&document, schema, &answer), [""; 0], "{address}: {answer}");
        asked.insert(format!("/api/v1{path}"));
    }
    let paths = document["paths"].as_object().unwrap();
    let live = |path: &&String| path.ends_with("/live");
    assert_eq!(paths.keys().filter(|path| !live(path)).cloned().collect::<BTreeSet<_>>(), asked);
    // All states of games, too.
    let games = site.json("/api/v1/games?limit=200").await;
    let ids = games["games"].as_array().unwrap().iter().map(|game| game["id"].as_u64().unwrap());
    let schema = json!({ "$ref": "#/components/schemas/Game" });
    let mut states = BTreeSet::new();
    for id in ids {
        let game = site.json(&format!("/api/v1/games/{id}")).await;
        assert_eq!(faults(&document, &schema, &game), [""; 0], "{game}");
        states.insert(game["state"].as_str().unwrap().to_owned());
    }
    assert_eq!(states, ["over", "playing", "void"].map(Into::into).into());
}

#[tokio::test]
async fn every_refusal_is_a_problem_of_the_document() {
    let site = busy().await;
    let document = site.json("/api/v1/openapi.json").await;
    let schema =
        &document["components"]["responses"]["Problem"]["content"]["application/problem+json"]["schema"];
    for (address, status, code) in [
        ("/pools/9", 404, "not_found"),
        ("/pools/0", 404, "not_found"),
        ("/pools/-1", 404, "not_found"),
        ("/pools/01", 404, "not_found"),
        ("/pools/%FF", 404, "not_found"),
        ("/pools/18446744073709551615", 404, "not_found"),
        ("/pools/18446744073709551616", 404, "not_found"),
        ("/pools/1/standings?season=9", 404, "not_found"),
        ("/pools/1/standings?season=x", 400, "bad_request"),
        ("/pools/1/standings?seasn=1", 400, "bad_request"),
        ("/pools?seasn=1", 400, "bad_request"),
        ("/games/1/live?from=1", 400, "bad_request"),
        ("/bots/99", 404, "not_found"),
        ("/bots/2/curve", 400, "bad_request"),
        ("/bots/2/curve?pool=9", 404, "not_found"),
        ("/bots/99/curve?pool=1", 404, "not_found"),
        ("/bots/99/games", 404, "not_found"),
        ("/bots?limit=0", 400, "bad_request"),
        ("/bots?limit=201", 400, "bad_request"),
        ("/bots?limit=-1", 400, "bad_request"),
        ("/games?limit=1000000000000", 400, "bad_request"),
        ("/games/99", 404, "not_found"),
        ("/games/99/record", 404, "not_found"),
        ("/games/99/conversation", 404, "not_found"),
        ("/games/99/boards", 404, "not_found"),
        ("/games/99/live", 404, "not_found"),
        ("/games/11/record", 404, "not_found"),
        ("/games/1/boards?limit=51", 400, "bad_request"),
        ("/nothing", 404, "not_found"),
    ] {
        let answer = site.get(&format!("/api/v1{address}")).await;
        let problem: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(
            (answer.status.as_u16(), &problem["code"]),
            (status, &json!(code)),
            "{address}: {problem}"
        );
        assert_eq!(faults(&document, schema, &problem), [""; 0], "{address}");
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{address}");
        assert!(!answer.text.contains("deserialize"), "{}", answer.text);
    }
}

#[tokio::test]
async fn tables_have_intervals_and_mark_anchors() {
    let site = busy().await;
    let standings = site.json("/api/v1/pools/1/standings").await;
    let rows = standings["rows"].as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["bot"]["name"] == name).unwrap();
    let house = of("house");
    assert_eq!(
        (&house["anchor"], &house["elo"], &house["bot"]["house"]),
        (&true.into(), &1500.0.into(), &true.into())
    );
    let ann = of("ann-0");
    assert_eq!((&ann["anchor"], &ann["games"], &ann["points"]), (&false.into(), &4.into(), &3.5.into()));
    let number = |name: &str| ann[name].as_f64().unwrap();
    assert!(number("low") < number("elo") && number("elo") < number("high"), "{ann}");
    assert!(number("elo") > 1500.0, "{ann}");
    // The forfeited game's pair goes on, and the void one counts for nothing.
    let cross = site.json("/api/v1/pools/1/crosstable").await;
    let at =
        |name: &str| cross["bots"].as_array().unwrap().iter().position(|bot| bot["name"] == name).unwrap();
    let result = &cross["results"][at("ann-0")][at("bob-0")];
    assert_eq!(*result, json!({ "points": 1.5, "games": 2 }));
    assert_eq!(cross["results"][at("ann-0")][at("ann-0")], Value::Null);
    // A season that has only begun.
    site.store(|store| store.start_season("2", &ALICE)).await;
    let fresh = site.json("/api/v1/pools/1/standings?season=2").await;
    let names: Vec<&Value> =
        fresh["rows"].as_array().unwrap().iter().map(|row| &row["bot"]["name"]).collect();
    assert_eq!(names, ["house"]);
}

#[tokio::test]
async fn lists_go_on_where_they_ended() {
    let site = busy().await;
    let all: Vec<u64> = ids(&site.json("/api/v1/games?limit=200").await["games"]);
    assert!(all.len() > 6 && all.is_sorted_by(|a, b| a > b), "{all:?}");
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let page = site.json(&format!("/api/v1/games?limit=2{next}")).await;
        let games = ids(&page["games"]);
        assert!((1..=2).contains(&games.len()));
        found.extend(games);
        match page["next"].as_u64() {
            Some(before) => next = format!("&before={before}"),
            None => break,
        }
    }
    assert_eq!(found, all);
    let bots = site.json("/api/v1/bots?limit=3").await;
    assert_eq!((ids(&bots["bots"]), &bots["next"]), (vec![1, 2, 3], &3.into()));
    let rest = site.json("/api/v1/bots?limit=3&after=3").await;
    assert_eq!((ids(&rest["bots"]), &rest["next"]), (vec![4, 5], &Value::Null));
}

fn ids(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_game_has_its_moves_with_times_scores_and_boards() {
    let site = Site::new();
    let [ann, _, bob, _] = site.bots;
    let open = site.begin([ann, bob]).await;
    site.end(&open, 2, None).await;
    let game = site.json("/api/v1/games/1").await;
    let moves = game["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 4);
    assert_eq!((&moves[1]["player"], &moves[1]["time_us"]), (&Value::Null, &Value::Null), "the opening");
    assert_eq!((&moves[2]["player"], &moves[3]["player"]), (&"p1".into(), &"p2".into()));
    assert_eq!((&moves[2]["time_us"], &moves[3]["score"]["eval"]), (&1500.into(), &(-800).into()));
    assert_eq!((&game["points"], &game["versions"][0]), (&json!([1.0, 0.0]), &"ann-0 1.0".into()));
    assert_eq!(
        (&game["ended_by"], &game["ending"]),
        (&json!("stuck"), &json!("The L of the side to move has no other place: it loses."))
    );
    let boards = site.json("/api/v1/games/1/boards").await;
    let texts: Vec<&str> =
        boards["boards"].as_array().unwrap().iter().map(|board| board["text"].as_str().unwrap()).collect();
    assert_eq!((texts.len(), &boards["plies"]), (5, &4.into()));
    assert_eq!(texts[0], super::site::start());
    assert!(texts.windows(2).all(|pair| pair[0] != pair[1]));
    let later = site.json("/api/v1/games/1/boards?from=3&limit=1").await;
    assert_eq!(later["boards"].as_array().unwrap().len(), 1);
    assert_eq!(later["boards"][0]["text"], texts[3]);
    let past = site.json("/api/v1/games/1/boards?from=18446744073709551615").await;
    assert_eq!(past["boards"], json!([]));
}

#[tokio::test]
async fn a_record_whose_moves_no_rules_allow_is_shown_as_far_as_they_do() {
    let site = Site::new();
    let [ann, _, bob, _] = site.bots;
    let open = site.begin([ann, bob]).await;
    let mut over = end(&open, 1, None);
    over.played.record.moves.truncate(3);
    over.played.record.moves.push("<script>alert(1)</script>".repeat(1000));
    site.store(move |store| store.end_game(&over, 9)).await;
    let boards = site.json("/api/v1/games/1/boards").await;
    assert_eq!(boards["boards"].as_array().unwrap().len(), 4);
    let game = site.json("/api/v1/games/1").await;
    assert_eq!(game["moves"][3]["move"].as_str().unwrap().chars().count(), 101, "it is bounded");
    let page = site.page("/game/1").await;
    assert!(!page.contains("<script>alert"), "{page}");
}

#[tokio::test]
async fn pages_of_others_may_ask_and_secrets_are_nowhere() {
    let site = busy().await;
    let ann = site.bots[0];
    let by = By { who: "ann", at_ms: 1 };
    let token = site.store(move |store| store.new_token(ann, &by)).await;
    let answer = site.get("/api/v1/bots/2").await;
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    for (_, address) in ADDRESSES {
        let text = site.page(&format!("/api/v1{address}")).await;
        assert!(!text.contains(token.text()) && !text.contains("sha256:"), "{address}");
    }
    assert_eq!(answer.status, StatusCode::OK);
}
