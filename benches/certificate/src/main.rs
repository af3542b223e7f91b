//! Checks a certificate of knight Isolation: who wins each opening of a board. It shares no code with plyd.
//!
//! This file is the command line alone: `board` has the rules, `certificate` reads and proves, and `solver`
//! solves.
#![forbid(unsafe_code)]

mod board;
mod certificate;
mod paths;
mod solver;
mod spread;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use certificate::Summary;

/// The text of `--help`.
const HELP: &str = "\
Checks a certificate of knight Isolation: who wins each opening of a board

Usage: plyd-certificate [OPTIONS] FILE

Options:
  --threads N  Check so many openings at once [default: the number of cores]
  --json       Print the result as a JSON object
  --help       Print this help

The program proves each line of FILE by itself and exits with 0. If a line is wrong, it says which and why,
and exits with 1. Wrong arguments, and a file that cannot be read, exit with 2.

Example:
  plyd-certificate --threads 2 isolation-6x9.txt
";

/// The time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(3);

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// The help.
    Help,
    /// A check of a file.
    Check { file: String, threads: usize, json: bool },
}

fn main() -> ExitCode {
    let words: Option<Vec<String>> =
        std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect();
    let request =
        words.ok_or_else(|| "an argument is not UTF-8".to_owned()).and_then(|words| request(&words));
    match request {
        Ok(Request::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Request::Check { file, threads, json }) => check(&file, threads, json),
        Err(what) => {
            eprintln!("error: {what}; see --help");
            ExitCode::from(2)
        }
    }
}

/// Reads the arguments.
fn request(words: &[String]) -> Result<Request, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut file, mut threads, mut json) = (None, cores, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--json" => json = true,
            "--threads" => threads = read_threads(words.next())?,
            option if option.starts_with('-') => return Err(format!("there is no option `{option}`")),
            _ if file.is_some() => return Err("more than one file is given".to_owned()),
            _ => file = Some(word.clone()),
        }
    }
    let file = file.ok_or_else(|| "no file is given".to_owned())?;
    Ok(Request::Check { file, threads, json })
}

/// Reads the number after `--threads`.
fn read_threads(word: Option<&String>) -> Result<usize, String> {
    let number = word.and_then(|word| word.parse().ok()).filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "--threads wants a number from 1 to 1024".to_owned())
}

/// Checks a file and prints what it proves.
fn check(file: &str, threads: usize, json: bool) -> ExitCode {
    let start = Instant::now();
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("error: cannot read {file}: {error}");
            return ExitCode::from(2);
        }
    };
    let last_progress = Mutex::new(start);
    let progress = |done: usize, total: usize| {
        // Another thread is about to say it.
        let Ok(mut last) = last_progress.try_lock() else { return };
        if last.elapsed() >= PAUSE {
            *last = Instant::now();
            eprintln!("checked {done} of {total} openings");
        }
    };
    match certificate::text(&bytes).and_then(|text| certificate::check(text, threads, &progress)) {
        Ok(summary) => {
            let seconds = start.elapsed().as_secs_f64();
            let text = if json { as_json(&summary, seconds) } else { as_text(&summary, seconds) };
            match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("error: cannot write the result: {error}");
                    ExitCode::from(2)
                }
            }
        }
        Err(fault) => {
            eprintln!("error: {file}: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// The result for a reader.
fn as_text(summary: &Summary, seconds: f64) -> String {
    let Summary { width, height, plies, classes, one_colour, two_colours, leaves, nodes } = summary;
    let total = one_colour[0] + one_colour[1] + two_colours[0] + two_colours[1];
    let row = |counts: &[usize; 2]| format!("player 1 wins {}, player 2 wins {}", counts[0], counts[1]);
    format!(
        "isolation {width}x{height}: the certificate is proven\n\
         openings: {classes} up to symmetry, {total} in all; of these\n\
         tokens on one colour: {}\n\
         tokens on two colours: {}\n\
         proven: {leaves} positions after {plies} plies, by a search of {nodes} positions\n\
         time: {seconds:.1} s\n",
        row(one_colour),
        row(two_colours),
    )
}

/// The result for a program.
fn as_json(summary: &Summary, seconds: f64) -> String {
    let Summary { width, height, plies, classes, one_colour, two_colours, leaves, nodes } = summary;
    let total = one_colour[0] + one_colour[1] + two_colours[0] + two_colours[1];
    let wins = |counts: &[usize; 2]| format!(r#"{{"player1":{},"player2":{}}}"#, counts[0], counts[1]);
    format!(
        "{{\"board\":\"{width}x{height}\",\"plies\":{plies},\"classes\":{classes},\"openings\":{total},\
         \"one_colour\":{},\"two_colours\":{},\"leaves\":{leaves},\"nodes\":{nodes},\"seconds\":{seconds:.3}}}\n",
        wins(one_colour),
        wins(two_colours),
    )
}
