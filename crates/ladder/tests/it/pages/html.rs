//! The pages for people.

use axum::http::StatusCode;
use plyd_ladder::game::{Line, Speaker};

use super::fixtures::ALICE;
use super::site::{Site, end};

#[tokio::test]
async fn standings_pools_bots_and_games_show_what_is_there() {
    let site = Site::new();
    let [ann, _, bob, _] = site.bots;
    let [first, second] = site.play([ann, bob], [2, 1]).await;
    site.play([ann, site.house], [2, 2]).await;
    site.play([bob, site.house], [0, 1]).await;
    let index = site.page("/").await;
    for expected in ["quick", "l-game, 10 s + 0.1 s a move", "ann-0", "anchor", "0 games are being played"] {
        assert!(index.contains(expected), "{expected}: {index}");
    }
    let pool = site.page("/pool/1").await;
    for expected in ["Standings", "Crosstable", "1.5 of 2", "fixed", "95 % interval", "Season <bdi>1</bdi>"] {
        assert!(pool.contains(expected), "{expected}: {pool}");
    }
    assert!(site.page("/pool/1?season=1").await.contains("season=1\" aria-current=\"page\""));
    assert_eq!(site.get("/pool/1?season=2").await.status, StatusCode::NOT_FOUND);
    let bot = site.page(&format!("/bot/{ann}")).await;
    for expected in [
        "<svg class=\"curve\"",
        "Results by opponent",
        "bob-0",
        "ann-0 1.0",
        "Owner",
        "each of the 2 pairs",
        "Rank ",
    ] {
        assert!(bot.contains(expected), "{expected}: {bot}");
    }
    let house = site.page(&format!("/bot/{}", site.house)).await;
    assert!(
        house.contains("level=3, 1000 nodes a move, plyd 0.1.0") && house.contains("Elo, fixed"),
        "{house}"
    );
    let games = site.page("/games").await;
    assert!(games.contains("1 : 0") && games.contains("\u{bd} : \u{bd}"), "{games}");
    let game = site.page(&format!("/game/{first}")).await;
    for expected in [
        "ann-0 wins. The L of the side to move has no other place: it loses.",
        "The board after 4 of 4 plies",
        "+1.25",
        "<svg class=\"scores\"",
        &format!("/game/{second}"),
        "1 ms",
    ] {
        assert!(game.contains(expected), "{expected}: {game}");
    }
    assert!(site.page(&format!("/game/{first}?ply=1")).await.contains("The board after 1 of 4 plies"));
    assert!(site.page(&format!("/game/{first}?ply=999")).await.contains("The board after 4 of 4 plies"));
    for path in ["/pool/9", "/bot/99", "/game/99", "/game/x", "/nothing"] {
        assert_eq!(site.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_ladder_without_anything_has_pages_too() {
    let site = Site::new();
    assert!(site.page("/").await.contains("house"), "the anchor stands there from the beginning");
    assert!(site.page("/pool/1").await.contains("None yet."));
    assert!(site.page("/bot/2").await.contains("None yet."));
    assert!(site.page("/games").await.contains("No game is being played."));
}

#[tokio::test]
async fn what_bots_write_is_shown_as_text_and_bounded() {
    let site = Site::new();
    let [ann, _, bob, _] = site.bots;
    let open = site.begin([ann, bob]).await;
    let nasty = "</code><script>alert(1)</script>\u{202e}\u{0}\u{7} \"onload=x";
    let mut over = end(&open, 0, Some(0));
    over.played.players[0].build = Some(format!("{nasty}{}", "x".repeat(1 << 20)));
    if let Some(forfeit) = &mut over.played.forfeit {
        forfeit.reason.message = format!("{nasty}{}", "y".repeat(1 << 20));
    }
    let line = |text: &str| Line { by: Speaker::Bot, at_ms: 7, text: text.into() };
    over.conversations[0] = vec![line(nasty), line(&"z".repeat(1 << 20))];
    site.store(move |store| store.end_game(&over, 20_000)).await;
    site.store(move |store| store.note_version(ann, nasty, 5)).await;
    site.store(move |store| store.disable("ann-0", nasty, &ALICE)).await;
    for path in ["/game/1", "/bot/2", "/games", "/", "/pool/1"] {
        let page = site.page(path).await;
        assert!(!page.contains("<script>alert"), "{path}: {page}");
        assert!(!page.contains(['\u{202e}', '\0', '\u{7}']), "{path}");
        assert!(page.len() < 100_000, "{path} has {} bytes", page.len());
    }
    let game = site.page("/game/1").await;
    assert!(game.contains("What was said before the forfeit"), "{game}");
    assert!(game.contains("&#60;script&#62;alert(1)"), "{game}");
    assert!(game.contains("ann-0 forfeits: late"), "{game}");
    let bot = site.page("/bot/2").await;
    assert!(bot.contains("Its latest forfeits") && bot.contains("Disabled since"), "{bot}");
    let conversation = site.json("/api/v1/games/1/conversation").await;
    let lines = conversation["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    assert!(lines[1]["text"].as_str().unwrap().chars().count() <= Line::LONGEST + 1);
}

#[tokio::test]
async fn games_that_are_void_or_wait_have_pages() {
    let site = Site::new();
    let [ann, _, bob, _] = site.bots;
    let open = site.begin([ann, bob]).await;
    let partner = open.id.partner();
    let waiting = site.page(&format!("/game/{partner}")).await;
    assert!(
        waiting.contains("It begins after the other game") && waiting.contains("There is no board"),
        "{waiting}"
    );
    let playing = site.page(&format!("/game/{}", open.id)).await;
    assert!(
        playing.contains("data-playing") && playing.contains("The board after 2 of 2 plies"),
        "{playing}"
    );
    let id = open.id;
    site.store(move |store| store.void_game(id, "a <i>broken</i> switch", &ALICE)).await;
    let void = site.page(&format!("/game/{}", open.id)).await;
    assert!(void.contains("It does not count: a &#60;i&#62;broken&#60;/i&#62; switch."), "{void}");
}
