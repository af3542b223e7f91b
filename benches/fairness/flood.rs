//! Four connections that send lines of 14 KB as fast as they are taken, beside one that asks for signs of
//! life.

use std::path::Path;
use std::time::Duration;

use crate::Promises;
use crate::floods::{pings, pings_beside};
use crate::markdown::{Table, ms};
use crate::server::{Outcome, Server};

const LINE_BYTES: usize = 14 << 10;

/// Measures alone and beside the floods, on one daemon.
pub(crate) fn measure(daemon: &Path, time: Duration) -> Outcome<(Table, Promises)> {
    let server = Server::start(daemon, &[])?;
    let alone = pings(&server, time)?;
    let mut line = br#"{"id":"p","cmd":"ping","x_padding":""#.to_vec();
    line.resize(LINE_BYTES - 3, b'x');
    line.extend(b"\"}\n");
    let (times, control, sent) = pings_beside(&server, time, &line)?;
    let beside = (times, control);
    let mut table = Table::new(["ping", "n", "p50, ms", "p99", "max", "control p50", "control p99"]);
    for (name, (times, control)) in [("alone", &alone), ("beside four floods", &beside)] {
        let (own, control) = (times.percentiles(), control.percentiles());
        table.row([
            name.to_owned(),
            times.len().to_string(),
            ms(own.map(|it| it.p50)),
            ms(own.map(|it| it.p99)),
            ms(own.map(|it| it.max)),
            ms(control.map(|it| it.p50)),
            ms(control.map(|it| it.p99)),
        ]);
    }
    let mut promises = Promises::new();
    let p50 = beside.0.percentiles().map_or(i64::MAX, |it| it.p50);
    promises.add("ping p50 under 1 ms", format!("{} ms", ms(Some(p50))), p50 < 1000);
    let mb = sent / 1_000_000;
    promises.add("flooded meanwhile", format!("{mb} MB"), true);
    Ok((table, promises))
}
