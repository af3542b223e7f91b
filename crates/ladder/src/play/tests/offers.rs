//! What a bot may say to come in, and how much it may say.

use super::*;

#[tokio::test]
async fn offers_are_answered_by_what_is_wrong_with_them() {
    let few = Settings { offer_within: ms(100), connections: 3, ..settings() };
    let ladder = Ladder::open(few).await;
    let offer = |token: &str, version: u32| {
        let protocol = json!({ "min": version, "max": version });
        json!({ "id": "o", "cmd": "offer", "protocol": protocol, "token": token }).to_string()
    };
    let long = "x".repeat(1 << 17);
    for (line, id, code) in [
        ("GET / HTTP/1.1", Value::Null, "bad_json"),
        (r#"{"id":"h","cmd":"hello"}"#, json!("h"), "handshake_required"),
        (r#"{"id":"o","cmd":"offer"}"#, json!("o"), "missing_field"),
        (&offer("somebody", 1), json!("o"), "auth_failed"),
        (&offer("bot-13", 1), json!("o"), "forbidden"),
        (&offer("bot-1", 2), json!("o"), "version_unsupported"),
        (&long, Value::Null, "line_too_long"),
        ("", Value::Null, "timed_out"),
    ] {
        let mut bot = dial(ladder.address, 1).await;
        bot.write(line).await;
        let error = bot.read().await.unwrap_or_else(|| panic!("{line:.40}"));
        assert_eq!((&error["id"], &error["code"]), (&id, &json!(code)), "{line:.40}");
        assert_eq!((&error["type"], &error["fatal"]), (&json!("error"), &json!(true)), "{line:.40}");
        assert_eq!(bot.read().await, None, "{line:.40}");
    }
    let mut bots = Vec::new();
    for number in 1..=3 {
        // The places of those before are free at some time.
        until("a place is free", || ladder.lobby.bots().ready().len() == bots.len()).await;
        bots.push(joined(ladder.address, number).await);
    }
    let mut fourth = dial(ladder.address, 4).await;
    fourth.offer(1).await;
    assert_eq!(fourth.read().await.unwrap()["code"], "too_many_connections");
    assert_eq!(fourth.read().await, None);
}

/// Joins as soon as there is a place.
async fn joined(address: SocketAddr, number: u64) -> Bot<TcpStream> {
    loop {
        let mut bot = dial(address, number).await;
        bot.offer(1).await;
        match bot.read().await {
            Some(taken) if taken["type"] == "result" => return bot,
            Some(full) => assert_eq!(full["code"], "too_many_connections"),
            None => {}
        }
    }
}

#[tokio::test]
async fn a_bot_changes_what_it_offers() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 5).await;
    assert_eq!((&bot.taken["bot"], &bot.taken["heartbeat_ms"]), (&json!("the 5"), &json!(50)));
    let slots = || ladder.lobby.bots().ready().first().map(|ready| (ready.bot, ready.slots));
    assert_eq!(slots(), Some((BotId(5), 4)));
    let seated = ladder.bot(5, 9);
    assert_eq!(slots(), Some((BotId(5), 3)));
    // More than the ladder allows, one that has begun, and none.
    for (concurrency, applied, expected) in [(9, 4, Some(3)), (1, 1, None), (0, 0, None)] {
        bot.offer(concurrency).await;
        let taken = bot.read().await.unwrap();
        assert_eq!((&taken["concurrency"], &taken["games"]), (&json!(applied), &json!(["g9"])));
        assert_eq!(slots().map(|(_, slots)| slots), expected);
    }
    assert!(ladder.lobby.bots().is_leaving(BotId(5)) && !ladder.lobby.bots().is_leaving(BotId(6)));
    drop(seated);
    assert_eq!(slots(), None);
    // What is no offer is refused, and the connection goes on.
    bot.write(r#"{"id":"q","cmd":"status"}"#).await;
    assert_eq!(bot.read().await.unwrap()["code"], "unknown_cmd");
    bot.offer(1).await;
    assert_eq!(bot.read().await.unwrap()["concurrency"], 1);
    // Another bot's token ends it.
    bot.token = token(6);
    bot.offer(1).await;
    assert_eq!(bot.read().await.unwrap()["code"], "forbidden");
    assert_eq!(bot.read().await, None);
    until("it is gone", || slots().is_none()).await;
}

#[tokio::test]
async fn an_offer_that_is_too_long_or_has_too_much_in_it_is_not_taken() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 5).await;
    let of = |games: usize, presets: usize, clocks: usize, padding: usize| {
        json!({
            "id": "again", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": token(5), "concurrency": 2,
            "games": vec![json!({ "game": "a", "presets": vec!["b"; presets] }); games],
            "clocks": vec![json!({ "kind": "per_move", "ms": 5 }); clocks],
            "x_padding": "x".repeat(padding),
        })
        .to_string()
    };
    let slots = || ladder.lobby.bots().ready().first().map(|ready| ready.slots);
    for (offer, id, code) in [
        (of(1, 0, 0, 100_000), Value::Null, "line_too_long"),
        (of(501, 0, 0, 0), json!("again"), "out_of_range"),
        (of(10, 50, 0, 0), json!("again"), "out_of_range"),
        (of(1, 0, 500, 0), json!("again"), "out_of_range"),
    ] {
        bot.write(&offer).await;
        let error = bot.read().await.unwrap();
        assert_eq!((&error["id"], &error["code"]), (&id, &json!(code)), "{error}");
        assert_ne!(error["fatal"], true);
        assert_eq!(slots(), Some(4), "the offer before stands");
        let mut other = dial(ladder.address, 6).await;
        other.write(&offer).await;
        let error = other.read().await.unwrap();
        assert_eq!((&error["code"], &error["fatal"]), (&json!(code), &json!(true)));
    }
    bot.write(of(50, 5, 200, 0)).await;
    assert_eq!(bot.read().await.unwrap()["type"], "result");
    assert_eq!(slots(), Some(2));
}

#[tokio::test]
async fn a_further_offer_that_is_not_taken_costs_no_game() {
    // The token of the further offer, what is answered to it, whether that ends the connection, and whether
    // the bot may come back to its game then.
    for (again, code, is_fatal, goes_on) in [
        (TROUBLE.to_owned(), "too_many_requests", false, true),
        ("bot".to_owned(), "auth_failed", true, true),
        (token(3), "forbidden", true, true),
        (token(13), "forbidden", true, false),
    ] {
        let ladder = Ladder::open(settings()).await;
        let opponent = bot(ladder.address, 2, 1);
        let mut first = join(ladder.address, 1).await;
        until("both are there", || ladder.lobby.bots().ready().len() == 2).await;
        let played = ladder.play(game(8, [ladder.bot(1, 8), ladder.bot(2, 8)], heap()));
        let mut asked = first.read().await.unwrap();
        assert_eq!(asked["cmd"], "go");
        first.token = again;
        first.offer(2).await;
        let error = first.read().await.unwrap();
        assert_eq!(
            (&error["code"], error["fatal"] == true, &error["id"]),
            (&json!(code), is_fatal, &json!("offer-2")),
            "{error}"
        );
        if is_fatal {
            assert_eq!(first.read().await, None, "{code}");
        }
        if is_fatal && goes_on {
            first = join(ladder.address, 1).await;
            assert_eq!(first.taken["games"], json!(["g8"]));
            asked = first.read().await.unwrap();
        }
        if goes_on {
            first.first(&asked).await;
            first.play().await;
        }
        let forfeit = within(played).await.unwrap().unwrap().played.forfeit;
        assert_eq!(forfeit.is_none(), goes_on, "{code}: {forfeit:?}");
        within(opponent).await.unwrap();
    }
}

#[tokio::test]
async fn a_bot_that_answers_no_ping_is_gone_unless_it_thinks() {
    let ladder = Ladder::open(settings()).await;
    let address = ladder.address;
    let alive = tokio::spawn(async move { join(address, 1).await.read().await });
    let mut mute = join(address, 2).await;
    until("it was measured", || {
        let found = ladder.lobby.bots().find(BotId(1)).ok().flatten();
        found.is_some_and(|(link, _)| link.round_trip().is_some())
    })
    .await;
    // It is asked, and thinks for as long as three pings and more.
    let game = game(1, [ladder.bot(2, 1), ladder.bot(1, 1)], heap());
    let played = ladder.play(game);
    sleep(ms(400)).await;
    assert!(ladder.lobby.bots().find(BotId(2)).unwrap().is_some());
    played.abort();
    until("it is gone", || ladder.lobby.bots().find(BotId(2)).unwrap().is_none()).await;
    assert!(ladder.lobby.bots().find(BotId(1)).unwrap().is_some());
    // What it reads last are pings, until the end.
    while let Ok(Some(line)) = within(mute.lines.next_line()).await {
        assert!(line.contains("\"ping\"") || line.contains("\"go\""), "{line}");
    }
    alive.abort();
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_floods_its_connection_with_is_read_at_its_rate() {
    let lobby = Lobby::new(ByNumber, Settings { bytes_a_second: 1 << 20, ..Settings::default() });
    let (near, far) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(Arc::clone(&lobby).serve(far, None));
    let (input, mut out) = tokio::io::split(near);
    let reading = tokio::spawn(async move {
        let mut lines = BufReader::new(input).lines();
        let mut kinds = Vec::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            kinds.push(message["type"].as_str().or(message["cmd"].as_str()).unwrap().to_owned());
        }
        kinds
    });
    let offer = json!({ "id": "1", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": "bot-7" });
    out.write_all(format!("{offer}\n").as_bytes()).await.unwrap();
    let begun = tokio::time::Instant::now();
    let info = json!({ "type": "info", "id": "nobody's", "x_padding": "x".repeat((1 << 19) - 64) });
    let line = format!("{info}\n");
    let (lines, mib) = (60, 60 * line.len() as u64 / (1 << 20));
    for _ in 0..lines {
        out.write_all(line.as_bytes()).await.unwrap();
    }
    // The clock stands still while anything is done, so that this is the time that was waited.
    let waited = begun.elapsed().as_secs();
    assert!((mib - 3..=mib).contains(&waited), "{mib} MiB after {waited} s");
    out.shutdown().await.unwrap();
    serving.await.unwrap();
    let kinds = reading.await.unwrap();
    assert!(kinds.iter().all(|kind| kind == "result" || kind == "ping"), "it is no fault: {kinds:?}");
}

#[tokio::test]
async fn what_comes_behind_the_end_of_a_connection_is_not_read_for_ever() {
    let offer = r#"{"id":"1","cmd":"offer","protocol":{"min":1,"max":1},"token":"bot-13"}"#;
    let long = "x".repeat(plyd_protocol::MAX_LINE);
    for (places, first, most_mib) in [(1, "garbage", 3), (1, offer, 3), (1, &long, 3), (0, offer, 1)] {
        let lobby = Lobby::new(ByNumber, Settings { connections: places, ..settings() });
        let (mut near, far) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(lobby.serve(far, None));
        let mut written = 0;
        let piece = format!("{first}\n");
        while written < 10 << 20 && near.write_all(piece.as_bytes()).await.is_ok() {
            written += piece.len();
        }
        assert!(written <= most_mib << 20, "{written} bytes behind {first:.40}");
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn offers_of_an_address_are_taken_at_its_rate() {
    let settings = Settings { offers_at_once: 3, offers_a_second: 0, ..settings() };
    let ladder = Ladder::open(settings).await;
    // A further offer counts as the one of another connection does.
    let mut first = join(ladder.address, 1).await;
    first.offer(2).await;
    assert_eq!(first.read().await.unwrap()["type"], "result");
    let _second = join(ladder.address, 2).await;
    first.offer(3).await;
    let refused = first.read().await.unwrap();
    assert_eq!((&refused["code"], &refused["id"]), (&json!("too_many_requests"), &json!("offer-3")));
    let mut third = dial(ladder.address, 3).await;
    third.offer(1).await;
    let refused = third.read().await.unwrap();
    assert_eq!((&refused["code"], &refused["fatal"]), (&json!("too_many_connections"), &json!(true)));
    assert!(third.read().await.is_none(), "its connection is closed");
    // Whoever is there stays.
    first.offer(4).await;
    assert_eq!(first.read().await.unwrap()["code"], "too_many_requests");
    drop((first, third));
    ladder.close().await;
}
