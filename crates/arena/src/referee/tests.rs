//! Games played by the referee alone: every registered game with random players, and what each answer is
//! judged to be.

use super::*;
use TimeControl::{Bank, Delay, Increment, PerMove, Unlimited};
use plyd_core::engine::settings::{self, Settings};
use plyd_core::play;
use plyd_core::zobrist::mix;
use plyd_games::REGISTRY;
use plyd_protocol::{Bound, Proof, ProofOutcome};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Heaps of nim whose players move at once unless they say otherwise.
fn nim(controls: [TimeControl; 2]) -> Terms {
    Terms { controls, ..Terms::new(play::Position::start(&plyd_core::nim::ENTRY).root().clone()) }
}

/// The answer of a player who chooses, and takes its time, by a number.
fn drawn(play: &Play, number: u64) -> Reply {
    let moves = play.root().legal();
    let random = mix(number.wrapping_add(mix(play.answers().len() as u64)));
    let mv = &moves[random as usize % moves.len()];
    let eval = Some(random as i64 % 100);
    Reply {
        // Nanoseconds that no record has.
        own: Some(Duration::from_nanos(random % 1_000_000)),
        granted: random.is_multiple_of(3).then_some(ms(1)),
        score: Some(Score { bound: Bound::Exact, eval, wdl: None, proof: None }),
        ..Reply::new(mv, Duration::from_nanos(random % 3_000_000))
    }
}

/// Plays on until the game is over; gives the turns that were played.
fn play_on(play: &mut Play, number: u64) -> Vec<Turn> {
    let mut turns = Vec::new();
    while let Step::Ask(_) = play.step() {
        turns.push(play.answer(drawn(play, number), || None).expect("it is legal and in time"));
    }
    turns
}

/// The whole of a game that is over.
fn kept(play: Play) -> PlayedGame {
    let entrant = |index| Entrant { index, name: "random".to_owned(), build: None };
    play.into_played(1, Seed(7), [entrant(0), entrant(1)])
}

/// Openings of every registered game, and of the games with chance.
fn openings() -> Vec<Arc<dyn AnyRoot>> {
    let mut openings: Vec<_> =
        REGISTRY.iter().map(|entry| play::Position::start(entry).root().clone()).collect();
    let rules = Settings::from_iter([("mode", "nondet")]);
    let chance = play::Position::open(&plyd_games::ijk::ENTRY, &rules, None).unwrap();
    openings.push(chance.root().clone());
    openings
}

#[test]
fn a_game_that_is_interrupted_after_any_turn_goes_on_as_if_it_had_not_been() {
    let controls =
        [Increment { base: ms(500), increment: ms(2), moves: Some(7) }, Bank { turn: ms(2), bank: ms(300) }];
    let strictness = Strictness { max_moves: 30, ..Strictness::default() };
    for opening in openings() {
        let name = opening.entry().name;
        let terms = Terms { opening, chance: 5, controls, strictness };
        let mut whole = Play::new(terms.clone());
        let turns = play_on(&mut whole, 3);
        assert!(turns.len() > 1, "{name}");
        let clocks = whole.clocks.clone();
        let whole = kept(whole);
        for cut in 0..=turns.len() {
            // As a database keeps them.
            let kept_turns = serde_json::to_string(&turns[..cut]).unwrap();
            let known: Vec<Turn> = serde_json::from_str(&kept_turns).unwrap();
            let mut resumed =
                Play::resume(terms.clone(), &known).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(resumed.answers(), &whole.answers[..cut], "{name} after {cut}");
            let rest = play_on(&mut resumed, 3);
            assert_eq!(rest, turns[cut..], "{name} after {cut}");
            assert_eq!(resumed.clocks, clocks, "{name} after {cut}");
            assert_eq!(kept(resumed), whole, "{name} after {cut}");
        }
    }
}

#[test]
fn chance_is_the_same_in_both_games_of_a_pair() {
    let opening = openings().pop().unwrap();
    assert!(opening.is_stochastic());
    // What chance draws as long as both players do the same.
    let draws = |chance: u64, controls| {
        let mut play = Play::new(Terms { chance, controls, ..Terms::new(opening.clone()) });
        play_on(&mut play, 3);
        let moves = play.record().moves;
        assert!(moves.iter().any(|ply| ply.starts_with('~')));
        moves
    };
    let first = draws(1, [Unlimited; 2]);
    assert_eq!(draws(1, [PerMove(ms(9)), Unlimited]), first);
    assert!((2..9).any(|seed| draws(seed, [Unlimited; 2]) != first));
}

#[test]
fn flags_fall_by_the_time_that_is_given() {
    let increment = Increment { base: ms(100), increment: ms(10), moves: None };
    let delay = Delay { base: ms(20), delay: ms(50) };
    let bank = Bank { turn: ms(50), bank: ms(20) };
    // The control, the margin in ms, for how many ms the machine stood still, the time of each move in us,
    // and what the clock shows after the last in us, or the reason of the forfeit.
    #[rustfmt::skip]
    let table = [
        (Unlimited, 0, None, &[99_000_000][..], Ok(None)),
        (PerMove(ms(50)), 0, None, &[50_000, 50_000], Ok(None)),
        (PerMove(ms(50)), 0, None, &[50_001], Err("late: 1.0µs after its 50ms")),
        (PerMove(ms(50)), 2, None, &[52_000], Ok(None)),
        (PerMove(ms(50)), 2, None, &[50_000, 52_001], Err("late: 2.0ms after its 50ms")),
        (PerMove(ms(50)), 0, Some(7), &[57_000], Ok(None)),
        (PerMove(ms(50)), 0, Some(7), &[57_001], Err("late: 7.0ms after its 50ms")),
        (increment, 0, None, &[40_000, 70_000], Ok(Some(10_000))),
        (increment, 0, None, &[40_000, 70_001], Err("late: 1.0µs after its 70ms")),
        (delay, 0, None, &[50_000, 60_000, 50_000], Ok(Some(10_000))),
        (delay, 0, None, &[60_000, 60_001], Err("late: 1.0µs after its 60ms")),
        (bank, 0, None, &[70_000, 50_000], Ok(Some(0))),
        (bank, 0, None, &[70_000, 50_001], Err("late: 1.0µs after its 50ms")),
    ];
    for (control, margin, still, times, expected) in table {
        let mut terms = nim([control, Unlimited]);
        terms.strictness.margin = ms(margin);
        let mut play = Play::new(terms);
        let mut found = Ok(None);
        for time in times {
            let reply = Reply::new("1", Duration::from_micros(*time));
            match play.answer(reply, || still.map(ms)) {
                Ok(turn) => found = Ok(turn.answered.left_us),
                Err(reason) => {
                    found = Err(reason.to_string());
                    break;
                }
            }
            play.answer(Reply::new("1", Duration::ZERO), || None).unwrap();
        }
        assert_eq!(found, expected.map_err(str::to_owned), "{control:?} {times:?}");
        let is_over = matches!(play.step(), Step::Over(_));
        assert_eq!(is_over, found.is_err());
        if let Step::Over(end) = play.step() {
            assert_eq!((end.outcome.winner, &*end.outcome.by), (Some(Player::P2), "late"));
            // The late answer is kept, and its move is not played.
            assert_eq!(play.answers().len(), play.root().played().len() + 1);
        }
    }
}

#[test]
fn a_part_of_a_microsecond_does_not_count() {
    let mut play = Play::new(nim([Increment { base: ms(1), increment: ms(0), moves: None }; 2]));
    let turn = play.answer(Reply::new("1", Duration::from_nanos(1_000_999)), || None).unwrap();
    assert_eq!((turn.answered.time_us, turn.answered.left_us), (1000, Some(0)));
}

#[test]
fn a_move_that_is_none_loses() {
    let long = "1".repeat(10_000);
    for mv in ["4", "0", "", " 1", "1\n", "~1", "null", "\u{1b}[2J", "é", &long] {
        let mut play = Play::new(nim([Unlimited; 2]));
        play.answer(Reply::new("1", Duration::ZERO), || None).unwrap();
        let reason = play.answer(Reply::new(mv, Duration::ZERO), || None).unwrap_err();
        assert_eq!(reason.kind, ForfeitKind::Illegal, "{mv}");
        assert!(reason.message.len() < 300 && !reason.message.contains('\u{1b}'), "{}", reason.message);
        let Step::Over(end) = play.step() else { panic!("{mv} is none") };
        let forfeit = Some(Forfeit { player: Player::P2, reason });
        assert_eq!((end.outcome.winner, &end.forfeit), (Some(Player::P1), &forfeit));
        assert_eq!((end.outcome.by.as_str(), play.record().moves), ("illegal", vec!["1".to_owned()]));
    }
}

#[test]
fn a_move_is_recorded_as_the_game_writes_it() {
    let blanks = " ".repeat(1_000_000);
    for (name, spelled, written) in [
        ("l-game", format!("4 1 W{blanks}"), "4 1 W"),
        ("l-game", format!("{blanks}4  1\tw"), "4 1 W"),
        ("ijk", "d".to_owned(), "D"),
    ] {
        let entry = REGISTRY.iter().find(|entry| entry.name == name).unwrap();
        let mut play = Play::new(Terms::new(play::Position::start(entry).root().clone()));
        assert!(play.root().legal().iter().any(|mv| mv == written), "{name}");
        let turn = play.answer(Reply::new(spelled, Duration::ZERO), || None).unwrap();
        assert_eq!((turn.mv.as_str(), play.record().moves), (written, vec![written.to_owned()]));
        let Step::Ask(ask) = play.step() else { panic!("{name} is over") };
        assert_eq!(ask.position.moves, [written]);
    }
}

#[test]
fn a_failure_of_any_kind_ends_the_game_once() {
    for kind in ForfeitKind::ALL {
        for player in [Player::P1, Player::P2] {
            let mut play = Play::new(nim([Unlimited; 2]));
            play.answer(Reply::new("1", Duration::ZERO), || None).unwrap();
            play.fail(player, ForfeitReason::new(kind, "gone"));
            play.fail(other(player), ForfeitReason::new(ForfeitKind::Crash, "too late"));
            let game = kept(play);
            let result = game.record.result.unwrap();
            assert_eq!((result.winner, &*result.by), (Some(other(player)), kind.name()));
            assert_eq!(game.forfeit, Some(Forfeit { player, reason: ForfeitReason::new(kind, "gone") }));
            assert_eq!((game.answers.len(), game.opening), (1, 0));
        }
    }
}

#[test]
fn the_referee_ends_what_is_proven_or_too_long() {
    let announce = |outcome| {
        let proof = Some(Proof { outcome, plies: None, plies_max: None, margin: None });
        Some(Score { bound: Bound::Exact, eval: None, wdl: None, proof })
    };
    let (win, loss) = (announce(ProofOutcome::Win), announce(ProofOutcome::Loss));
    // The adjudication, the most moves, what each answer announces; the result, after how many answers, and
    // whose announcement is contradicted. Each takes one of 21 stones.
    for (adjudication, max_moves, scores, expected, answers, contradicted) in [
        (Adjudication::Never, 500, [None, None], (Some(Player::P1), "taken"), 21, &[][..]),
        (Adjudication::Never, 5, [None, None], (None, "max_moves"), 5, &[]),
        (Adjudication::Proof, 500, [win, loss], (Some(Player::P1), "adjudication"), 2, &[]),
        (Adjudication::Proof, 500, [loss, win], (Some(Player::P2), "adjudication"), 2, &[]),
        (Adjudication::Proof, 500, [win, win], (Some(Player::P1), "taken"), 21, &[Player::P2]),
        (Adjudication::Never, 500, [loss, win], (Some(Player::P1), "taken"), 21, &[Player::P2]),
    ] {
        let mut terms = nim([Unlimited; 2]);
        terms.strictness = Strictness { max_moves, adjudication, ..terms.strictness };
        let mut play = Play::new(terms);
        while let Step::Ask(ask) = play.step() {
            let score = scores[side(ask.player)];
            play.answer(Reply { score, ..Reply::new("1", Duration::ZERO) }, || None).unwrap();
        }
        let game = kept(play);
        let result = game.record.result.unwrap();
        assert_eq!((result.winner, &*result.by), expected);
        let found: Vec<Player> = game.contradictions.iter().map(|found| found.player).collect();
        assert_eq!((game.answers.len(), &*found), (answers, contradicted));
    }
}

#[test]
fn turns_of_another_game_are_not_resumed() {
    let terms = nim([PerMove(ms(50)), Increment { base: ms(100), increment: ms(0), moves: None }]);
    let mut play = Play::new(terms.clone());
    let turns = play_on(&mut play, 1);
    assert!(turns.len() > 3);
    let late = |turn: &mut Turn| turn.answered.time_us = 50_001;
    type Change<'c> = &'c dyn Fn(&mut Vec<Turn>);
    let changes: [(Change<'_>, usize, &str); 6] = [
        (&|turns| turns[1].mv = "9".to_owned(), 1, "no legal move"),
        (&|turns| turns[0].answered.player = Player::P2, 0, "the other player's"),
        (&|turns| late(&mut turns[0]), 0, "late"),
        (&|turns| turns[1].answered.left_us = Some(7), 1, "another time"),
        (&|turns| drop(turns.remove(0)), 0, "the other player's"),
        (&|turns| turns.push(turns[0].clone()), turns.len(), "over"),
    ];
    for (change, turn, message) in changes {
        let mut changed = turns.clone();
        change(&mut changed);
        let Err(error) = Play::resume(terms.clone(), &changed) else { panic!("{message}") };
        assert_eq!(error.turn, turn, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    // What was forgiven once stays forgiven.
    let mut forgiven = turns.clone();
    late(&mut forgiven[0]);
    forgiven[0].answered.forgiven_us = Some(1);
    assert!(Play::resume(terms, &forgiven).is_ok());
}

#[test]
fn a_game_opens_where_its_opening_ends() {
    let opening = play::Position::start(&plyd_core::nim::ENTRY).play("3").unwrap();
    let mut play = Play::new(Terms::new(opening.root().clone()));
    let Step::Ask(ask) = play.step() else { panic!("it is over") };
    assert_eq!((ask.player, ask.clock, ask.allowed), (Player::P2, None, None));
    assert_eq!(ask.position, Position { start: Some("21 1".to_owned()), moves: vec!["3".to_owned()] });
    play_on(&mut play, 2);
    let game = kept(play);
    assert_eq!((game.opening, game.record.moves.len()), (1, game.answers.len() + 1));
    // The whole game again, by the rules alone.
    let rules = settings::rules(&plyd_core::nim::ENTRY, &bridge::given(&game.record.rules), 0).unwrap();
    let start = settings::open(&plyd_core::nim::ENTRY, &rules, Some(&game.record.start)).unwrap();
    let end = start.extend(&game.record.moves).unwrap().outcome().map(bridge::outcome);
    assert_eq!(end, game.record.result);
}
