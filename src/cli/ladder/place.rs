//! Which ladder a command is about, and who gives it.

use plyd_ladder::now_ms;
use plyd_ladder::store::{By, Database, Store, StoreError};

use crate::cli::failure::Failure;

/// A ladder's database, and who changes it.
#[derive(Debug, clap::Args)]
pub(super) struct Place {
    /// The ladder: a file of SQLite, or postgres://USER@HOST/NAME
    #[arg(long, value_name = "DATABASE", default_value = "ladder.db", value_parser = str::parse::<Database>)]
    pub(super) db: Database,
    /// Who does this, for the audit log [default: the user]
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
}

impl Place {
    /// Opens the ladder beside a server.
    pub(super) fn open(&self) -> Result<Store, Failure> {
        Store::open(&self.db).map_err(failed)
    }

    /// Opens the ladder while no server has it, and none can have it.
    pub(super) fn open_alone(&self) -> Result<Store, Failure> {
        Store::serve(&self.db).map_err(failed)
    }

    /// Who does it, now.
    pub(super) fn by(&self) -> By<'_> {
        By { who: self.who.as_deref().unwrap_or(USER.as_str()), at_ms: now_ms() }
    }
}

/// The user of the system.
static USER: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let named = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "operator".to_owned())
});

/// What the database refused is a matter of the arguments.
pub(super) fn failed(error: StoreError) -> Failure {
    match error {
        StoreError::Refused(message) => Failure::Usage(message),
        // Whoever reads what is written may have had enough.
        StoreError::Io(error) => Failure::Io(error),
        error => Failure::Failed(error.to_string()),
    }
}
