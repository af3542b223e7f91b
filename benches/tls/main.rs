//! What handshakes of TLS cost: `cargo bench --bench tls --features service`.
//!
//! Two daemons, one over TCP and one over TLS, are called in turns. Then other threads shake hands with the
//! second as fast as they can, while one client goes on asking. What TLS adds to requests is in `overhead`.
//! Options: `--samples N`.

#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/server.rs"]
mod server;

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;

use plyd::cli::columns::Columns;
use plyd::client::{Address, Client};
use plyd_protocol::{Command, Ping};
use samples::Samples;
use server::{Door, Outcome, PLYD, Peer, Server};

/// Threads that do nothing but shake hands.
const FLOOD: usize = 4;

/// Measure TLS beside TCP.
#[derive(Debug, Parser)]
struct Args {
    /// Samples of each measurement
    #[arg(long, default_value_t = 2000)]
    samples: usize,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Outcome<()> {
    let args = Args::parse();
    let file = |name: &str| format!("{}/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
    let plain = Server::start(PLYD, &["--threads", "1"])?;
    let (cert, key) = (file("server.pem"), file("server.key"));
    let secure = Server::start(PLYD, &["--threads", "1", "--tls-cert", &cert, "--tls-key", &key])?;
    let addresses = [
        format!("tcp={}", plain.address()),
        format!("tls={}?ca={}", secure.address(), file("authority.pem")),
    ]
    .map(|text| Address::read(&text).expect("an address"));

    let mut table = Columns::new(["what", "over", "n", "p50, us", "p99", "p99.9", "max"]);
    let mut row = |what: &str, over: &str, samples: &Samples| {
        if let Some(it) = samples.percentiles() {
            let numbers = [samples.len() as i64, it.p50, it.p99, it.p999, it.max];
            let numbers = numbers.map(|number| number.to_string());
            table.row([what, over].map(str::to_owned).into_iter().chain(numbers).collect::<Vec<_>>());
        }
    };
    let mut both = |what: &str, samples: &[Samples; 2]| {
        for (over, samples) in ["TCP", "TLS"].into_iter().zip(samples) {
            row(what, over, samples);
        }
    };
    let mut opened = [Samples::default(), Samples::default()];
    for _ in 0..args.samples / 10 {
        for (address, samples) in addresses.iter().zip(&mut opened) {
            let began = Instant::now();
            let client = connect(address)?;
            samples.add(began, Instant::now());
            drop(client);
        }
    }
    both("connection and `hello`", &opened);
    let (samples, rate) = under_flood(&addresses[1], args.samples)?;
    row(&format!("`ping` beside {rate:.0} handshakes a second"), "TLS", &samples);
    Ok(writeln!(io::stdout(), "{table}")?)
}

fn connect(address: &Address) -> Outcome<Peer> {
    Door { address: address.clone(), token: None }.enter()
}

fn ping(peer: &mut Peer, samples: &mut Samples) -> Outcome<()> {
    let (id, sent) = peer.client.request(Command::Ping(Ping::default()))?;
    samples.add(sent, peer.wait(&id)?.last.at);
    Ok(())
}

/// Pings beside threads that shake hands without end, and how many handshakes a second those make.
fn under_flood(address: &Address, count: usize) -> Outcome<(Samples, f64)> {
    let mut peer = connect(address)?;
    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut samples = Samples::default();
    let began = Instant::now();
    let pinged = thread::scope(|scope| {
        for _ in 0..FLOOD {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    done.fetch_add(usize::from(Client::at(address).is_ok()), Relaxed);
                }
            });
        }
        let pinged = (0..count).try_for_each(|_| {
            thread::sleep(Duration::from_millis(1));
            ping(&mut peer, &mut samples)
        });
        is_over.store(true, Relaxed);
        pinged
    });
    pinged?;
    Ok((samples, done.load(Relaxed) as f64 / began.elapsed().as_secs_f64()))
}
