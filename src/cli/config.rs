//! `plyd config`: the file of settings of `plyd serve`.

use std::io::Write;

use super::failure::Failure;
use super::serve::{InForce, Kind, defaults};
use super::styled::Text;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd config example > plyd.toml          a file to begin with
  plyd serve --config plyd.toml --check    whether it is good, and what is in force")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print a file with all settings, their defaults and what they mean
    Example,
}

/// The width of the text.
const COLUMNS: usize = 96;

const HEAD: &str = "\
Settings of `plyd serve --config FILE`, in TOML. Each is a flag of `plyd serve` without the leading `--`, \
with its default; remove the # to set another. The environment overrides this file (`hash-mb` as \
PLYD_SERVE_HASH_MB), and flags override both. SIGHUP makes a running daemon read the file again. \
Paths are relative to the folder in which the daemon is started.";

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match args.command {
        Command::Example => example(out),
    }
}

fn example(out: &mut impl Write) -> Result<(), Failure> {
    comment(HEAD, out)?;
    let mut heading = None;
    for setting in defaults()? {
        let key = &setting.key;
        if let Some(title) = key.heading().filter(|title| heading.as_deref() != Some(*title)) {
            heading = Some(title.to_owned());
            writeln!(out, "\n## {title}")?;
        }
        writeln!(out)?;
        let about = match key.kind() {
            // A flag whose value is the number of times it is given.
            Kind::Count => format!("{}. Here it is a number, 0 to 3", key.about()),
            _ => key.about(),
        };
        comment(&about, out)?;
        writeln!(out, "#{} = {}", key.name(), written(&setting))?;
    }
    Ok(())
}

fn comment(text: &str, out: &mut impl Write) -> Result<(), Failure> {
    for line in Text::from(text).wrapped(COLUMNS) {
        writeln!(out, "# {}", line.plain())?;
    }
    Ok(())
}

/// The value of a setting that is not set, as TOML.
fn written(setting: &InForce) -> String {
    match setting.key.kind() {
        Kind::List => "[]".into(),
        Kind::Text => format!("\"{}\"", setting.values.concat()),
        Kind::Switch | Kind::Number | Kind::Count => setting.values.concat(),
    }
}
