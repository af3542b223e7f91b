//! What `plyd --version` prints behind the name: the version, and which build of it this is.

use std::sync::LazyLock;

/// The version; then the commit if the build names one (`.ci/release` does), and for what it was made.
///
/// `cargo install` from a registry does not read the flags of `.cargo/config.toml`, so a build without them
/// says so.
pub(super) fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = format!("{}\n{}", env!("CARGO_PKG_VERSION"), build());
        if cfg!(all(target_arch = "x86_64", not(target_feature = "popcnt"))) {
            text += "\ncompiled without popcnt, which costs a tenth of the speed; on processors made since 2009 \
                     build it with\nRUSTFLAGS=\"-C target-cpu=x86-64-v2\"";
        }
        text
    });
    &TEXT
}

/// The build in a line.
fn build() -> String {
    let commit = option_env!("PLYD_COMMIT").map_or_else(
        || "built from a source tree".to_owned(),
        |commit| format!("built from commit {commit}"),
    );
    let processor = match std::env::consts::ARCH {
        "x86_64" if cfg!(target_feature = "avx2") => "x86-64-v3",
        "x86_64" if cfg!(target_feature = "popcnt") => "x86-64-v2",
        other => other,
    };
    let libc = match () {
        () if cfg!(target_env = "musl") => ", musl",
        () if cfg!(all(target_env = "gnu", target_os = "linux")) => ", glibc",
        () => "",
    };
    let features = [
        ("service", cfg!(feature = "service")),
        ("fleet", cfg!(feature = "fleet")),
        ("ladder", cfg!(feature = "ladder")),
        ("mcp", cfg!(feature = "mcp")),
    ];
    let features: Vec<&str> = features.iter().filter(|feature| feature.1).map(|feature| feature.0).collect();
    let features = if features.is_empty() { "no features".to_owned() } else { features.join(", ") };
    let checks = if cfg!(debug_assertions) { ", for tests" } else { "" };
    format!("{commit} for {}, {processor}{libc}, with {features}{checks}", std::env::consts::OS)
}
