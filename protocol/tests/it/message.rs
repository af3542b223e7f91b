//! What a client may rely on when it reads messages, beside the examples of the specification.

use plyd_protocol::*;
use serde_json::json;

#[test]
fn unknown_response_fields_are_ignored() {
    let line = r#"{"seq":1,"t_us":2,"type":"result","id":"1","of":"stop","effect":"unknown","targets":[],"more":{"a":1}}"#;
    let Envelope { seq: 1, t_us: 2, message } = Envelope::read(line.as_bytes()).unwrap() else {
        panic!("stamps")
    };
    let body = ResultBody::Stop(StopResult { effect: Effect::Unknown, targets: vec![] });
    assert_eq!(message, Message::Result(Box::new(ResultMessage { id: "1".into(), body })));
}

#[test]
fn words_of_later_lists_are_read() {
    let reason: Reason = serde_json::from_value(json!("bored")).unwrap();
    let code: ErrorCode = serde_json::from_value(json!("too_late_in_the_day")).unwrap();
    let kind: NoticeKind = serde_json::from_value(json!("praise")).unwrap();
    assert_eq!((reason, code, kind), (Reason::Other, ErrorCode::Other, NoticeKind::Other));
    assert!(!code.fatal() && !ErrorCode::ALL.contains(&code));
}

#[test]
fn an_outcome_is_absent_or_null_or_there() {
    let draw = Outcome { winner: None, by: "max_plies".into(), scores: None };
    for (outcome, written) in [
        (None, json!({})),
        (Some(None), json!({ "outcome": null })),
        (Some(Some(draw)), json!({ "outcome": { "winner": null, "by": "max_plies" } })),
    ] {
        let result = InspectResult { outcome, ..InspectResult::default() };
        assert_eq!(serde_json::to_value(&result).unwrap(), written);
        assert_eq!(serde_json::from_value::<InspectResult>(written).unwrap(), result);
    }
}

#[test]
fn a_body_is_stamped_without_being_read() {
    assert_eq!(splice("{}", 1, 2), r#"{"seq":1,"t_us":2}"#);
    assert_eq!(splice(r#"{"type":"notice"}"#, 1, 2), r#"{"seq":1,"t_us":2,"type":"notice"}"#);
}

#[test]
fn a_fault_becomes_the_error_of_its_line() {
    let error = decode(br#"{"id":"1","cmd":"fly"}"#).unwrap_err().into_message(7);
    let written = json!({
        "type": "error", "id": "1", "line": 7, "code": "unknown_cmd",
        "message": "unknown command `fly`", "pointer": "/cmd", "fatal": false,
    });
    assert_eq!(serde_json::to_value(Message::Error(Box::new(error))).unwrap(), written);
    let fatal = ErrorMessage::new(None, 1, ErrorCode::HandshakeRequired, "say hello first");
    assert!(fatal.fatal && fatal.pointer.is_none());
}

#[test]
fn a_score_changes_its_view_and_says_what_is_proven() {
    // A score, whether it proves a win, a draw, a loss, and the same from the other side's view.
    for (score, proven, other) in [
        (
            r#"{"bound":"exact","eval":-120,"wdl":[100000,200000,700000]}"#,
            [false; 3],
            r#"{"bound":"exact","eval":120,"wdl":[700000,200000,100000]}"#,
        ),
        (
            r#"{"bound":"exact","proof":{"outcome":"win","plies":5,"margin":3}}"#,
            [true, false, false],
            r#"{"bound":"exact","proof":{"outcome":"loss","plies":5,"margin":-3}}"#,
        ),
        (
            r#"{"bound":"lower","proof":{"outcome":"win","plies_max":9}}"#,
            [true, false, false],
            r#"{"bound":"upper","proof":{"outcome":"loss","plies_max":9}}"#,
        ),
        (
            r#"{"bound":"exact","proof":{"outcome":"draw"}}"#,
            [false, true, false],
            r#"{"bound":"exact","proof":{"outcome":"draw"}}"#,
        ),
        // At most a win, at least a draw: nothing is known.
        (
            r#"{"bound":"upper","proof":{"outcome":"win"}}"#,
            [false; 3],
            r#"{"bound":"lower","proof":{"outcome":"loss"}}"#,
        ),
        (
            r#"{"bound":"lower","proof":{"outcome":"draw"}}"#,
            [false; 3],
            r#"{"bound":"upper","proof":{"outcome":"draw"}}"#,
        ),
    ] {
        let [score, other]: [Score; 2] = [score, other].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!([score.is_win(), score.is_draw(), score.is_loss()], proven, "{score:?}");
        assert_eq!([other.is_loss(), other.is_draw(), other.is_win()], proven, "{other:?}");
        assert_eq!((-score, -other), (other, score));
    }
    let least: Score = serde_json::from_str(r#"{"bound":"exact","eval":-9223372036854775808}"#).unwrap();
    assert_eq!((-least).eval, Some(i64::MAX));
}
