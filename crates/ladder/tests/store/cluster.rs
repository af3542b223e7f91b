//! The PostgreSQL server that most tests share.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

#[path = "../../../../tests/common/cluster.rs"]
mod server;

pub(crate) use server::Cluster;

static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();

/// The URL of a new database; none where PostgreSQL is not installed.
pub(crate) fn new_database(name: &str) -> Option<String> {
    let cluster = SHARED.get_or_init(|| {
        let cluster = Cluster::start("shared");
        if cluster.is_none() {
            let reason = "PostgreSQL is not installed (apt-get install postgresql): tested on SQLite alone";
            let _nobody_reads = writeln!(io::stderr(), "{reason}");
        }
        cluster
    });
    Some(cluster.as_ref()?.new_database(name))
}

/// Connects beside the ladder, as another program would.
pub(crate) fn client(database: &str) -> postgres::Client {
    connect(shared(), database)
}

/// The socket of the server that most tests share.
pub(crate) fn socket() -> PathBuf {
    shared().folder().join(".s.PGSQL.5432")
}

/// Connects to a server as another program would.
pub(crate) fn connect(cluster: &Cluster, database: &str) -> postgres::Client {
    let mut config = postgres::Config::new();
    let config = config.host_path(cluster.folder()).user("ladder").dbname(database);
    config.connect(postgres::NoTls).unwrap()
}

fn shared() -> &'static Cluster {
    SHARED.get().unwrap().as_ref().unwrap()
}

/// Ends the shared server, if it was started.
pub(crate) fn stop() {
    if let Some(Some(cluster)) = SHARED.get() {
        cluster.stop();
    }
}
