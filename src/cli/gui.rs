//! `plyd gui`: a daemon with a page for people, on this machine.

use std::env;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::thread;

use crate::daemon::{self, Config};

use super::failure::Failure;
use super::registry;
use super::serve::Means;
use super::verbosity::Verbosity;

/// The port when none is given; beside those that the examples of `plyd serve` use.
const PORT: u16 = 7119;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd gui                          opens the page, where there is a display; Ctrl-C ends it
  plyd gui --no-open --port 8000    prints the address and opens nothing
  plyd gui --host 0.0.0.0 --remote  for everybody who can reach this machine

From another machine, without --remote: ssh -L 7119:127.0.0.1:7119 HOST, and open http://127.0.0.1:7119/ here.")]
pub(super) struct Args {
    /// The port; 7119 when absent, or a free one if that is taken
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// The address to listen on
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Allow a --host that other machines reach: they all may use the engine, without a password
    #[arg(long)]
    remote: bool,
    /// Open the page in a browser even if there seems to be no display
    #[arg(long, conflicts_with = "no_open")]
    open: bool,
    /// Print the address and open nothing
    #[arg(long)]
    no_open: bool,
    #[command(flatten)]
    means: Means,
}

pub(super) fn run(args: Args, verbosity: &Verbosity, out: &mut impl Write) -> Result<(), Failure> {
    verbosity.set(&args.means.verbosity().into());
    if !args.host.is_loopback() && !args.remote {
        return Err(Failure::Usage(format!(
            "--host {}: other machines would reach it; add --remote to allow that, or leave --host out",
            args.host
        )));
    }
    let listener = listen(args.host, args.port, PORT, "--port")?;
    let address = url(listener.local_addr()?);
    let opens = args.open || (has_display() && !args.no_open);
    write!(out, "{}", greeting(&address, opens))?;
    if args.port.is_none() && listener.local_addr()?.port() != PORT {
        // A browser keeps games for each port.
        writeln!(
            out,
            "Port {PORT} is taken, perhaps by another `plyd gui`. Games that your browser saved there are not shown \
             here, and games saved here will not be shown there."
        )?;
    }
    out.flush()?;
    // The socket listens already: a browser that comes before the daemon runs waits for a moment.
    if opens {
        open(address);
    }
    let config = Config { page: Some(listener), ..args.means.config(true) };
    daemon::run(config, registry::games()).map_err(Failure::from)
}

/// Listens on the port, or on the usual one, or on a free one if that is taken. Another port is given by that
/// `option`.
pub(super) fn listen(
    host: IpAddr,
    port: Option<u16>,
    usual: u16,
    option: &str,
) -> Result<TcpListener, Failure> {
    let bound = TcpListener::bind((host, port.unwrap_or(usual)));
    let bound = match (bound, port) {
        (Err(error), None) if error.kind() == io::ErrorKind::AddrInUse => TcpListener::bind((host, 0)),
        (bound, _) => bound,
    };
    bound.map_err(|error| {
        let at = SocketAddr::new(host, port.unwrap_or(usual));
        Failure::Failed(format!("cannot listen on {at}: {error}; {option} gives another port"))
    })
}

/// The page's address for a browser on this machine.
pub(super) fn url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}/")
}

/// What is printed at the start. The first line is the address alone, which programs read.
fn greeting(address: &str, opens: bool) -> String {
    let open = if opens { "If no browser opens the page, open" } else { "Open" };
    format!("{address}\n{open} this address in a browser of this machine. Ctrl-C ends the server.\n")
}

fn has_display() -> bool {
    cfg!(any(target_os = "macos", windows))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|it| !it.is_empty()))
}

/// Opens an address in the user's browser, from a thread, since that may take long and nobody waits for it.
#[allow(clippy::disallowed_methods, reason = "the browser is the user's and stays")]
fn open(address: String) {
    let (opener, arguments): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let work = move || {
        let mut command = Command::new(opener);
        command
            .args(arguments)
            .arg(&address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => tracing::warn!(%status, "{opener} did not open {address}"),
            Err(error) => tracing::warn!(%error, "cannot start {opener}: open {address} in a browser"),
        }
    };
    if let Err(error) = thread::Builder::new().name("browser".to_owned()).spawn(work) {
        tracing::warn!(%error, "cannot open a browser");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_this_machine() {
        for (bound, expected) in [
            ("127.0.0.1:7119", "http://127.0.0.1:7119/"),
            ("0.0.0.0:80", "http://127.0.0.1:80/"),
            ("[::]:80", "http://[::1]:80/"),
            ("[::1]:7119", "http://[::1]:7119/"),
            ("192.168.1.2:7119", "http://192.168.1.2:7119/"),
        ] {
            assert_eq!(url(bound.parse().unwrap()), expected);
        }
    }

    #[test]
    fn the_first_line_is_the_address_and_the_second_says_what_to_do() {
        for (opens, begins) in [(true, "If no browser opens the page, open this"), (false, "Open this")] {
            let said = greeting("http://127.0.0.1:7119/", opens);
            let lines: Vec<_> = said.lines().collect();
            assert!(
                matches!(lines[..], ["http://127.0.0.1:7119/", what] if what.starts_with(begins)
                    && what.ends_with("Ctrl-C ends the server.")),
                "{said}"
            );
        }
    }

    #[test]
    fn a_port_that_is_taken_is_replaced_unless_it_was_asked_for() {
        let host = Ipv4Addr::LOCALHOST.into();
        let taken = TcpListener::bind((host, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let failure = listen(host, Some(port), PORT, "--port").unwrap_err().to_string();
        assert!(failure.contains(&port.to_string()) && failure.contains("--port"), "{failure}");
        // Whoever else has the default port, both get one.
        let [first, second] = [(); 2].map(|()| listen(host, None, PORT, "--port").unwrap());
        assert_ne!(first.local_addr().unwrap(), second.local_addr().unwrap());
    }
}
