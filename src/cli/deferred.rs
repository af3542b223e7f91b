//! Commands that are described only when they are asked for: a start needs the arguments of one command, and
//! to describe all took a quarter of its processor time, in a build for tests two fifths.

use clap::builder::Resettable;
use clap::{ArgMatches, FromArgMatches};

use super::{examples, program, registry};

/// The arguments of a command.
#[derive(Debug)]
pub(super) struct Deferred<A>(pub(super) A);

impl<A: clap::Args> clap::Args for Deferred<A> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(described::<A>)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        A::augment_args_for_update(command)
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The command with its arguments and examples.
fn described<A: clap::Args>(command: clap::Command) -> clap::Command {
    // The text of the enum's variant is kept: a comment on the type of the arguments would replace it.
    let said = [command.get_about(), command.get_long_about()];
    let [about, long_about] = said.map(|text| Resettable::from(text.cloned()));
    let command = A::augment_args(command).about(about).long_about(long_about);
    debug_assert!(
        !command.has_subcommands(),
        "a command with subcommands is not deferred: clap would leave them out of `help`"
    );
    examples::of(command, &program(), registry::games())
}
