//! The decoder of requests: what it takes is written and read again unchanged, and what it refuses is refused
//! with a fault that points into the line.
//!
//! Input: a line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plyd_protocol::{DecodeError, ErrorClass, ErrorCode, Request, decode};
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|line: &[u8]| {
    match decode(line) {
        Ok(request) => taken(line, &request),
        Err(fault) => refused(line, &fault),
    }
});

fn taken(line: &[u8], request: &Request) {
    let written = serde_json::to_vec(request).expect("requests hold only text keys and integers");
    let again = decode(&written);
    let shown = String::from_utf8_lossy(&written);
    assert_eq!(again.as_ref(), Ok(request), "written as {shown}");
    assert!(
        serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object()),
        "it is no JSON object"
    );
    // Space around the object, and a field that is to be skipped, change nothing.
    let spaced = [b" \t", line, b" \r"].concat();
    assert_eq!(decode(&spaced).as_ref(), Ok(request), "with space around it");
    let body = written.strip_suffix(b"}").expect("an object is written");
    let extended = [body, br#","x_new":{"a":[null,1.5]}}"#].concat();
    assert_eq!(decode(&extended).as_ref(), Ok(request), "with an extension");
    // The id is always known, so that an answer can name it.
    assert!(!request.id.is_empty() && request.id.len() <= 64, "the id {:?}", request.id);
    assert!(plyd_protocol::Command::NAMES.contains(&request.command.name()));
}

fn refused(line: &[u8], fault: &DecodeError) {
    assert_eq!(fault.code.class(), ErrorClass::Line, "{fault:?}");
    assert!(!fault.code.fatal(), "{fault:?}");
    assert!(!fault.message.is_empty() && fault.message.len() < 1000, "{fault:?}");
    // The message is one line for people, whatever the client wrote.
    assert!(!fault.message.contains(char::is_control), "{fault:?}");
    assert_eq!(std::str::from_utf8(line).is_err(), fault.code == ErrorCode::BadUtf8, "{fault:?}");
    assert_eq!(fault.pointer.is_none(), fault.code <= ErrorCode::NotObject, "{fault:?}");
    let Some(pointer) = &fault.pointer else {
        return;
    };
    assert!(serde_json::from_slice::<&RawValue>(line).is_ok(), "{fault:?} in what is no JSON");
    // Integers of hundreds of digits are JSON, but more than serde_json reads.
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return;
    };
    // The last name may be one that is missing.
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    assert!(value.pointer(pointer).or(value.pointer(parent)).is_some(), "{fault:?} points nowhere");
}
