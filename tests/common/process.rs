//! Processes of the tests: each is ended by the test that started it, and by a reaper if the test program is
//! killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::{Launch, Process, Reaper};
use rustix::process::{Pid, Signal, kill_process};

use super::TIMEOUT;

/// How long a process that plays a whole match is waited for, so that a match that stands still fails its
/// test instead of keeping all tests waiting.
const MATCH_TIMEOUT: Duration = Duration::from_secs(600);

/// The executable that is tested.
pub(crate) const PLYD: &str = env!("CARGO_BIN_EXE_plyd");

/// What starts `plyd`, with nothing on its standard input.
pub(crate) fn plyd<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Launch {
    launch(Command::new(PLYD).args(arguments))
}

/// What starts a command, with nothing on its standard input; its streams may be set again.
pub(crate) fn launch(command: &Command) -> Launch {
    static REAPER: OnceLock<Arc<Reaper>> = OnceLock::new();
    let reaper = REAPER.get_or_init(|| Reaper::start(PLYD).expect("the reaper starts"));
    let mut launch = reaper.launch(command).expect("there is such a program");
    launch.command.stdin(Stdio::null());
    launch
}

/// Starts it.
pub(crate) fn spawn(launch: Launch) -> Process {
    Process::spawn(launch).expect("it starts")
}

/// Starts it to be spoken with: its input, and the lines that it writes.
pub(crate) fn spoken_with(mut launch: Launch) -> (Process, ChildStdin, Receiver<String>) {
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = spawn(launch);
    let input = process.take_stdin().expect("it is piped");
    let output = BufReader::new(process.take_stdout().expect("it is piped"));
    let (sender, lines) = channel();
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    (process, input, lines)
}

/// The word behind a name in what the system reports of a process.
pub(crate) fn status_line(process: &Process, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with(name)).expect("a line of /proc");
    line.split_whitespace().nth(1).expect("a word behind the name").to_owned()
}

/// Starts it and waits for its end and for what it writes.
pub(crate) fn output(mut launch: Launch) -> Output {
    launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
    outcome(spawn(launch))
}

/// Starts it, writes some input, and waits for its end and for what it writes.
pub(crate) fn output_of(mut launch: Launch, input: impl Into<Vec<u8>>) -> Output {
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = spawn(launch);
    let mut stdin = process.take_stdin().expect("stdin is piped");
    let input = input.into();
    // Written from a thread, so that a full pipe cannot block both sides. A command that reads nothing closes
    // it.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = outcome(process);
    writer.join().expect("no panic");
    output
}

/// Sends the process a signal.
pub(crate) fn signal(process: &Process, signal: Signal) {
    let process = Pid::from_raw(process.id().cast_signed()).expect("no process has the number 0");
    kill_process(process, signal).expect("it was not waited for");
}

/// Whether the process runs.
pub(crate) fn runs(process: &mut Process) -> bool {
    process.wait_exit(Instant::now()).expect("a child can be waited for").is_none()
}

/// Waits for the end of a process, which may play a whole match before, and for what it writes to its pipes,
/// if they are not taken.
pub(crate) fn outcome(mut process: Process) -> Output {
    let stdout = process.take_stdout().map(|pipe| thread::spawn(|| rest(pipe)));
    let stderr = process.take_stderr().map(|pipe| thread::spawn(|| rest(pipe)));
    let status = exit_within(MATCH_TIMEOUT, &mut process);
    let read = |pipe: Option<thread::JoinHandle<Vec<u8>>>| pipe.map(|pipe| pipe.join().expect("no panic"));
    Output { status, stdout: read(stdout).unwrap_or_default(), stderr: read(stderr).unwrap_or_default() }
}

/// Waits until the process ends.
pub(crate) fn exit(process: &mut Process) -> ExitStatus {
    exit_within(TIMEOUT, process)
}

fn exit_within(time: Duration, process: &mut Process) -> ExitStatus {
    let ended = process.wait_exit(Instant::now() + time).expect("a child can be waited for");
    ended.expect("the process ends")
}

fn rest(mut pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).expect("a pipe can be read");
    bytes
}
