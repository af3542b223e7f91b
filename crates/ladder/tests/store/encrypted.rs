//! A connection to PostgreSQL that is encrypted: to the server that it is meant for, and to no other.

use std::fs;

use plyd_ladder::store::Store;

use crate::cluster::{Cluster, connect};
use crate::fixtures::ALICE;

pub(crate) fn postgresql_is_spoken_to_over_tls() {
    let Some(cluster) = Cluster::start("tls") else {
        return;
    };
    let certificates = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/certificates");
    let keep = |name: &str| {
        let bytes = fs::read(format!("{certificates}/{name}")).unwrap();
        cluster.keep(name, &bytes).to_str().unwrap().to_owned()
    };
    // An address of this machine for this process alone: other servers have the usual port of the usual one.
    let [.., high, low] = std::process::id().to_be_bytes();
    let here = format!("127.117.{high}.{low}");
    let mut settings = vec![
        format!("listen_addresses={here}"),
        "ssl=off".to_owned(),
        format!("ssl_cert_file={}", keep("server.pem")),
        format!("ssl_key_file={}", keep("server.key")),
    ];
    cluster.end();
    cluster.serve_with(&settings);
    cluster.new_database("ladder");
    let url = |host: &str, and: &str| format!("postgres://ladder@{host}/ladder?hostaddr={here}{and}");
    let open = |url: String| Store::open(&url.parse().unwrap());
    let refused = |url: String| match open(url.clone()) {
        Ok(_) => panic!("{url} is taken"),
        Err(error) => error.to_string(),
    };
    let trusting = format!("&sslrootcert={certificates}/authority.pem");
    let text = refused(url("localhost", &trusting));
    assert!(text.contains("server does not support TLS"), "{text}");

    "ssl=on".clone_into(&mut settings[1]);
    cluster.end();
    cluster.serve_with(&settings);
    Store::init(&url("localhost", &trusting).parse().unwrap(), &ALICE).unwrap();
    // What PostgreSQL itself says of the connection.
    let is_encrypted = || {
        let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'plyd ladder' ORDER BY backend_start DESC LIMIT 1";
        let row = connect(&cluster, "ladder").query_one(sql, &[]).unwrap();
        row.get::<_, bool>(0)
    };
    for (and, encrypted) in [
        (trusting.clone(), true),
        (format!("{trusting}&sslmode=verify-full"), true),
        (format!("{trusting}&sslmode=prefer"), true),
        (String::new(), false),
    ] {
        let mut store = open(url("localhost", &and)).unwrap();
        assert_eq!(is_encrypted(), encrypted, "{and}");
        // A connection that is lost is made anew in the same way.
        let sql =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plyd ladder'";
        connect(&cluster, "ladder").query(sql, &[]).unwrap();
        assert_eq!(store.seasons().unwrap().len(), 1);
        assert_eq!(is_encrypted(), encrypted, "{and}");
    }

    let text = refused(url("localhost", &format!("&sslrootcert={certificates}/foreign-authority.pem")));
    assert!(text.contains("UnknownIssuer") && text.contains("sslrootcert="), "{text}");
    let text = refused(url("elsewhere.example", &trusting));
    assert!(text.contains("the host of the URL"), "{text}");
    let text = refused(url("localhost", "&sslrootcert=/no/such/file"));
    assert!(text.contains("/no/such/file"), "{text}");
}
