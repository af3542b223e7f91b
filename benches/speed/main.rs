//! Whether a change made the searches slower: `cargo bench --bench speed -- --before COMMIT`.
//!
//! The build of this checkout and that of another commit (or any binary of plyd) do the same work in turns.
//! For each row it prints how fast the new build is relative to the old one, by CPU time, and how many
//! instructions it takes relative to it. A row is slower if it was slower by CPU time twice, the second time
//! in twice as many rounds, or if it takes more instructions and was not faster by CPU time. Exits 1 if a row
//! is slower.
//!
//! `--prove 20` shows what that is worth: it slows a copy of this commit down by 3 %, and counts how often
//! the bench finds that, and how often it finds the same commit slower than itself.

#[path = "../common/bootstrap.rs"]
mod bootstrap;
mod build;
mod measure;
mod prove;
mod ratio;
mod workload;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use build::{Build, Checkout};
use measure::Measured;
use workload::{WORKLOADS, Workload};

/// What can go wrong: a command that fails, or whose output is not what it should be.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// Compare the speed of this build with another one's.
#[derive(Debug, Parser)]
struct Args {
    /// What to compare with: a commit, which is built, or the path of a binary
    #[arg(long, value_name = "COMMIT or PATH", required_unless_present_any = ["list", "prove"])]
    before: Option<String>,
    /// Only the rows whose names hold one of these words
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    only: Vec<String>,
    /// How often each build does the work of a row
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Put the table into this page, in the place of the one with the same columns
    #[arg(long, value_name = "PAGE")]
    into: Option<PathBuf>,
    /// Slow this commit down by 3 %, and count in so many runs how often that is found, and how often a
    /// slowdown is found where there is none
    #[arg(long, value_name = "RUNS", conflicts_with = "before")]
    prove: Option<usize>,
    /// Print the rows with their commands
    #[arg(long)]
    list: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Outcome<ExitCode> {
    let args = Args::parse();
    let chosen = |row: &&Workload| {
        args.only.is_empty() || args.only.iter().any(|word| row.name.contains(word.as_str()))
    };
    let rows: Vec<&Workload> = WORKLOADS.iter().filter(chosen).collect();
    if rows.is_empty() {
        return Err("no row has such a name: `--list` prints them".into());
    }
    let mut out = io::stdout().lock();
    if args.list {
        for row in rows {
            writeln!(out, "{:26}plyd {}", row.name, row.whole().join(" "))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(runs) = args.prove {
        return prove::run(&rows, runs, args.rounds);
    }
    let before = args.before.as_deref().expect("clap asks for it");
    let before = if Path::new(before).is_file() {
        Build::of_binary(before.into(), before.to_owned())
    } else {
        Checkout::of(before)?.build()?
    };
    let after = Build::own();
    let measured = compare(&rows, &before, &after, args.rounds)?;
    let table = Measured::table(&measured);
    writeln!(out, "Before is {}, after is {}.\n\n{table}", before.name, after.name)?;
    if let Some(page) = &args.into {
        put_into(page, &table)?;
    }
    let slower: Vec<&str> = measured.iter().filter(|row| row.is_slower()).map(|row| row.name).collect();
    if slower.is_empty() {
        writeln!(out, "no row is slower")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "slower: {}", slower.join(", "))?;
    Ok(ExitCode::FAILURE)
}

/// Measures each row; those that look slower once more.
fn compare(rows: &[&Workload], before: &Build, after: &Build, rounds: usize) -> Outcome<Vec<Measured>> {
    let mut measured = Vec::new();
    for row in rows {
        let mut found = Measured::of(row, before, after, rounds)?;
        if found.is_slower_by_time() {
            found.measure_again(row, before, after, 2 * rounds)?;
        }
        writeln!(io::stderr(), "{found}")?;
        measured.push(found);
    }
    Ok(measured)
}

/// Replaces the table of a page that has the same columns.
fn put_into(page: &Path, table: &str) -> Outcome<()> {
    let text = std::fs::read_to_string(page)?;
    let head = table.lines().next().unwrap_or_default();
    let from = text
        .find(head)
        .ok_or_else(|| format!("{} has no table with these columns: {head}", page.display()))?;
    let old: usize =
        text[from..].split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    Ok(std::fs::write(page, format!("{}{table}{}", &text[..from], &text[from + old..]))?)
}
