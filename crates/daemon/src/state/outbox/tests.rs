//! What a queue gives its writer, in which order, and what it counts.

use super::*;
use wire::InfoEvent::{Best, Progress};

fn info(event: wire::InfoEvent, mv: &str) -> (wire::Info, Arc<Vec<wire::Line>>) {
    let info = wire::Info {
        id: "s".into(),
        event,
        mv: Some(mv.into()),
        lines: Vec::new(),
        stats: wire::Stats::default(),
        skipped: 0,
    };
    let line = wire::Line { rank: 1, mv: mv.into(), pv: vec![mv.into()], depth: 0, score: None };
    (info, Arc::new(vec![line]))
}

fn push(outbox: &mut Outbox, job: JobId, event: wire::InfoEvent, mv: &str) -> u64 {
    let (info, lines) = info(event, mv);
    outbox.push_info(job, info, lines, 0)
}

fn lines(outbox: &mut Outbox) -> Vec<String> {
    outbox.take(usize::MAX, 0).into_iter().map(|taken| taken.item.stamp(taken.seq, 0).into_text()).collect()
}

#[test]
fn newest_news_win_in_the_oldest_place() {
    let mut outbox = Outbox::default();
    assert_eq!(push(&mut outbox, 1, Best, "a"), 0);
    assert_eq!(push(&mut outbox, 2, Best, "x"), 0);
    assert_eq!(push(&mut outbox, 1, Progress, "p"), 0);
    assert_eq!(push(&mut outbox, 1, Best, "b"), 1);
    assert_eq!(push(&mut outbox, 1, Best, "c"), 1);
    outbox.push(Item::body(r#"{"type":"bestmove"}"#.into()), 0);
    let lines = lines(&mut outbox);
    assert_eq!(lines.len(), 4);
    assert!(lines[0].contains(r#""move":"c""#) && lines[0].contains(r#""skipped":2"#), "{}", lines[0]);
    assert!(lines[1].contains(r#""move":"x""#) && !lines[1].contains("skipped"));
    assert!(lines[2].contains(r#""event":"progress""#));
    assert_eq!(lines[3], r#"{"seq":4,"t_us":0,"type":"bestmove"}"#);
}

#[test]
fn large_messages_have_a_time_by_their_length() {
    let mut outbox = Outbox::default();
    let is_slow =
        |outbox: &Outbox, s: u64| outbox.is_slow(Duration::from_secs(10), 1 << 20, s * 1_000_000_000);
    outbox.push(Item::body("a".repeat(1000)), 0);
    assert!(!is_slow(&outbox, 1000), "nothing of it is large");
    for _ in 0..2 {
        outbox.push(Item::body("a".repeat(2 << 20)), 1_000_000_000);
    }
    assert!(!is_slow(&outbox, 15) && is_slow(&outbox, 16), "10 s and 4 s, from the first second on");
    outbox.take(usize::MAX, 0);
    assert!(is_slow(&outbox, 16), "taken is not written");
    outbox.confirm(0);
    assert!(!is_slow(&outbox, 1000));
}

#[test]
fn news_taken_are_no_longer_replaced() {
    let mut outbox = Outbox::default();
    push(&mut outbox, 1, Best, "a");
    assert_eq!(lines(&mut outbox).len(), 1);
    assert_eq!(push(&mut outbox, 1, Best, "b"), 0);
    let lines = lines(&mut outbox);
    assert!(lines[0].starts_with(r#"{"seq":2,"#) && !lines[0].contains("skipped"));
}

#[test]
fn a_writer_that_hangs_keeps_its_bytes_counted() {
    let mut outbox = Outbox::default();
    outbox.push(Item::body("x".repeat(1000)), 5);
    outbox.push(Item::body("x".repeat(1000)), 7);
    assert_eq!(outbox.waiting_since(), Some(5));
    let all = outbox.unsent();
    assert_eq!(outbox.take(1, 9).len(), 1);
    assert_eq!(outbox.unsent(), all);
    assert_eq!(outbox.waiting_since(), Some(9));
    outbox.note_progress(11);
    assert_eq!(outbox.waiting_since(), Some(11));
    assert_eq!(outbox.take(1, 12).len(), 1);
    assert_eq!(outbox.unsent(), all / 2);
    assert!(outbox.take(1, 13).is_empty());
    assert!(outbox.is_drained() && outbox.waiting_since().is_none());
}

/// What an outbox gives its writer at once: the numbers and the lines without theirs.
fn numbered(outbox: &mut Outbox) -> Vec<(u64, String)> {
    let all = outbox.take(usize::MAX, 0).into_iter();
    all.map(|taken| (taken.seq, taken.item.stamp(0, 0).into_text())).collect()
}

#[test]
fn what_was_taken_comes_again_before_what_is_new() {
    let say = |outbox: &mut Outbox, word: &str| outbox.push(Item::body(format!(r#"{{"{word}":1}}"#)), 0);
    let mut outbox = Outbox::default();
    say(&mut outbox, "a");
    assert_eq!(outbox.take(usize::MAX, 0).len(), 1);
    assert_eq!(outbox.missed(Some(0)), Err(Missed::Gap(1)), "nothing was kept");
    outbox.keep_sent(10_000);
    ["b", "c", "d"].iter().for_each(|word| say(&mut outbox, word));
    let first = numbered(&mut outbox);
    say(&mut outbox, "e");
    outbox.lose_writer(5);
    push(&mut outbox, 1, Best, "x");
    assert_eq!(push(&mut outbox, 1, Best, "y"), 1, "news are replaced as ever");
    for (seq, missed) in [
        (None, Ok(3)),
        (Some(0), Err(Missed::Gap(1))),
        (Some(1), Ok(3)),
        (Some(3), Ok(1)),
        (Some(4), Ok(0)),
        (Some(5), Err(Missed::Ahead(4))),
    ] {
        assert_eq!(outbox.missed(seq), missed, "{seq:?}");
    }
    // Another outbox had said something, and its last message waits still.
    let mut own = Outbox::default();
    say(&mut own, "p");
    own.take(usize::MAX, 0);
    say(&mut own, "q");
    let waiting = outbox.unsent();
    outbox.go_on(own, 2, 9);
    assert!(outbox.has_waiting() && outbox.unsent() > waiting && outbox.unsent_small() == waiting);
    let second = numbered(&mut outbox);
    assert_eq!(second.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    assert_eq!(second[1..3], first[1..], "c and d once more");
    assert!(second[0].1.contains('q') && second[3].1.contains('e') && second[4].1.contains('y'));
    outbox.confirm(10);
    assert!(outbox.is_drained() && !outbox.has_waiting() && outbox.kept() > 0);
    // The next time it goes on from there, in small steps.
    outbox.lose_writer(11);
    let again = outbox.missed(Some(1)).unwrap();
    outbox.go_on(Outbox::default(), again, 12);
    let mut steps = Vec::new();
    while outbox.has_waiting() {
        steps.extend(outbox.take(1, 13).into_iter().map(|taken| taken.seq));
    }
    assert_eq!(steps, [2, 3, 4, 5, 6]);
    outbox.confirm(14);
    assert!(outbox.is_drained());
}

#[test]
fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
    let mut outbox = Outbox::default();
    outbox.keep_sent(3000);
    for length in [1000, 1000, 1000, 1000, 10, 2000] {
        outbox.push(Item::body("x".repeat(length)), 0);
        outbox.take(usize::MAX, 0);
        assert!(outbox.kept() <= 3000);
    }
    assert_eq!((outbox.missed(Some(3)), outbox.missed(None)), (Err(Missed::Gap(4)), Ok(2)));
    outbox.push(Item::body("x".repeat(4000)), 0);
    outbox.take(usize::MAX, 0);
    assert_eq!((outbox.missed(Some(6)), outbox.missed(Some(7))), (Err(Missed::Gap(7)), Ok(0)));
    assert_eq!(outbox.kept(), 0);
}

#[test]
fn who_was_away_is_not_answered_late() {
    let bestmove = || Item::answer("g", Some(7));
    let due = |outbox: &mut Outbox| -> Vec<Option<u64>> {
        let all = outbox.take(usize::MAX, 0).into_iter();
        all.filter_map(|taken| match taken.item {
            Item::BestMove(_, _, due_ns) => Some(due_ns),
            _ => None,
        })
        .collect()
    };
    let mut outbox = Outbox::default();
    outbox.keep_sent(100_000);
    outbox.push(bestmove(), 0);
    assert_eq!(due(&mut outbox), [Some(7)]);
    outbox.push(bestmove(), 0);
    outbox.lose_writer(1);
    outbox.push(bestmove(), 2);
    outbox.go_on(Outbox::default(), 1, 3);
    outbox.push(bestmove(), 4);
    assert_eq!(due(&mut outbox), [None, None, None, Some(7)]);
}

#[test]
fn who_comes_back_has_the_whole_time_for_large_messages() {
    const S: u64 = 1_000_000_000;
    let grace = Duration::from_secs(10);
    let mut outbox = Outbox::default();
    outbox.keep_sent(10 << 20);
    for number in 0..3 {
        outbox.push(Item::body("a".repeat(2 << 20)), number);
        outbox.take(1, number);
    }
    outbox.lose_writer(1);
    outbox.push(Item::body("b".repeat(2 << 20)), 2);
    assert!(outbox.is_slow(grace, 1 << 20, 100 * S), "nobody reads it");
    outbox.go_on(Outbox::default(), 3, 100 * S);
    // Four messages of 2 MiB at 1 MiB a second, behind the grace; the first three come once more.
    for taken in 1..=4 {
        assert_eq!(outbox.take(1, 117 * S).len(), 1);
        assert!(!outbox.is_slow(grace, 1 << 20, 117 * S), "{taken}");
        assert!(outbox.is_slow(grace, 1 << 20, 119 * S), "{taken}");
    }
    outbox.confirm(120 * S);
    assert!(!outbox.is_slow(grace, 1 << 20, 1000 * S));
}
