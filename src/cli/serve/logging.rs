//! The settings of the log.

use tracing::level_filters::LevelFilter;

use crate::cli::verbosity::{Directives, Filter, Verbosity};
use crate::daemon::log::{self, Form};

/// What is logged beyond `--verbose`, and how.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Log")]
pub(super) struct Logging {
    /// Write the log as text, or as one JSON object a line: `text` or `json`
    #[arg(long, value_name = "FORMAT", value_parser = form, default_value = "text")]
    log_format: Form,
    /// Log by directives on top of what -v says: a level, or a target with its level, with commas between
    /// them, such as `warn,plyd_daemon::searches=debug`. The variable RUST_LOG does the same
    #[arg(long, value_name = "DIRECTIVES", value_parser = Directives::read)]
    log_filter: Option<Directives>,
}

/// What the log is to say, and how.
#[derive(Clone, Debug)]
pub(super) struct Log {
    filter: Filter,
    form: Form,
}

impl Logging {
    /// The log that they describe, if `level` is what it says without directives.
    pub(super) fn log(&self, level: LevelFilter) -> Log {
        let filter = Filter::from(level);
        let filter = match &self.log_filter {
            Some(directives) => filter.with(directives),
            None => filter,
        };
        Log { filter, form: self.log_format }
    }
}

impl Log {
    /// Puts it in force.
    pub(super) fn apply(&self, verbosity: &Verbosity) {
        log::set_form(self.form);
        verbosity.set(&self.filter);
    }
}

fn form(text: &str) -> Result<Form, String> {
    match text {
        "text" => Ok(Form::Text),
        "json" => Ok(Form::Json),
        _ => Err("give text or json".to_owned()),
    }
}
