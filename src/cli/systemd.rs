//! `plyd systemd`: units for systemd that run a daemon with the settings that are given, confined to what
//! it needs.
//!
//! Knows what systemd calls things, and of the settings those that name files, addresses and memory.

use std::fmt::Write as _;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};

use super::failure::Failure;
use super::serve::{AllInForce, Given, InForce};
use super::system::{is_executable, others_read};
use crate::daemon::{Config, TlsFiles};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd systemd --config /etc/plyd/plyd.toml > /etc/systemd/system/plyd.service
  plyd systemd --tcp 0.0.0.0:7117 --token-file /etc/plyd/token
                                                  the settings of `plyd serve`, as flags
  plyd systemd --config /etc/plyd/plyd.toml --activated > /etc/systemd/system/plyd.service
  plyd systemd --config /etc/plyd/plyd.toml --socket > /etc/systemd/system/plyd.socket
                                                  systemd holds the sockets: a restart refuses nobody
  plyd systemd --config /etc/plyd/plyd.toml --user plyd > /etc/systemd/system/plyd.service
                                                  a reload finds renewed certificates and tokens

docs/operating.md says how to install them.")]
pub(super) struct Args {
    /// Print the socket unit, with which systemd holds the sockets
    #[arg(long, conflicts_with = "activated")]
    socket: bool,
    /// Print the service unit for a daemon that gets its sockets from the socket unit
    #[arg(long)]
    activated: bool,
    /// Let this user run the daemon and read the files of tokens, clients and certificates, so that
    /// `systemctl reload` finds new ones. The user must exist and be able to read them [default: systemd
    /// makes up a user and copies the files when the service starts]
    #[arg(long, value_name = "NAME", value_parser = user, conflicts_with = "socket")]
    user: Option<String>,
    /// The program that the unit starts; this one when absent
    #[arg(long, value_name = "PATH")]
    exec: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
}

/// What the daemon takes beside the memory that settings bound, in MiB.
const OTHER_MIB: u64 = 256;
/// Open files beside the connections.
const OTHER_FILES: u64 = 256;
/// How long the end takes at most once searches may not go on, and as much again.
const STOP_SECONDS: u64 = 10;

/// Settings that name files which root alone may read: systemd gives the service copies.
const SECRETS: [&str; 5] = ["token-file", "clients-file", "tls-cert", "tls-key", "tls-client-ca"];

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let AllInForce { list, file, is_read_again } = args.given.in_force()?;
    let settings = Settings(&list);
    // Without an address a daemon speaks on its standard streams, which nobody asked for here.
    let is_asked = list.iter().any(|setting| setting.key.name() == "stdio" && !setting.is_default());
    if settings.text("stdio") == Some("true") && !is_asked {
        return Err(nothing_served());
    }
    if settings.text("stdio") == Some("true") {
        return Err(usage("stdio", "a service has no standard input; give `tcp`, `ws` or `unix` instead"));
    }
    exposed(&settings)?;
    let unit = if args.socket {
        socket_unit(&settings)?
    } else {
        let exec = args.exec.clone().map_or_else(std::env::current_exe, Ok)?;
        let file = file.map(std::path::absolute).transpose()?;
        let user = args.user.as_deref();
        doubts(&settings, args, file.as_deref());
        Service { settings, exec, file, user, is_read_again, is_activated: args.activated }.unit()?
    };
    Ok(out.write_all(unit.as_bytes())?)
}

/// Refuses addresses that the daemon would refuse when the service starts.
fn exposed(settings: &Settings<'_>) -> Result<(), Failure> {
    let file = |name| settings.text(name).map(PathBuf::from);
    let tls = file("tls-cert").zip(file("tls-key"));
    let config = Config {
        tcp: settings.values("tcp").to_vec(),
        ws: settings.values("ws").to_vec(),
        metrics: settings.text("metrics").map(str::to_owned),
        // Whether there is one counts, not which.
        token: settings.text("token-file").map(str::to_owned),
        clients: settings.text("clients-file").map(|_| Vec::new()),
        tls: tls.map(|(cert, key)| TlsFiles { cert, key, client_ca: file("tls-client-ca") }),
        insecure: settings.text("insecure") == Some("true"),
        ..Config::default()
    };
    config.check_addresses().map_err(|error| Failure::Usage(error.to_string()))
}

/// Warns of what would keep the service from starting if this machine is the one where it shall run.
fn doubts(settings: &Settings<'_>, args: &Args, file: Option<&Path>) {
    // Another program may have it.
    if args.exec.is_none() && !cfg!(feature = "service") && settings.text("tls-cert").is_some() {
        tracing::warn!("this plyd has no TLS and would not start: build it with the feature `service`");
    }
    if let Some(path) = args.exec.as_deref().filter(|path| path.is_absolute()) {
        match path.metadata() {
            Ok(metadata) if metadata.is_file() && is_executable(&metadata) => {}
            Ok(_) => tracing::warn!("{} is no program: chmod +x, if it is the right file", path.display()),
            Err(error) => tracing::warn!("the unit would not start {}: {error}", path.display()),
        }
    }
    let mut read: Vec<&Path> = file.into_iter().collect();
    if args.user.is_some() {
        read.extend(SECRETS.iter().filter_map(|name| settings.text(name)).map(Path::new));
    }
    for path in read {
        if ["/tmp", "/var/tmp"].iter().any(|folder| path.starts_with(folder)) {
            tracing::warn!(
                "the service cannot read {}: it has a folder of its own for temporary files; move that file, for \
                 example to /etc/plyd",
                path.display()
            );
        }
    }
    // The settings themselves are no credential: the daemon reads their file itself.
    let hidden = file.filter(|path| path.metadata().is_ok_and(|metadata| !others_read(&metadata)));
    if let (None, Some(path)) = (&args.user, hidden) {
        tracing::warn!(
            "the service cannot read {}: its user is one that systemd makes up; let others read the file (chmod o+r), \
             or name a user who may read it with --user",
            path.display()
        );
    }
    if let Some(user) = args.user.as_deref().filter(|user| !is_known(user)) {
        tracing::warn!("/etc/passwd has no user `{user}`: useradd --system --user-group {user}");
    }
}

/// Whether this machine has a user of that name, as far as its file says.
fn is_known(user: &str) -> bool {
    let Ok(users) = std::fs::read_to_string("/etc/passwd") else { return true };
    users.lines().any(|line| line.split(':').next() == Some(user))
}

/// Reads the name of a user who may run a service, as systemd takes it.
fn user(text: &str) -> Result<String, String> {
    let is_named = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.len() <= 31
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    match text {
        "root" => Err("root may do everything: give a user of the daemon's own".into()),
        _ if is_named => Ok(text.to_owned()),
        _ => Err("give the name of a user: a letter, then letters, digits, `_` and `-`".into()),
    }
}

fn nothing_served() -> Failure {
    let message = "nothing would be served: give `tcp`, `ws` or `unix`, by flags or in the file of --config";
    Failure::Usage(message.into())
}

fn usage(name: &str, what: &str) -> Failure {
    Failure::Usage(format!("{name}: {what}"))
}

/// The settings that are in force.
struct Settings<'a>(&'a [InForce]);

impl Settings<'_> {
    fn values(&self, name: &str) -> &[String] {
        self.0.iter().find(|setting| setting.key.name() == name).map_or(&[], |found| &found.values)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.values(name).first().map(String::as_str)
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// The path of a file that a service can find: it starts in the root folder.
    fn path(&self, name: &str) -> Result<Option<&Path>, Failure> {
        match self.text(name).map(Path::new) {
            Some(path) if !path.is_absolute() => {
                Err(usage(name, "give an absolute path; a service starts in the root folder"))
            }
            path => Ok(path),
        }
    }

    fn addresses(&self) -> impl Iterator<Item = &String> {
        ["tcp", "ws", "metrics"].into_iter().flat_map(|name| self.values(name))
    }
}

/// The folder of a path below one of these, which systemd makes for the service: the name of its setting,
/// and the folder as that has it.
fn folder<'a>(path: &'a Path, roots: &[(&'static str, &str)]) -> Option<(&'static str, &'a str)> {
    roots.iter().find_map(|(setting, root)| {
        let below = path.strip_prefix(root).ok()?.parent()?;
        // Nothing that leads out of it again.
        let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        let name = below.to_str().filter(|name| !name.is_empty())?;
        is_plain.then_some((*setting, name))
    })
}

/// A value that is a whole line of a unit, or its end.
///
/// # Errors
/// It cannot be written there.
fn whole(text: &str) -> Result<String, Failure> {
    if text.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
        let message = format!("`{}` cannot stand in a unit", text.escape_debug());
        return Err(Failure::Usage(message));
    }
    Ok(text.replace('%', "%%"))
}

/// A word among others in a line of a unit.
///
/// # Errors
/// It cannot be written there.
fn word(text: &str) -> Result<String, Failure> {
    let escaped = whole(text)?.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$");
    let is_plain = !text.is_empty() && !text.contains([' ', '"', '\'', ';', '\\', '#']);
    Ok(if is_plain { escaped } else { format!("\"{escaped}\"") })
}

struct Service<'a> {
    settings: Settings<'a>,
    exec: PathBuf,
    file: Option<PathBuf>,
    /// Who runs it and reads its secrets; otherwise a user that systemd makes up, who gets copies.
    user: Option<&'a str>,
    /// Whether SIGHUP lets the settings be read again; else it ends the daemon.
    is_read_again: bool,
    is_activated: bool,
}

impl Service<'_> {
    fn unit(&self) -> Result<String, Failure> {
        let settings = &self.settings;
        let mut unit = String::from(
            "# Printed by `plyd systemd`; to be /etc/systemd/system/plyd.service. Then:\n\
             #   systemctl daemon-reload && systemctl enable --now plyd.service\n\
             [Unit]\n\
             Description=plyd, a game-engine daemon\n",
        );
        line(&mut unit, "Documentation", env!("CARGO_PKG_REPOSITORY"));
        if self.is_activated {
            unit += "Requires=plyd.socket\nAfter=plyd.socket network.target\n";
        } else {
            unit += "After=network.target\n";
        }
        unit += "\n[Service]\nType=notify\nNotifyAccess=main\n";
        line(&mut unit, "ExecStart", &self.command()?);
        if self.is_read_again {
            line(&mut unit, "ExecReload", "/bin/kill -HUP $MAINPID");
        }
        for name in SECRETS {
            if let Some(path) = settings.path(name)?
                && self.user.is_none()
            {
                line(&mut unit, "LoadCredential", &format!("{name}:{}", whole(&path.to_string_lossy())?));
            }
        }
        unit += "Restart=on-failure\nRestartSec=1\n# It is killed and started again if it gives no sign of life.\nWatchdogSec=30\n";
        let seconds = settings.number("drain-ms").div_ceil(1000) + STOP_SECONDS;
        line(&mut unit, "TimeoutStopSec", &seconds.to_string());
        self.resources(&mut unit);
        self.folders(&mut unit)?;
        self.network(&mut unit)?;
        unit += CONFINED;
        let home = ["/home", "/root", "/run/user"];
        let is_at_home = |path: &Path| home.iter().any(|home| path.starts_with(home));
        let mut secrets = SECRETS.iter().filter_map(|name| settings.text(name)).map(Path::new);
        let reads_home = is_at_home(&self.exec)
            || self.file.as_deref().is_some_and(is_at_home)
            || self.user.is_some() && secrets.any(is_at_home);
        line(&mut unit, "ProtectHome", if reads_home { "read-only" } else { "yes" });
        unit += "\n[Install]\nWantedBy=multi-user.target\n";
        if self.is_activated {
            unit += "Also=plyd.socket\n";
        }
        Ok(unit)
    }

    /// The command, with the settings that stand in no file.
    fn command(&self) -> Result<String, Failure> {
        let exec = self.exec.to_string_lossy();
        if !self.exec.is_absolute() {
            return Err(usage("--exec", "give an absolute path"));
        }
        let mut words = vec![word(&exec)?, "serve".to_owned()];
        if let Some(file) = &self.file {
            words.extend(["--config".to_owned(), word(&file.to_string_lossy())?]);
        }
        let is_copied = |name: &&str| self.user.is_none() && SECRETS.contains(name);
        for setting in self.settings.0.iter().filter(|setting| !is_copied(&setting.key.name())) {
            for flag in setting.flags() {
                words.push(word(&flag.to_string_lossy())?);
            }
        }
        let copied = SECRETS.into_iter().filter(|name| is_copied(name) && self.settings.text(name).is_some());
        words.extend(copied.map(|name| format!("--{name}=%d/{name}")));
        Ok(words.join(" "))
    }

    /// What it may take.
    fn resources(&self, unit: &mut String) {
        let number = |name: &str| self.settings.number(name);
        let mib = ["hash-mb", "requests-mb", "sessions-mb", "unsent-mb"].map(number).iter().sum::<u64>();
        let is_kept = number("resume-ms") > 0;
        // What was sent to them, and as much again that waits for those that are away.
        let kept = if is_kept { 2 * number("resume-connections") * number("resume-mb") } else { 0 };
        line(unit, "MemoryMax", &format!("{}M", mib.saturating_add(kept) + OTHER_MIB));
        let files = number("connections") + number("strangers") + OTHER_FILES;
        line(unit, "LimitNOFILE", &files.max(1024).to_string());
    }

    /// Where it may write.
    fn folders(&self, unit: &mut String) -> Result<(), Failure> {
        *unit += "\n";
        match self.user {
            None => *unit += "# A user of its own, who owns nothing but these folders.\nDynamicUser=yes\n",
            Some(user) => {
                *unit += "# It reads its files of tokens and certificates itself, again at each reload.\n";
                line(unit, "User", user);
            }
        }
        *unit += "UMask=0077\n";
        if let Some(path) = self.settings.path("transcript")? {
            let roots = [
                ("StateDirectory", "/var/lib"),
                ("LogsDirectory", "/var/log"),
                ("CacheDirectory", "/var/cache"),
            ];
            let Some((setting, name)) = folder(path, &roots) else {
                let what = "the service can write below /var/lib/plyd or /var/log/plyd; give a file there";
                return Err(usage("transcript", what));
            };
            line(unit, setting, &word(name)?);
            line(unit, &format!("{setting}Mode"), "0700");
        }
        let path = self.settings.path("unix")?;
        if let Some(path) = path.filter(|_| !self.is_activated) {
            let Some((setting, name)) = folder(path, &[("RuntimeDirectory", "/run")]) else {
                let what = "the service can make a socket below /run/plyd; give a path there, or let systemd make it \
                    (--activated)";
                return Err(usage("unix", what));
            };
            *unit += "# Only root and this user reach the socket; a socket unit (`plyd systemd --socket`) lets others in.\n";
            line(unit, setting, &word(name)?);
        }
        Ok(())
    }

    /// What it may speak to whom, and what for.
    fn network(&self, unit: &mut String) -> Result<(), Failure> {
        let addresses: Vec<&String> = self.settings.addresses().collect();
        if addresses.is_empty() && self.settings.text("unix").is_none() {
            return Err(nothing_served());
        }
        let of = |text: &str| text.parse::<SocketAddr>().ok();
        let port =
            |text: &str| text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).unwrap_or(0);
        let is_low = addresses.iter().any(|text| (1..1024).contains(&port(text)));
        if addresses.is_empty() {
            *unit += "RestrictAddressFamilies=AF_UNIX\nPrivateNetwork=yes\n";
        } else {
            *unit += "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n";
            if addresses.iter().all(|text| of(text).is_some_and(|at| at.ip().is_loopback())) {
                *unit += "IPAddressDeny=any\nIPAddressAllow=localhost\n";
            }
        }
        *unit += if is_low && !self.is_activated {
            "# For a port below 1024.\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n"
        } else {
            "AmbientCapabilities=\nCapabilityBoundingSet=\nPrivateUsers=yes\n"
        };
        Ok(())
    }
}

fn line(unit: &mut String, name: &str, value: &str) {
    writeln!(unit, "{name}={value}").expect("a text takes all");
}

/// What no game and no client needs. `setpriority` lets search threads step back behind the others.
const CONFINED: &str = "\
NoNewPrivileges=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateMounts=yes
ProtectSystem=strict
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=setpriority
SystemCallErrorNumber=EPERM
";

/// The unit with which systemd holds the sockets.
fn socket_unit(settings: &Settings<'_>) -> Result<String, Failure> {
    let mut unit = String::from(
        "# Printed by `plyd systemd --socket`; to be /etc/systemd/system/plyd.socket, beside the service unit that\n\
         # `plyd systemd --activated` prints. Then:\n\
         #   systemctl daemon-reload && systemctl enable --now plyd.socket plyd.service\n\
         [Unit]\n\
         Description=The sockets of plyd, which stay while it restarts\n\
         \n\
         [Socket]\n",
    );
    let unix = settings.path("unix")?;
    for (name, text) in
        ["tcp", "ws"].iter().flat_map(|name| settings.values(name).iter().map(move |at| (name, at)))
    {
        let Some(address) = text.parse::<SocketAddr>().ok().filter(|address| address.port() > 0) else {
            return Err(usage(name, &format!("give {text} with a number for the host, and a port above 0")));
        };
        line(&mut unit, "ListenStream", &address.to_string());
    }
    if let Some(path) = unix {
        line(&mut unit, "ListenStream", &whole(&path.to_string_lossy())?);
        unit += "# Who may connect, and is an operator then; SocketUser= and SocketGroup= name others than root.\nSocketMode=0660\n";
    }
    let kinds: Vec<&str> =
        ["tcp", "ws", "unix"].into_iter().filter(|name| !settings.values(name).is_empty()).collect();
    match kinds[..] {
        [] => return Err(Failure::Usage("there is no socket: give `tcp`, `ws` or `unix`".into())),
        [kind] => line(&mut unit, "FileDescriptorName", kind),
        // The daemon knows them by their addresses, which its settings have as well.
        _ => {}
    }
    unit += "\n[Install]\nWantedBy=sockets.target\n";
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_a_unit_as_they_are_meant() {
        for (text, written) in [
            ("/usr/bin/plyd", "/usr/bin/plyd"),
            ("a b", "\"a b\""),
            ("", "\"\""),
            ("100%", "100%%"),
            ("$HOME", "$$HOME"),
            ("say \"x\"", "\"say \\\"x\\\"\""),
            ("back\\slash", "\"back\\\\slash\""),
            ("a;b", "\"a;b\""),
        ] {
            assert_eq!(word(text).unwrap(), written, "{text}");
        }
        for text in ["two\nlines", "\u{1b}[0m", "\u{fffd}"] {
            let said = word(text).unwrap_err().to_string();
            assert!(said.contains("cannot stand in a unit") && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn a_folder_is_one_that_systemd_can_make() {
        let roots = [("StateDirectory", "/var/lib"), ("LogsDirectory", "/var/log")];
        for (path, found) in [
            ("/var/lib/plyd/transcript", Some(("StateDirectory", "plyd"))),
            ("/var/log/games/a/b", Some(("LogsDirectory", "games/a"))),
            ("/var/lib/transcript", None),
            ("/var/lib", None),
            ("/var/lib/plyd/../../etc/passwd", None),
            ("/srv/plyd/transcript", None),
        ] {
            assert_eq!(folder(Path::new(path), &roots), found, "{path}");
        }
    }
}
