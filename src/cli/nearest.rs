//! The name that was meant by a wrong one.

/// The one of several names that a wrong name is most like; empty if there are none. Large letters count as
/// small ones, and `_` as `-`.
pub(super) fn nearest(wrong: &str, names: impl Iterator<Item = String>) -> String {
    let plain = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let likeness = |name: &String| strsim::jaro_winkler(&plain(wrong), &plain(name));
    names.max_by(|one, other| likeness(one).total_cmp(&likeness(other))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use crate::cli::serve::defaults;

    #[test]
    fn the_nearest_name_is_the_one_that_was_meant() {
        let settings = defaults().unwrap();
        for (wrong, meant) in [
            ("hash", "hash-mb"),
            ("hash_mb", "hash-mb"),
            ("HashMB", "hash-mb"),
            ("conections", "connections"),
            ("connection", "connections"),
            ("token", "token-file"),
            ("clients", "clients-file"),
            ("ws-origins", "ws-origin"),
            ("verbosity", "verbose"),
            ("thread", "threads"),
            ("request-mb-in-all", "request-mb"),
            ("keep-alive", "keepalive"),
        ] {
            assert_eq!(
                nearest(wrong, settings.iter().map(|setting| setting.key.name().to_owned())),
                meant,
                "{wrong}"
            );
        }
        assert_eq!(nearest("", std::iter::empty()), "");
    }
}
