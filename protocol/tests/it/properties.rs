//! Properties of the decoder: it takes what the types write, and any other bytes get a fault.

use plyd_protocol::*;
use proptest::prelude::*;
use proptest::{collection::vec, option::of, sample::select};

fn name() -> impl Strategy<Value = String> {
    "[A-Za-z0-9._:-]{1,64}"
}

fn int() -> impl Strategy<Value = u64> {
    prop_oneof![0..1000_u64, 0..=MAX_INT as u64]
}

fn signed() -> impl Strategy<Value = i64> {
    prop_oneof![-1000..1000_i64, -MAX_INT..=MAX_INT]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9 ~]{0,6}", any::<String>()]
}

fn settings() -> impl Strategy<Value = Settings> {
    let setting = prop_oneof![
        any::<bool>().prop_map(Setting::Bool),
        signed().prop_map(Setting::Int),
        text().prop_map(Setting::Text),
    ];
    let named = (text().prop_filter("extension", |name| !name.starts_with("x_")), setting);
    vec(named, 0..4).prop_map(Settings::from_iter)
}

fn game() -> impl Strategy<Value = GameRef> {
    prop_oneof![
        name().prop_map(|session| GameRef::Session { session }),
        (text(), settings()).prop_map(|(game, rules)| GameRef::Game { game, rules }),
    ]
}

fn position() -> impl Strategy<Value = Position> {
    (of(text()), vec(text(), 0..4)).prop_map(|(start, moves)| Position { start, moves })
}

fn clock() -> impl Strategy<Value = Clock> {
    let increment = (signed(), of(signed()), int(), of(int()), of(1..=MAX_MOVES_TO_GO)).prop_map(
        |(me_ms, opp_ms, inc_ms, opp_inc_ms, moves_to_go)| Clock::Increment {
            me_ms,
            opp_ms,
            inc_ms,
            opp_inc_ms,
            moves_to_go,
        },
    );
    prop_oneof![
        signed().prop_map(|ms| Clock::PerMove { ms }),
        increment,
        (signed(), of(signed()), int()).prop_map(|(me_ms, opp_ms, delay_ms)| Clock::Delay {
            me_ms,
            opp_ms,
            delay_ms
        }),
        (signed(), signed()).prop_map(|(turn_ms, bank_ms)| Clock::Bank { turn_ms, bank_ms }),
        of(int()).prop_map(|hint_ms| Clock::Anytime { hint_ms }),
        Just(Clock::None),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    (of(1..=MAX_INT as u64), of(1..=MAX_SEARCH_DEPTH), of(int())).prop_map(|(nodes, depth, time_ms)| Limit {
        nodes,
        depth,
        time_ms,
    })
}

fn info() -> impl Strategy<Value = InfoRequest> {
    let event = select(vec![InfoEvent::Started, InfoEvent::Best, InfoEvent::Progress]);
    (vec(event, 0..4), int()).prop_map(|(events, min_interval_ms)| InfoRequest { events, min_interval_ms })
}

fn go() -> impl Strategy<Value = Go> {
    let mode = select(vec![Mode::Move, Mode::Analyse, Mode::Ponder]);
    let times = (of(int()), int(), int());
    let moves = (vec(text(), 0..3), vec(text(), 0..3));
    let rest = (1..=MAX_MULTIPV, info(), settings(), any::<bool>());
    (game(), position(), mode, of(clock()), limit(), times, moves, rest).prop_map(
        |(game, position, mode, clock, limit, times, moves, (multipv, info, options, queue))| Go {
            game,
            position,
            mode,
            // A move needs a clock or a limit.
            clock: clock.or((mode == Mode::Move && limit.is_empty()).then_some(Clock::None)),
            limit,
            hard_ms: times.0,
            elapsed_ms: times.1,
            overhead_ms: times.2,
            multipv,
            searchmoves: moves.0,
            excludemoves: moves.1,
            info,
            options,
            queue,
        },
    )
}

fn short() -> impl Strategy<Value = String> {
    text().prop_filter("long", |text| text.chars().count() <= MAX_TEXT)
}

fn command() -> impl Strategy<Value = Command> {
    let on_eof = select(vec![OnEof::Finish, OnEof::Stop, OnEof::Cancel]);
    let client = (of(short()), of(short())).prop_map(|(name, version)| ClientInfo { name, version });
    let resume = prop_oneof![
        (1..=MAX_INT as u64).prop_map(|keep_ms| Resume::Keep { keep_ms }),
        (short(), of(int())).prop_map(|(token, seq)| Resume::Take { token, seq }),
    ];
    let versions = (0..=9_u32, 9..=MAX_VERSION).prop_map(|(min, max)| Versions { min, max });
    let hello = (versions, of(client), of(short()), vec(short(), 0..3), on_eof, of(resume)).prop_map(
        |(protocol, client, token, require, on_eof, resume)| {
            Command::Hello(Hello { protocol, client, token, require, on_eof, resume })
        },
    );
    let describe = prop_oneof![
        text().prop_map(|game| Describe { what: DescribeWhat::Game, game: Some(game) }),
        of(text()).prop_map(|game| Describe { what: DescribeWhat::Options, game }),
    ];
    let new_game = (name(), text(), settings(), settings(), of(any::<u64>().prop_map(Seed))).prop_map(
        |(session, game, rules, options, seed)| {
            Command::NewGame(NewGame { session, game, rules, options, seed })
        },
    );
    let want = vec(select(vec![Want::ToMove, Want::Moves, Want::Board, Want::Record, Want::Edits]), 0..4);
    let inspect = (game(), position(), prop_oneof![Just(Want::usual()), want], of(text()))
        .prop_map(|(game, position, want, draft)| Command::Inspect(Inspect { game, position, want, draft }));
    let mode = of(Just(UpdateMode::Move));
    let update =
        (name(), of(clock()), limit(), of(int()), mode).prop_map(|(target, clock, limit, hard_ms, mode)| {
            Command::Update(Update { target, clock, limit, hard_ms, mode })
        });
    let target = prop_oneof![
        name().prop_map(StopTarget::Go),
        name().prop_map(StopTarget::Session),
        Just(StopTarget::All),
    ];
    prop_oneof![
        hello,
        of(short()).prop_map(|echo| Command::Ping(Ping { echo })),
        describe.prop_map(Command::Describe),
        new_game,
        (settings(), of(name()))
            .prop_map(|(options, session)| Command::SetOption(SetOption { options, session })),
        (name(), of(1..=MAX_INT as u64))
            .prop_map(|(session, connection)| Command::Close(Close { session, connection })),
        inspect,
        go().prop_map(|go| Command::Go(Box::new(go))),
        update,
        (target, any::<bool>()).prop_map(|(target, discard)| Command::Stop(Stop { target, discard })),
        Just(Command::Status(Status {})),
        int().prop_map(|after| Command::Connections(Connections { after })),
        prop_oneof![
            (1..=MAX_INT as u64).prop_map(DisconnectTarget::Connection),
            short().prop_map(DisconnectTarget::Client),
        ]
        .prop_map(|target| Command::Disconnect(Disconnect { target })),
        select(vec![QuitMode::Finish, QuitMode::Stop]).prop_map(|mode| Command::Quit(Quit { mode })),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    (name(), command()).prop_map(|(id, command)| Request { id, command })
}

/// A line with a few bytes replaced, taken out, put in or doubled.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), select(br#"{}[]",:\0-e.xu"#.to_vec()), 0..4);
    (request(), vec(edit, 1..4)).prop_map(|(request, edits)| {
        let mut line = serde_json::to_vec(&request).unwrap();
        for (at, byte, kind) in edits {
            let at = at.index(line.len());
            match kind {
                0 => line[at] = byte,
                1 => line.insert(at, byte),
                2 if line.len() > 1 => drop(line.remove(at)),
                _ => line.insert(at, line[at]),
            }
        }
        line
    })
}

fn is_answered_in_full(line: &[u8]) {
    match decode(line) {
        Ok(request) => {
            let again = decode(&serde_json::to_vec(&request).unwrap());
            assert_eq!(again, Ok(request));
        }
        Err(fault) => {
            assert_eq!(fault.code.class(), ErrorClass::Line);
            let malformed = fault.code <= ErrorCode::NotObject;
            assert_eq!(fault.pointer.is_none(), malformed);
            assert!(!fault.message.is_empty() && fault.message.len() < 1000);
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(request in request()) {
        let line = serde_json::to_vec(&request).unwrap();
        prop_assert_eq!(decode(&line), Ok(request));
    }

    #[test]
    fn any_bytes_get_a_request_or_a_fault(line in vec(any::<u8>(), 0..200)) {
        is_answered_in_full(&line);
    }

    #[test]
    fn json_like_text_gets_a_request_or_a_fault(line in r#"\{("(id|cmd|clock|x_a)":("go"|"[a-z]"|[0-9eE.-]{1,4}|\{\}|\[\]),?){0,6}\}"#) {
        is_answered_in_full(line.as_bytes());
    }

    #[test]
    fn mutated_lines_get_a_request_or_a_fault(line in mutated()) {
        is_answered_in_full(&line);
    }

    #[test]
    fn seeds_and_hashes_keep_their_value(value: u64) {
        prop_assert_eq!(Seed(value).to_string().parse(), Ok(Seed(value)));
        prop_assert_eq!(format!("{value:016x}").parse(), Ok(Hash(value)));
    }
}
