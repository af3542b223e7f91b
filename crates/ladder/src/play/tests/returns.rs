//! Bots that go and come back, and a ladder that does.

use super::*;

#[tokio::test]
async fn a_bot_that_comes_back_goes_on_with_its_clock() {
    let ladder = Ladder::open(settings()).await;
    let opponent = bot(ladder.address, 2, 1);
    let mut first = join(ladder.address, 1).await;
    assert_eq!(first.taken["games"], json!([]));
    let mut game = game(8, [ladder.bot(1, 8), ladder.bot(2, 8)], heap());
    game.terms.controls = [TimeControl::PerMove(LONG), TimeControl::Unlimited];
    let played = ladder.play(game);
    let asked = first.read().await.unwrap();
    // Its machine is cut off, so that the ladder sees nothing of that.
    let mut second = join(ladder.address, 1).await;
    let end = first.read().await.unwrap();
    // If it still runs, it is not to dial again: the two would take the games from each other for ever.
    assert_eq!((&end["code"], &end["fatal"]), (&json!("forbidden"), &json!(true)));
    assert!(end["message"].as_str().is_some_and(|message| message.contains("run one of the two")), "{end}");
    assert_eq!(first.read().await, None);
    assert_eq!(second.taken["games"], json!(["g8"]));
    let again = second.read().await.unwrap();
    assert_eq!((&again["x_game"], &again["position"]), (&asked["x_game"], &asked["position"]));
    // An answer to what was asked over another connection is nobody's.
    second.best(&json!({ "id": "77" }), &json!("3")).await;
    drop(second);
    until("it has left", || ladder.lobby.bots().find(BotId(1)).is_ok_and(|found| found.is_none())).await;
    sleep(ms(20)).await;
    let mut third = join(ladder.address, 1).await;
    let again = third.read().await.unwrap();
    assert_eq!(again["position"], asked["position"]);
    assert!(again["elapsed_ms"].as_u64() >= Some(20), "{again}");
    third.best(&again, &json!("2")).await;
    assert_eq!(third.play().await["outcome"], "drawn");
    let ended = within(played).await.unwrap().unwrap();
    assert_eq!((ended.played.forfeit, ended.void), (None, None));
    assert_eq!(ended.played.record.moves[0], "2");
    assert!(ended.played.answers[0].time_us >= 20_000, "{:?}", ended.played.answers[0]);
    within(opponent).await.unwrap();
    // The place is free again.
    assert_eq!(ladder.lobby.bots().ready()[0].slots, 4);
}

#[tokio::test]
async fn a_game_goes_on_after_the_ladder_was_stopped_at_any_turn() {
    let play = async |known: Option<Vec<Turn>>| {
        let turns = known.clone().unwrap_or_default();
        let ladder = Ladder::reopen(settings(), BTreeMap::from([(GameId(3), turns)])).await;
        let mut game = game(3, [ladder.bot(1, 3), ladder.bot(2, 3)], heap());
        let base = Duration::from_secs(600);
        game.terms.controls = [TimeControl::Increment { base, increment: ms(100), moves: None }; 2];
        game.resumed = known.map(|turns| Resumed { turns, back_by: Instant::now() + LONG });
        // It waits for its bots, whose clocks do not run meanwhile.
        let played = ladder.play(game);
        let bots = [1, 2].map(|number| bot(ladder.address, number, 1));
        let ended = within(played).await.unwrap().unwrap();
        for bot in bots {
            within(bot).await.unwrap();
        }
        (ended, within(ladder.close()).await.remove(&GameId(3)).unwrap_or_default())
    };
    let (whole, turns) = play(None).await;
    assert_eq!(turns.len(), 12);
    for cut in [0, 1, 5, 11] {
        let (resumed, all) = play(Some(turns[..cut].to_vec())).await;
        assert_eq!((resumed.void, resumed.played.record), (None, whole.played.record.clone()), "{cut}");
        assert_eq!(resumed.played.answers[..cut], whole.played.answers[..cut], "after {cut}");
        assert_eq!(all[..cut], turns[..cut], "after {cut}");
    }
}

#[tokio::test]
async fn a_game_does_not_count_if_neither_bot_comes_back_to_it_or_the_ladder_says_so() {
    let ladder = Ladder::open(settings()).await;
    let turn = json!({ "move": "1", "player": "p1", "time_us": 0 });
    let turn: Turn = serde_json::from_value(turn).unwrap();
    for (id, turns, back, is_present, word) in [
        (1, 0, ms(10), false, "neither bot came back"),
        (2, 9, ms(10), true, "cannot go on"),
        (3, 0, LONG, true, "a bug of the rules"),
    ] {
        let mut present = None;
        if is_present {
            present = Some(join(ladder.address, 2).await);
        }
        let mut game = game(id, [ladder.bot(1, id), ladder.bot(2, id)], heap());
        game.resumed = Some(Resumed { turns: vec![turn.clone(); turns], back_by: Instant::now() + back });
        let (void, voided) = oneshot::channel();
        game.voided = Some(voided);
        let played = ladder.play(game);
        if id == 3 {
            void.send("a bug of the rules".to_owned()).unwrap();
        }
        let ended = within(played).await.unwrap().unwrap();
        assert!(ended.void.as_ref().is_some_and(|why| why.contains(word)), "{:?}", ended.void);
        assert_eq!(ended.played.record.result, None);
        if let Some(mut present) = present {
            let over = present.read().await.unwrap();
            assert_eq!((&over["cmd"], &over["outcome"]), (&json!("over"), &json!("void")));
        }
    }
}

#[tokio::test]
async fn a_bot_that_alone_stays_away_from_a_game_that_goes_on_loses_by_its_clock() {
    // Who is there: the opponent; nobody any more; the house.
    for (comes, stays) in [(true, true), (true, false), (false, true)] {
        let ladder = Ladder::open(settings()).await;
        let opponent = match comes {
            true => ladder.bot(2, 1),
            false => Seat::House(HousePlayer::new(Options::default(), 9)),
        };
        let mut game = game(1, [ladder.bot(1, 1), opponent], heap());
        game.terms.controls = [TimeControl::PerMove(ms(50)); 2];
        let mut present = None;
        if comes {
            let bot = Some(join(ladder.address, 2).await).filter(|_| stays);
            // It answers pings meanwhile.
            present = bot.map(|mut bot| tokio::spawn(async move { bot.read().await }));
            until("who does not stay has left", || {
                ladder.lobby.bots().find(BotId(2)).is_ok_and(|found| found.is_some() == stays)
            })
            .await;
        }
        let back_by = Instant::now() + ms(100);
        game.resumed = Some(Resumed { turns: Vec::new(), back_by });
        let ended = within(ladder.play(game)).await.unwrap().unwrap();
        assert!(Instant::now() >= back_by + ms(50), "it is awaited, and then its clock runs");
        let forfeit = ended.played.forfeit.expect("it lost");
        assert_eq!((forfeit.player, forfeit.reason.kind), (Player::P1, ForfeitKind::Crash));
        assert_eq!((forfeit.reason.message.as_str(), ended.void), ("it was not there", None));
        if let Some(present) = present {
            assert_eq!(within(present).await.unwrap().unwrap()["outcome"], "won");
        }
    }
}

#[tokio::test]
async fn a_bot_that_is_disabled_loses_its_games_asked_or_awaited_or_gone() {
    let ladder = Ladder::open(settings()).await;
    let mut present = join(ladder.address, 2).await;
    for (id, joins, resumes) in [(1, false, true), (2, true, false), (3, false, false)] {
        let mut disabled = None;
        if joins {
            disabled = Some(join(ladder.address, 1).await);
        }
        let mut game = game(id, [ladder.bot(1, id), ladder.bot(2, id)], heap());
        game.terms.controls = [TimeControl::PerMove(LONG); 2];
        game.resumed = resumes.then(|| Resumed { turns: Vec::new(), back_by: Instant::now() + LONG });
        let played = ladder.play(game);
        if let Some(bot) = &mut disabled {
            assert_eq!(bot.read().await.unwrap()["cmd"], "go");
        }
        ladder.lobby.bots().forbid(BotId(1), "five forfeits");
        let ended = within(played).await.unwrap().unwrap();
        let forfeit = ended.played.forfeit.expect("it lost");
        assert_eq!((forfeit.player, forfeit.reason.kind, ended.void), (Player::P1, ForfeitKind::Crash, None));
        assert!(forfeit.reason.message.contains("disabled: five forfeits"), "{forfeit:?}");
        assert_eq!(present.read().await.unwrap()["outcome"], "won");
        if let Some(mut bot) = disabled {
            assert_eq!(bot.read().await.unwrap()["code"], "forbidden");
            assert_eq!(bot.read().await, None);
        }
    }
}

#[tokio::test]
async fn a_bot_takes_no_further_game_until_it_knows_how_the_one_before_ended() {
    let ladder = Ladder::open(settings()).await;
    let (recorder, mut events) = Recorder::new(1, Live::new(1));
    let table = Table { recorder, ..ladder.table.clone() };
    let bot = bot(ladder.address, 1, 1);
    until("it is there", || ladder.lobby.bots().ready().len() == 1).await;
    let house = Seat::House(HousePlayer::new(Options::default(), 9));
    let game = game(1, [ladder.bot(1, 1), house], heap());
    let slots = || ladder.lobby.bots().ready()[0].slots;
    let played = tokio::spawn(async move { table.play(game).await });
    let kept = loop {
        match within(events.recv()).await.unwrap() {
            Event::Turn { .. } => {}
            Event::Ended { kept, .. } => break kept,
        }
    };
    // It is over, and the bot has not heard of it.
    sleep(ms(20)).await;
    assert_eq!(slots(), 3);
    kept.send(()).unwrap();
    within(bot).await.unwrap();
    within(played).await.unwrap().unwrap();
    assert_eq!(slots(), 4);
}

#[tokio::test]
async fn a_bot_that_is_disconnected_may_come_back() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 1).await;
    let bots = ladder.lobby.bots();
    bots.disconnect(BotId(1), "an older token", "it came with another one");
    bots.disconnect(BotId(1), &token(1), "its token was replaced");
    bots.disconnect(BotId(9), &token(9), "it is not there");
    let last = bot.read().await.unwrap();
    assert_eq!((&last["code"], &last["message"]), (&json!("disconnected"), &json!("its token was replaced")));
    assert_eq!(bot.read().await, None);
    join(ladder.address, 1).await;
}

#[tokio::test]
async fn a_bot_that_does_not_read_keeps_only_itself_waiting_for_the_end_of_a_game() {
    let ladder = Ladder::open(Settings { heartbeat: LONG, unread_within: LONG, ..settings() }).await;
    let bots = ladder.lobby.bots();
    let (own, theirs) = tokio::io::duplex(64);
    tokio::spawn(Arc::clone(&ladder.lobby).serve(theirs, None));
    let _deaf = Bot::join(own, token(1)).await;
    let mut other = join(ladder.address, 2).await;
    // No line fits any more, however often what writes them has its turn.
    let mut refused = 0;
    until("nothing more is taken for it", || {
        refused += u32::from(!bots.warn(BotId(1), &"x".repeat(100)));
        refused > 20
    })
    .await;
    let mut game = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], heap());
    let (void, voided) = oneshot::channel();
    game.voided = Some(voided);
    void.send("a test".to_owned()).unwrap();
    let played = ladder.play(game);
    assert_eq!(other.read().await.unwrap()["cmd"], "over");
    let slots = |bot| bots.ready().iter().find(|ready| ready.bot == BotId(bot)).map(|ready| ready.slots);
    until("its place is free", || slots(2) == Some(4)).await;
    assert_eq!(slots(1), Some(3));
    // It comes back before it knows of the end: the game goes on, and then it does not.
    let mut back = join(ladder.address, 1).await;
    assert_eq!(back.taken["games"], json!(["g1"]));
    let over = back.read().await.unwrap();
    assert_eq!((&over["cmd"], &over["x_game"]), (&json!("over"), &json!("g1")), "{over}");
    within(played).await.unwrap().unwrap();
    assert_eq!((slots(1), slots(2)), (Some(4), Some(4)));
}
