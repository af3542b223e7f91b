//! What a bot loses by.

use super::*;

/// How a bot behaves when it is asked.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// With this move.
    Move(&'static str),
    /// With a line, in which `ID` stands for the id.
    Line(&'static str),
    /// With a line, and then properly.
    Then(&'static str),
    /// After that many milliseconds.
    After(u64),
    /// Not at all.
    Never,
    /// It leaves.
    Leave,
    /// With a line, many times.
    Flood(&'static str),
}

async fn misbehave(address: SocketAddr, way: Way) {
    let mut bot = join(address, 1).await;
    let mut is_first = true;
    while let Some(message) = bot.read().await {
        if message["cmd"] != "go" {
            continue;
        }
        let legal = message["x_legal"][0].clone();
        let line = |text: &str| text.replace("ID", message["id"].as_str().unwrap());
        match way {
            Way::Move(mv) => bot.best(&message, &json!(mv)).await,
            Way::Line(text) => bot.write(&line(text)).await,
            Way::Then(text) if is_first => bot.write(&line(text)).await,
            Way::Then(_) => bot.best(&message, &legal).await,
            Way::After(time) => {
                sleep(ms(time)).await;
                bot.best(&message, &legal).await;
            }
            Way::Never => {}
            Way::Leave => return,
            Way::Flood(text) => {
                for _ in 0..2000 {
                    bot.write(text).await;
                }
            }
        }
        is_first = false;
    }
}

#[tokio::test]
async fn each_fault_is_recorded_by_its_name() {
    use ForfeitKind::{Crash, Illegal, Late, Protocol, Timeout};
    let long = "x".repeat(plyd_protocol::MAX_LINE + 2).leak();
    let overloaded = r#"{"id":"ID","type":"error","code":"overloaded","retry_ms":1}"#;
    let other = r#"{"id":"other","type":"bestmove","move":"3"}"#;
    // The clock in ms; how long to wait beyond it in ms; the behaviour; the fault and a word of its message.
    for (clock, wait, way, expected) in [
        (60_000, 60_000, Way::Move("1"), None),
        (60_000, 60_000, Way::Then(overloaded), None),
        (60_000, 60_000, Way::Move("4"), Some((Illegal, "`4`"))),
        (60_000, 60_000, Way::Move(""), Some((Illegal, ""))),
        (20, 60_000, Way::After(40), Some((Late, "after its 20ms"))),
        (20, 20, Way::Never, Some((Timeout, "no answer"))),
        (20, 20, Way::Line(other), Some((Timeout, "no answer"))),
        (20, 20, Way::Line(r#"{"type":"info"}"#), Some((Timeout, "no answer"))),
        (60_000, 60_000, Way::Line("thinking..."), Some((Protocol, "thinking..."))),
        (60_000, 60_000, Way::Line(r#"{"id":"ID","type":"bestmove"}"#), Some((Protocol, "bestmove"))),
        (60_000, 60_000, Way::Line(r#"{"id":"ID","type":"result"}"#), Some((Protocol, "no `bestmove`"))),
        (60_000, 60_000, Way::Line(r#"{"id":"ID","type":"error","code":"x"}"#), Some((Protocol, "refused"))),
        (60_000, 60_000, Way::Line(r#"{"type":"error","message":"m"}"#), Some((Protocol, "refused: m"))),
        (60_000, 60_000, Way::Line(long), Some((Protocol, "longer than"))),
        (60_000, 60_000, Way::Flood(r#"{"type":"info"}"#), Some((Protocol, "500 lines"))),
        (60_000, 60_000, Way::Flood(other), Some((Protocol, "500 lines"))),
        (50, 60_000, Way::Leave, Some((Crash, "was not back in time"))),
    ] {
        let ended = against(way, clock, wait).await;
        let found = ended.played.forfeit.as_ref();
        match expected {
            None => assert_eq!(found, None, "{way:?}"),
            Some((kind, word)) => {
                let forfeit = found.unwrap_or_else(|| panic!("{way:?} is a fault"));
                assert_eq!((forfeit.player, forfeit.reason.kind), (Player::P1, kind), "{way:?}: {forfeit:?}");
                assert!(forfeit.reason.message.contains(word), "{way:?}: {forfeit:?}");
                let asked = ended.conversations[0].iter().any(|line| line.text.contains("\"go\""));
                assert!(asked, "{way:?}: {:?}", ended.conversations);
            }
        }
    }
}

#[tokio::test]
async fn a_bot_that_is_overloaded_until_its_clock_ends_loses_by_it() {
    let overloaded = r#"{"id":"ID","type":"error","code":"overloaded","message":"full","retry_ms":1}"#;
    let ended = against(Way::Line(overloaded), 50, 60_000).await;
    let forfeit = ended.played.forfeit.expect("its clock ran");
    assert_eq!((forfeit.player, forfeit.reason.kind, ended.void), (Player::P1, ForfeitKind::Late, None));
    let why = forfeit.reason.message;
    assert!(why.starts_with("it was overloaded for ") && why.ends_with(": full"), "{why}");
    // It is asked again until then, and no sooner after the last time than it said.
    assert!(ended.conversations[0].len() > 2, "{:?}", ended.conversations[0]);
    // One that wants more time than its clock leaves need not be asked again.
    let long = r#"{"id":"ID","type":"error","code":"overloaded","message":"full","retry_ms":60000}"#;
    let ended = against(Way::Line(long), 50_000, 60_000).await;
    assert_eq!(ended.played.forfeit.unwrap().reason.kind, ForfeitKind::Late);
}

#[tokio::test]
async fn what_a_bot_writes_is_sent_on_at_a_sane_length() {
    let blanks = " ".repeat(1_000_000);
    let padded = format!("4 1 W{blanks}").leak();
    let long = "x".repeat(1_000_000);
    let refusal = format!(r#"{{"id":"ID","type":"error","code":"internal","message":"{long}"}}"#).leak();
    let start = Position::start(REGISTRY.iter().find(|entry| entry.name == "l-game").unwrap());
    for (way, goes_on) in [(Way::Move(padded), true), (Way::Line(refusal), false)] {
        let ladder = Ladder::open(settings()).await;
        let first = tokio::spawn(misbehave(ladder.address, way));
        let mut second = join(ladder.address, 2).await;
        until("both are there", || ladder.lobby.bots().ready().len() == 2).await;
        let mut game = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], start.root().clone());
        game.terms.strictness.max_moves = 2;
        let played = ladder.play(game);
        let mut is_asked = false;
        loop {
            let message = second.read().await.unwrap();
            let length = message.to_string().len();
            assert!(length < 1 << 16, "{length} bytes of {:.200}", message.to_string());
            if message["cmd"] == "over" {
                break;
            }
            is_asked = true;
            assert_eq!(message["position"]["moves"], json!(["4 1 W"]));
            second.first(&message).await;
        }
        assert_eq!(is_asked, goes_on);
        let ended = within(played).await.unwrap().unwrap();
        assert_eq!(ended.played.forfeit.is_none(), goes_on, "{:?}", ended.played.forfeit);
        assert!(serde_json::to_string(&ended.played).unwrap().len() < 4096);
        first.abort();
    }
}

/// A game that a bot of this behaviour begins, with so many ms for a move and so many to wait beyond that.
async fn against(way: Way, clock: u64, wait: u64) -> GameEnd {
    let ladder = Ladder::open(settings()).await;
    let bots = [tokio::spawn(misbehave(ladder.address, way)), {
        let address = ladder.address;
        tokio::spawn(async move { drop(join(address, 2).await.play().await) })
    }];
    until("both are there", || ladder.lobby.bots().ready().len() == 2).await;
    let mut game = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], heap());
    game.terms.controls = [TimeControl::PerMove(ms(clock)), TimeControl::Unlimited];
    game.terms.strictness.timeout = ms(wait);
    // No machine is slow enough to be late on the other side.
    let ended = within(ladder.play(game)).await.unwrap().unwrap();
    for bot in bots {
        bot.abort();
    }
    ended
}
