//! A program that breaks one promise as it dials its ladder: `plyd connect`, with one thing distorted on the
//! way.
//!
//! The program dials the mutant, and the mutant dials the ladder. `>` are the ladder's lines, `<` the bot's.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::mutant::Mutant;

/// What the whole of a pause is made longer by, so that none of the program's own is longer.
const MORE: Duration = Duration::from_millis(100);

/// The ends of connections: how many there were, and when the last one was.
type Ends = Arc<Mutex<(u32, Option<Instant>)>>;

/// Starts the program and dials the ladder whenever the program dials.
#[allow(clippy::disallowed_methods, reason = "the program is of the mutant's group, which the suite ends")]
pub(crate) fn dial(mutant: Mutant, plyd: &str, ladder: &str, token: &str) -> ExitCode {
    let ladder: SocketAddr = ladder.trim_start_matches("tcp://").parse().expect("the ladder's address");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let own = format!("tcp={}", listener.local_addr().expect("it is bound"));
    let mut command = Command::new(plyd);
    command.args(["connect", &own, "--token-file", token]);
    let mut start = move || command.spawn().expect("the program starts");
    let first = start();
    mutant.pass_signals(&first);
    let (mutant, program) = (Arc::new(mutant), Arc::new(Mutex::new(first)));
    let relay = (Arc::clone(&mutant), Arc::clone(&program));
    thread::spawn(move || {
        let (mutant, program) = relay;
        let ends = Ends::default();
        for bot in listener.incoming().map_while(Result::ok) {
            let (count, last) = *ends.lock().unwrap();
            if let (true, Some(last)) = (mutant.aligns(), last) {
                let whole = Duration::from_secs(1 << (count - 1)) + MORE;
                thread::sleep((last + whole).saturating_duration_since(Instant::now()));
            }
            // A program whose ladder is gone sees its connection close.
            let Ok(ladder) = TcpStream::connect(ladder) else { continue };
            pass(&mutant, &bot, &ladder, &ends, &program);
        }
    });
    loop {
        let status = program.lock().unwrap().try_wait().expect("a child can be waited for");
        match status {
            Some(_) if mutant.restarts("exit") || mutant.restarts("end") => {
                *program.lock().unwrap() = start()
            }
            Some(_) if mutant.stays() => loop {
                thread::park();
            },
            Some(status) => return ExitCode::from(status.code().unwrap_or(9) as u8),
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Passes lines on between the program and the ladder, until one of them ends.
fn pass(mutant: &Arc<Mutant>, bot: &TcpStream, ladder: &TcpStream, ends: &Ends, program: &Arc<Mutex<Child>>) {
    let twin = |stream: &TcpStream| {
        stream.set_nodelay(true).expect("a TCP option");
        stream.try_clone().expect("a second handle")
    };
    let close = |streams: [&TcpStream; 2]| {
        for stream in streams {
            let _closed_already = stream.shutdown(Shutdown::Both);
        }
    };
    let (requests, input, output) = (Arc::clone(mutant), twin(ladder), twin(bot));
    let (ends, program) = (Arc::clone(ends), Arc::clone(program));
    thread::spawn(move || {
        requests.pass_requests(&input, &output, &|| close([&input, &output]));
        {
            let mut ends = ends.lock().unwrap();
            *ends = (ends.0 + 1, Some(Instant::now()));
        }
        if let Some(code) = requests.exits_at_end() {
            std::process::exit(code.into());
        }
        if requests.restarts("end") {
            let _ended_already = program.lock().unwrap().kill();
        }
        close([&input, &output]);
    });
    let (messages, input, output) = (Arc::clone(mutant), twin(bot), twin(ladder));
    thread::spawn(move || {
        messages.pass_messages(&input, &output);
        close([&input, &output]);
    });
}
