//! The builds that are compared: that of this checkout, and those of commits, each in a worktree of its own.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;

/// A binary of plyd.
pub(crate) struct Build {
    /// What reports call it.
    pub name: String,
    /// Where it is.
    pub binary: PathBuf,
}

impl Build {
    /// The binary that cargo has built for this bench.
    pub(crate) fn own() -> Self {
        let name = stdout_of(Command::new("git").args(["describe", "--always", "--dirty"]));
        let name = name.map_or_else(|_| "this build".to_owned(), |commit| format!("`{commit}`"));
        Self { name, binary: env!("CARGO_BIN_EXE_plyd").into() }
    }

    /// A binary that is there already.
    pub(crate) fn of_binary(binary: PathBuf, name: String) -> Self {
        Self { name, binary }
    }
}

/// A worktree of a commit, below the target folder; it stays, so that the next comparison finds its build.
pub(crate) struct Checkout {
    folder: PathBuf,
    name: String,
}

impl Checkout {
    /// The worktree of a commit, made unless it is there.
    pub(crate) fn of(commit: &str) -> Outcome<Self> {
        Self::named(commit, "")
    }

    /// The same with a mark of its own, for a copy that is going to be changed.
    pub(crate) fn named(commit: &str, mark: &str) -> Outcome<Self> {
        let name = stdout_of(Command::new("git").args([
            "rev-parse",
            "--short",
            "--verify",
            &format!("{commit}^{{commit}}"),
        ]))
        .map_err(|_| format!("{commit} is neither a binary nor a commit of this repository"))?;
        let folder = target().join("speed").join(format!("{name}{mark}"));
        if !folder.exists() {
            // What was deleted by hand is still on git's list.
            stdout_of(Command::new("git").args(["worktree", "prune"]))?;
            stdout_of(Command::new("git").args(["worktree", "add", "--detach"]).arg(&folder).arg(&name))?;
        }
        Ok(Self { folder, name: format!("`{name}`") })
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Builds its binary as a release.
    pub(crate) fn build(&self) -> Outcome<Build> {
        let own = self.folder.join("target");
        writeln!(io::stderr(), "building {}", self.name)?;
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--locked", "--quiet", "--bin", "plyd"]).current_dir(&self.folder);
        stdout_of(cargo.env("CARGO_TARGET_DIR", &own))?;
        Ok(Build { name: self.name.clone(), binary: own.join("release").join("plyd") })
    }
}

/// The target folder of this build.
fn target() -> PathBuf {
    // TARGET/release/plyd
    let binary = Path::new(env!("CARGO_BIN_EXE_plyd"));
    binary.ancestors().nth(2).map_or_else(env::temp_dir, Path::to_path_buf)
}

/// What a command printed, without the end of its last line.
///
/// # Errors
///
/// If it cannot be started, or fails; with what it printed on standard error.
#[allow(clippy::disallowed_methods, reason = "it ends by itself")]
pub(crate) fn stdout_of(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{reason}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}
