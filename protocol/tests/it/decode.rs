//! Lines and what the decoder says of them, as tables: `line | code | pointer`.

use plyd_protocol::*;
use rustix::time::{ClockId, clock_gettime};

/// Checks a table; `-` stands for no pointer. A line may hold no ` | `.
fn check(table: &str) {
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let [line, code, pointer] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("row {row}") };
        let fault = decode(line.as_bytes()).expect_err(row);
        let found = serde_json::to_value(fault.code).unwrap();
        assert_eq!(found, code, "{row}: {fault:?}");
        assert_eq!(fault.pointer.as_deref().unwrap_or("-"), pointer, "{row}: {fault:?}");
        assert_eq!(fault.code.class(), ErrorClass::Line, "{row}");
        assert!(fault.message.len() < 600, "{row}: {fault:?}");
    }
}

#[test]
fn what_is_no_json_object() {
    check(
        r#"
        {"id":"1" | bad_json | -
        {"id":"1","cmd":"ping"}} | bad_json | -
        {"id":"1","cmd":"ping"} {} | bad_json | -
        {"id":"1","cmd":"ping",} | bad_json | -
        {'id':'1'} | bad_json | -
        {"id":"1","id":"1","cmd":"ping"} | bad_json | -
        {"id":"1","\u0069d":"1","cmd":"ping"} | bad_json | -
        {"id":"1","cmd":"ping","x_a":{"b":[{"c":1,"c":2}]}} | bad_json | -
        {"id":"1","cmd":"ping","echo":"\ud800"} | bad_json | -
        {"id":"1","cmd":"ping","echo":"\udc00\ud800"} | bad_json | -
        {"id":"1","cmd":"ping","x_\ud800":1} | bad_json | -
        {"id":"1","cmd":"ping","echo":"\x"} | bad_json | -
        {"id":"1","cmd":"ping","x_a":NaN} | bad_json | -
        {"id":"1","cmd":"ping","x_a":Infinity} | bad_json | -
        {"id":"1","cmd":"ping","x_a":1e400} | bad_json | -
        {"id":"1","cmd":"ping","x_a":-1e400} | bad_json | -
        {"id":"1","cmd":"ping","x_a":01} | bad_json | -
        {"id":"1","cmd":"ping","x_a":+1} | bad_json | -
        {"id":"1","cmd":"ping","x_a":.5} | bad_json | -
        {"id":"1","cmd":"ping"} // why | bad_json | -
        GET / HTTP/1.1 | bad_json | -
        [] | not_object | -
        null | not_object | -
        "go" | not_object | -
        17 | not_object | -
        [{"id":1,"id":2}] | bad_json | -
        "#,
    );
    for (line, code) in [
        (&b""[..], ErrorCode::BadJson),
        (b"\xef\xbb\xbf{\"id\":\"1\",\"cmd\":\"ping\"}", ErrorCode::BadJson),
        (b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\t\"}", ErrorCode::BadJson),
        (b"{\"id\":\"1\",\"cmd\":\"ping\"}\0", ErrorCode::BadJson),
        (b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xff\"}", ErrorCode::BadUtf8),
        (b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xed\xa0\x80\"}", ErrorCode::BadUtf8),
        (b"\xc0\xaf", ErrorCode::BadUtf8),
    ] {
        let fault = decode(line).unwrap_err();
        assert_eq!((fault.id, fault.code, fault.pointer), (None, code, None));
    }
}

/// What the message of a fault says to somebody who does not know the protocol yet: `line | words of it`.
#[test]
fn messages_say_what_to_send_instead() {
    let table = r#"
        {"id":"1","cmd":"go","position":{},"clock":{"kind":"none"}} | missing `session`, or `game` (and its `rules`)
        {"id":"1","cmd":"inspect","rules":{},"position":{}} | missing `session`, or `game` (and its `rules`)
        {"id":"1","cmd":"stop"} | give `target`, `session` or `"all":true`
        {"id":"1","cmd":"stop","all":false} | give `target`, `session` or `"all":true`
        {"id":"1","cmd":"go","session":"s","position":{}} | a `clock` or a `limit`; `"mode":"analyse"`
        {"id":"1","cmd":"update","target":"g","mode":"ponder"} | only `move` is possible, found `ponder`
        {"id":"1","cmd":"quit","mode":"cancel"} | `cancel` is none of finish, stop
        {"id":"1","cmd":"ping",} | at byte 24
        {"id":"1" | at byte 9
        "#;
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (line, words) = row.split_once(" | ").unwrap();
        let message = decode(line.as_bytes()).unwrap_err().message;
        assert!(message.contains(words) && !message.contains(" line "), "{row}\n{message}");
    }
    // A message of a WebSocket may hold line feeds, and its bytes count through.
    let message = decode(b"{\"id\":\n\n  x}").unwrap_err().message;
    assert!(message.ends_with(" at byte 11"), "{message}");
    let message = decode(b"{\"id\":\"\xff\"}").unwrap_err().message;
    assert_eq!(message, "not UTF-8 at byte 8");
}

#[test]
fn ids_and_commands() {
    check(
        r#"
        {} | missing_field | /id
        {"cmd":"fly"} | missing_field | /id
        {"id":1,"cmd":"ping"} | bad_id | /id
        {"id":null,"cmd":"ping"} | bad_id | /id
        {"id":"","cmd":"ping"} | bad_id | /id
        {"id":"a b","cmd":"ping"} | bad_id | /id
        {"id":"é","cmd":"ping"} | bad_id | /id
        {"cmd":1,"id":[]} | bad_id | /id
        {"id":"1"} | missing_field | /cmd
        {"id":"1","cmd":null} | wrong_type | /cmd
        {"id":"1","cmd":"fly","wings":2} | unknown_cmd | /cmd
        {"id":"1","cmd":"Go"} | unknown_cmd | /cmd
        "#,
    );
    let id = |len: usize| format!(r#"{{"id":"{}","cmd":"ping"}}"#, "a".repeat(len));
    assert!(decode(id(MAX_ID).as_bytes()).is_ok());
    assert_eq!(decode(id(MAX_ID + 1).as_bytes()).unwrap_err().code, ErrorCode::BadId);
    assert!(decode(br#"{"id":"Az09._:-","cmd":"ping"}"#).is_ok());
    assert_eq!(decode(br#"{"id":"7","cmd":"fly"}"#).unwrap_err().id.as_deref(), Some("7"));
}

#[test]
fn fields_of_every_kind() {
    check(
        r#"
        {"id":"1","cmd":"ping","echos":1} | unknown_field | /echos
        {"id":"1","cmd":"ping","a/b~c":1} | unknown_field | /a~1b~0c
        {"id":"1","cmd":"ping","X_a":1} | unknown_field | /X_a
        {"$serde_json::private::RawValue":"{}","id":"1","cmd":"ping"} | unknown_field | /$serde_json::private::RawValue
        {"id":"1","cmd":"ping","echo":1} | wrong_type | /echo
        {"id":"1","cmd":"ping","echo":null} | wrong_type | /echo
        {"id":"1","cmd":"hello"} | missing_field | /protocol
        {"id":"1","cmd":"hello","protocol":1} | wrong_type | /protocol
        {"id":"1","cmd":"hello","protocol":{"min":1}} | missing_field | /protocol/max
        {"id":"1","cmd":"hello","protocol":{"min":2,"max":1}} | out_of_range | /protocol/max
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1.0}} | not_integer | /protocol/max
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":65536}} | out_of_range | /protocol/max
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"on_eof":"die"} | bad_enum | /on_eof
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"require":["a",1]} | wrong_type | /require/1
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"client":{"os":"x"}} | unknown_field | /client/os
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":true} | wrong_type | /resume
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{}} | missing_field | /resume/keep_ms
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{"seq":1}} | missing_field | /resume/keep_ms
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{"keep_ms":0}} | out_of_range | /resume/keep_ms
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{"keep_ms":1,"seq":1}} | unknown_field | /resume/seq
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{"keep_ms":1,"token":"t"}} | unknown_field | /resume/keep_ms
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{"token":"t","seq":-1}} | out_of_range | /resume/seq
        {"id":"1","cmd":"hello","protocol":{"min":1,"max":1},"resume":{"token":1}} | wrong_type | /resume/token
        {"id":"1","cmd":"describe"} | missing_field | /what
        {"id":"1","cmd":"describe","what":"game"} | missing_field | /game
        {"id":"1","cmd":"describe","what":"rules"} | bad_enum | /what
        {"id":"1","cmd":"newgame","session":"s"} | missing_field | /game
        {"id":"1","cmd":"newgame","session":"a b","game":"ijk"} | out_of_range | /session
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","seed":1} | wrong_type | /seed
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","seed":"0xff"} | out_of_range | /seed
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","seed":"FF"} | out_of_range | /seed
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","seed":""} | out_of_range | /seed
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","seed":"00000000000000000"} | out_of_range | /seed
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","rules":{"size":null}} | wrong_type | /rules/size
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","rules":{"size":[4]}} | wrong_type | /rules/size
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","rules":{"size":4.0}} | not_integer | /rules/size
        {"id":"1","cmd":"newgame","session":"s","game":"ijk","options":{"a/b":9007199254740992}} | out_of_range | /options/a~1b
        {"id":"1","cmd":"setoption"} | missing_field | /options
        {"id":"1","cmd":"close"} | missing_field | /session
        {"id":"1","cmd":"close","connection":7} | missing_field | /session
        {"id":"1","cmd":"close","session":"s","connection":"7"} | wrong_type | /connection
        {"id":"1","cmd":"close","session":"s","connection":0} | out_of_range | /connection
        {"id":"1","cmd":"inspect","position":{}} | missing_field | /session
        {"id":"1","cmd":"inspect","rules":{},"position":{}} | missing_field | /session
        {"id":"1","cmd":"inspect","session":"s"} | missing_field | /position
        {"id":"1","cmd":"inspect","session":"s","position":"start"} | wrong_type | /position
        {"id":"1","cmd":"inspect","session":"s","position":{"start":null}} | wrong_type | /position/start
        {"id":"1","cmd":"inspect","session":"s","position":{"moves":["a1",2]}} | wrong_type | /position/moves/1
        {"id":"1","cmd":"inspect","session":"s","position":{"moves":{}}} | wrong_type | /position/moves
        {"id":"1","cmd":"inspect","session":"s","position":{},"want":["legal","all"]} | bad_enum | /want/1
        {"id":"1","cmd":"inspect","session":"s","game":"ijk","position":{}} | unknown_field | /game
        {"id":"1","cmd":"inspect","session":"s","rules":{},"position":{}} | unknown_field | /rules
        {"id":"1","cmd":"update"} | missing_field | /target
        {"id":"1","cmd":"update","target":"g","mode":"ponder"} | bad_enum | /mode
        {"id":"1","cmd":"stop"} | missing_field | /target
        {"id":"1","cmd":"stop","all":false} | missing_field | /target
        {"id":"1","cmd":"stop","all":1} | wrong_type | /all
        {"id":"1","cmd":"stop","target":"a b"} | out_of_range | /target
        {"id":"1","cmd":"stop","target":"g","session":"s"} | unknown_field | /session
        {"id":"1","cmd":"stop","session":"s","all":true} | unknown_field | /all
        {"id":"1","cmd":"stop","target":"g","all":true} | unknown_field | /all
        {"id":"1","cmd":"status","mode":"all"} | unknown_field | /mode
        {"id":"1","cmd":"connections","after":-1} | out_of_range | /after
        {"id":"1","cmd":"connections","before":1} | unknown_field | /before
        {"id":"1","cmd":"disconnect"} | missing_field | /connection
        {"id":"1","cmd":"disconnect","connection":1,"client":"a"} | unknown_field | /client
        {"id":"1","cmd":"disconnect","connection":0} | out_of_range | /connection
        {"id":"1","cmd":"disconnect","connection":"1"} | wrong_type | /connection
        {"id":"1","cmd":"disconnect","client":1} | wrong_type | /client
        {"id":"1","cmd":"quit","mode":"cancel"} | bad_enum | /mode
        "#,
    );
}

/// Puts the rest of a `go` before each row.
fn check_go(table: &str) {
    let head = r#"{"id":"1","cmd":"go","session":"s","position":{},"#;
    check(&table.trim().lines().map(|row| format!("{head}{}\n", row.trim())).collect::<String>());
}

#[test]
fn clocks_and_limits() {
    check(r#"{"id":"1","cmd":"go","session":"s","position":{}} | missing_field | /clock"#);
    check_go(
        r#""mode":"move"} | missing_field | /clock
        "hard_ms":100} | missing_field | /clock
        "limit":{}} | missing_field | /clock
        "limit":{"x_a":1}} | missing_field | /clock
        "limit":{"nodes":"many"}} | wrong_type | /limit/nodes
        "limit":[]} | wrong_type | /limit
        "limit":{"nodes":0}} | out_of_range | /limit/nodes
        "limit":{"nodes":1e3}} | not_integer | /limit/nodes
        "limit":{"nodes":9007199254740992}} | out_of_range | /limit/nodes
        "limit":{"nodes":123456789012345678901234567890}} | out_of_range | /limit/nodes
        "limit":{"depth":1001}} | out_of_range | /limit/depth
        "limit":{"time_ms":-1}} | out_of_range | /limit/time_ms
        "limit":{"plies":4}} | unknown_field | /limit/plies
        "clock":null} | wrong_type | /clock
        "clock":{}} | missing_field | /clock/kind
        "clock":{"ms":100}} | missing_field | /clock/kind
        "clock":{"kind":"sandglass","ms":100}} | bad_enum | /clock/kind
        "clock":{"kind":"sandglass","grains":100}} | unknown_field | /clock/grains
        "clock":{"kind":1}} | wrong_type | /clock/kind
        "clock":{"kind":"per_move"}} | missing_field | /clock/ms
        "clock":{"kind":"per_move","ms":100,"inc_ms":1}} | unknown_field | /clock/inc_ms
        "clock":{"kind":"per_move","ms":-9007199254740992}} | out_of_range | /clock/ms
        "clock":{"kind":"increment","me_ms":1000}} | missing_field | /clock/inc_ms
        "clock":{"kind":"increment","me_ms":1000,"inc_ms":-1}} | out_of_range | /clock/inc_ms
        "clock":{"kind":"increment","me_ms":1000,"inc_ms":0,"moves_to_go":0}} | out_of_range | /clock/moves_to_go
        "clock":{"kind":"delay","me_ms":1000}} | missing_field | /clock/delay_ms
        "clock":{"kind":"bank","turn_ms":1000}} | missing_field | /clock/bank_ms
        "clock":{"kind":"anytime","hint_ms":0.5}} | not_integer | /clock/hint_ms
        "clock":{"kind":"none","ms":1}} | unknown_field | /clock/ms
        "mode":"analyze"} | bad_enum | /mode
        "mode":"ponder","multipv":0} | out_of_range | /multipv
        "mode":"ponder","multipv":true} | wrong_type | /multipv
        "mode":"ponder","queue":"yes"} | wrong_type | /queue
        "mode":"ponder","searchmoves":"a1"} | wrong_type | /searchmoves
        "mode":"ponder","excludemoves":[null]} | wrong_type | /excludemoves/0
        "mode":"ponder","info":{"events":["worst"]}} | bad_enum | /info/events/0
        "mode":"ponder","info":{"every_ms":1}} | unknown_field | /info/every_ms"#,
    );
}

#[test]
fn the_first_of_many_faults() {
    // Stages go before places; inside a stage the place in the line decides, at whatever level.
    check(
        r#"
        {"id":1,"cmd":1,"nope":1 | bad_json | -
        {"nope":1,"cmd":"fly","id":7} | bad_id | /id
        {"nope":1,"cmd":"fly","id":"7"} | unknown_cmd | /cmd
        {"id":"1","cmd":"go","session":5,"multipv":0,"clock":{"kind":"none","nope":1}} | unknown_field | /clock/nope
        {"id":"1","cmd":"go","session":5,"multipv":0,"clock":{"kind":"per_move"}} | missing_field | /position
        {"id":"1","cmd":"go","session":5,"position":{},"multipv":0,"clock":{"kind":"per_move"}} | missing_field | /clock/ms
        {"id":"1","cmd":"go","session":5,"position":{},"multipv":0,"clock":{"kind":"none"}} | wrong_type | /session
        {"id":"1","cmd":"go","multipv":0,"position":{},"queue":1,"session":5,"clock":{"kind":"none"}} | wrong_type | /queue
        {"id":"1","cmd":"go","multipv":0,"position":{},"hard_ms":1.5,"session":5,"clock":{"kind":"none"}} | not_integer | /hard_ms
        {"id":"1","cmd":"go","multipv":0,"position":{},"session":"","clock":{"kind":"none"}} | out_of_range | /multipv
        {"id":"1","cmd":"go","position":{},"session":"","multipv":0,"clock":{"kind":"none"}} | out_of_range | /session
        {"id":"1","cmd":"go","clock":{"b":1},"a":1} | unknown_field | /clock/b
        {"id":"1","cmd":"go","a":1,"clock":{"b":1}} | unknown_field | /a
        {"id":"1","cmd":"go"} | missing_field | /session
        {"id":"1","cmd":"go","session":"s"} | missing_field | /position
        {"id":"1","cmd":"hello","protocol":{"max":"x"},"on_eof":"die"} | missing_field | /protocol/min
        "#,
    );
}

#[test]
fn extensions_pass_at_every_level() {
    let line = br#"{"id":"1","cmd":"go","x_a":null,"session":"s","position":{"x_b":[1.5]},"clock":{"kind":"none","x_c":1e9},
        "limit":{"x_d":{}},"info":{"x_e":0},"options":{"x_f":null,"depth":3}}"#;
    let Command::Go(go) = decode(line).unwrap().command else { panic!("no go") };
    assert_eq!(go.options, Settings::from_iter([("depth", 3)]));
    assert_eq!((go.clock, go.limit, go.info), (Some(Clock::None), Limit::default(), InfoRequest::default()));
}

#[test]
fn what_is_allowed_at_the_edge() {
    for line in [
        r#" { "id" : "1" , "cmd" : "ping" } "#,
        "{\"id\":\"1\",\"cmd\":\"ping\"}\r\n",
        r#"{"\u0069d":"1","cmd":"pi\u006eg"}"#,
        r#"{"id":"1","cmd":"ping","echo":"\ud83d\ude00\u0000"}"#,
        r#"{"id":"1","cmd":"ping","x_a":123456789012345678901234567890}"#,
        r#"{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"per_move","ms":-0}}"#,
        r#"{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"per_move","ms":-5}}"#,
        r#"{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"bank","turn_ms":-1,"bank_ms":-9007199254740991}}"#,
        r#"{"id":"1","cmd":"go","session":"s","position":{},"limit":{"nodes":9007199254740991}}"#,
        r#"{"id":"1","cmd":"go","session":"s","position":{},"mode":"analyse"}"#,
        r#"{"id":"1","cmd":"go","game":"ijk","rules":{},"position":{"start":"","moves":[""]},"mode":"ponder"}"#,
        r#"{"id":"1","cmd":"stop","target":"g","all":false}"#,
        r#"{"id":"1","cmd":"update","target":"g","limit":{}}"#,
        r#"{"id":"1","cmd":"inspect","session":"s","position":{},"want":[]}"#,
        r#"{"id":"1","cmd":"newgame","session":"s","game":"ijk","seed":"00ff"}"#,
    ] {
        decode(line.as_bytes()).expect(line);
    }
}

#[test]
fn client_text_is_escaped_and_cut() {
    let long = "\\u001b".repeat(100_000);
    for line in [
        format!(r#"{{"id":"1","cmd":"{long}"}}"#),
        format!(r#"{{"id":"1","cmd":"ping","{long}":1}}"#),
        format!(r#"{{"id":"1","cmd":"ping","{long}":1,"{long}":1}}"#),
        format!(r#"{{"id":"1","cmd":"quit","mode":"{long}"}}"#),
        format!(r#"{{"id":"1","cmd":"close","session":"{long}"}}"#),
        format!(r#"{{"id":"1","cmd":"go","limit":{{"nodes":{}}}}}"#, "9".repeat(1_000_000)),
        format!(r#"{{"id":"1","cmd":"setoption","options":{{"{long}":null}}}}"#),
    ] {
        let fault = decode(line.as_bytes()).unwrap_err();
        assert!(fault.message.chars().count() < 200, "{}", fault.message);
        assert!(!fault.message.contains('\u{1b}'), "{:?}", fault.message);
        assert!(fault.pointer.is_none_or(|pointer| pointer.len() < 100));
    }
}

#[test]
fn hostile_lines_are_refused_in_time() {
    let deep = |open: &str, close: &str, n: usize| {
        format!(r#"{{"id":"1","cmd":"ping","x_a":{}0{}}}"#, open.repeat(n), close.repeat(n))
    };
    let wide = format!(r#"{{"id":"1","cmd":"ping","x_a":[{}0]}}"#, "0,".repeat(500_000));
    let layers = format!(
        r#"{{"id":"1","cmd":"ping","x_a":{}"{}"{}}}"#,
        "[".repeat(30),
        "a".repeat(1 << 20),
        "]".repeat(30)
    );
    // Other programs may hold the cores, so the thread's own time counts.
    let start = clock_gettime(ClockId::ThreadCPUTime);
    assert_eq!(decode(deep("[", "]", 500_000).as_bytes()).unwrap_err().code, ErrorCode::BadJson);
    assert_eq!(decode(deep(r#"{"a":"#, "}", 170_000).as_bytes()).unwrap_err().code, ErrorCode::BadJson);
    assert_eq!(decode(&b"[".repeat(MAX_LINE)).unwrap_err().code, ErrorCode::BadJson);
    assert_eq!(decode(&b"\"".repeat(MAX_LINE)).unwrap_err().code, ErrorCode::BadJson);
    assert!(decode(deep("[", "]", MAX_DEPTH - 1).as_bytes()).is_ok());
    assert!(decode(wide.as_bytes()).is_ok());
    assert!(decode(layers.as_bytes()).is_ok());
    // Seconds would show a quadratic path; milliseconds are usual.
    let passed = clock_gettime(ClockId::ThreadCPUTime).tv_sec - start.tv_sec;
    assert!(passed < 5, "{passed} s");
}

#[test]
fn only_what_ends_a_connection_is_fatal() {
    let fatal: Vec<_> = ErrorCode::ALL.into_iter().filter(|code| code.fatal()).collect();
    assert_eq!(
        fatal,
        [
            ErrorCode::HandshakeRequired,
            ErrorCode::VersionUnsupported,
            ErrorCode::FeatureUnsupported,
            ErrorCode::AuthRequired,
            ErrorCode::AuthFailed,
            ErrorCode::Disconnected,
            ErrorCode::TimedOut,
            ErrorCode::TooManyConnections,
        ]
    );
    assert!(ErrorCode::ALL.is_sorted());
}
