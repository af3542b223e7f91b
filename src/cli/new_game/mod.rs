//! `plyd new-game`: a game that works, to be changed into another one.

mod checkout;
mod name;
mod template;
mod write;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use self::checkout::Checkout;
use self::template::{File, Names};
use self::write::Draft;
use super::failure::Failure;
use super::registry;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd new-game hex                     in a clone of plyd: writes the crate crates/games/hex and registers it
  plyd new-game hex --crate hex --plyd ~/plyd
                                        writes the folder hex: a program that is plyd with this game

The game is Connect Four, with rules, texts, evaluations, counts, tests and a look on the page: all that is
there to be changed. docs/adding-a-game.md goes on from there.")]
pub(super) struct Args {
    /// The name: lower-case letters, digits and hyphens
    name: String,
    /// Write a crate of its own to this folder, which must not exist
    #[arg(long = "crate", value_name = "DIR")]
    package: Option<PathBuf>,
    /// The clone of plyd that the crate builds on; when absent, the one around the current folder
    #[arg(long, value_name = "PATH", requires = "package")]
    plyd: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let module = name::module(&args.name).map_err(Failure::Usage)?;
    if registry::games().iter().any(|game| game.name == args.name) {
        return Err(Failure::Usage(format!("there is a game `{}` already; take another name", args.name)));
    }
    let names = Names { name: &args.name, module: &module };
    match &args.package {
        Some(folder) => package(names, folder, args.plyd.as_deref(), out),
        None => folder(names, out),
    }
}

/// Writes a crate.
fn package(
    names: Names<'_>,
    folder: &Path,
    plyd: Option<&Path>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let checkout = match plyd {
        Some(plyd) => Checkout::at(plyd).ok_or_else(|| {
            Failure::Usage(format!("--plyd {}: there is no clone of plyd's repository", plyd.display()))
        })?,
        None => Checkout::around()?.ok_or_else(|| {
            let repository = env!("CARGO_PKG_REPOSITORY");
            Failure::Usage(format!("give --plyd PATH: where a clone of {repository} is"))
        })?,
    };
    is_free(folder)?;
    if let Some(clone) = Checkout::that_takes(folder) {
        return Err(Failure::Usage(format!(
            "--crate {}: the folders in {} are the crates of plyd itself; leave out --crate to add the game to plyd, or \
             name a folder elsewhere",
            folder.display(),
            clone.root.join("crates").display()
        )));
    }
    let mut files = names.package(&toml(&checkout.root)?, &toml(&checkout.core())?);
    files.push(("Cargo.lock".to_owned(), checkout.lock().map_err(Failure::Failed)?));
    write(folder, &files)?;
    list(out, folder, &files)?;
    writeln!(
        out,
        "\nNext:\n  cd {}\n  cargo run -- gui\n  cargo test\n  cargo run --release -- go {name} --time 1s",
        folder.display(),
        name = names.name
    )?;
    advise(out, &checkout)
}

/// Writes a crate of the clone around the current folder, and adds the game to the lists.
fn folder(names: Names<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let checkout = Checkout::around()?.ok_or_else(|| {
        Failure::Usage(format!(
            "this is no clone of plyd's repository: go to one, or write a crate of its own by `plyd new-game {} --crate \
             DIR --plyd PATH`",
            names.name
        ))
    })?;
    let folder = checkout.games().join(names.name);
    is_free(&folder)?;
    // Plyd's other crates are called like those of games.
    is_free(&checkout.root.join("crates").join(names.name))?;
    is_free(&checkout.root.join(names.name).join("Cargo.toml"))?;
    let registry = change(checkout.registry(), |text| checkout::registered(text, names))?;
    let manifest = change(checkout.manifest(), |text| checkout.depended_on(text, names))?;
    // All or nothing: if one of the three fails, what was done goes.
    let undone = change(checkout.manifest(), |text| Ok(text.to_owned()))?;
    let files = names.member();
    write(&folder, &files)?;
    let listed = publish(manifest).and_then(|()| {
        publish(registry).inspect_err(|_| {
            let _as_far_as_possible = undone.publish();
        })
    });
    listed.inspect_err(|_| {
        let _it_was_ours = fs::remove_dir_all(&folder);
    })?;
    list(out, &folder, &files)?;
    let name = names.name;
    writeln!(
        out,
        "changed {}\nchanged {}\n\nNext:\n  cargo run --release -- go {name} --time 1s\n  cargo run --release -- gui\n  \
         PLYD_GAME={name} cargo test --test it conformance\n  cargo test -p plyd-{name}",
        checkout.manifest().display(),
        checkout.registry().display(),
    )?;
    advise(out, &checkout)
}

/// A file with a change, to be published.
fn change(path: PathBuf, change: impl FnOnce(&str) -> Result<String, String>) -> Result<Draft, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
    // On Windows lines may end in two characters.
    let is_carried = text.contains("\r\n");
    let changed = change(&text.replace("\r\n", "\n")).map_err(|error| failed(&error))?;
    let changed = if is_carried { changed.replace('\n', "\r\n") } else { changed };
    Draft::file(&path, &changed).map_err(|error| failed(&error))
}

fn publish(draft: Draft) -> Result<(), Failure> {
    let path = draft.path().to_owned();
    draft.publish().map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}

fn advise(out: &mut impl Write, checkout: &Checkout) -> Result<(), Failure> {
    let guide = checkout.root.join("docs/adding-a-game.md");
    Ok(writeln!(out, "The game is Connect Four now; {} says how to make it another one.", guide.display())?)
}

/// Whether nothing is there.
fn is_free(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => {
            Err(Failure::Usage(format!("{} is there already, and nothing is overwritten", path.display())))
        }
        Err(_) => Ok(()),
    }
}

fn write(folder: &Path, files: &[File]) -> Result<(), Failure> {
    let written = Draft::folder(folder, files).and_then(Draft::publish);
    written.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", folder.display())))
}

fn list(out: &mut impl Write, folder: &Path, files: &[File]) -> Result<(), Failure> {
    for (path, _) in files {
        writeln!(out, "wrote {}", folder.join(path).display())?;
    }
    Ok(())
}

/// A path as TOML.
fn toml(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| {
        Failure::Usage(format!("--plyd {}: Cargo takes only paths in UTF-8", path.display()))
    })?;
    // The strings of JSON are among those of TOML.
    Ok(serde_json::Value::from(text).to_string())
}
