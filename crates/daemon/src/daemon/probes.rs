//! What monitors of the daemon may ask: its numbers, whether it lives, and whether it takes work.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Daemon;
use super::listen::LISTENING;
use super::listen::{is_local, keep_accepting, listen_advice, take_bursts};
use crate::serve_error::ServeError;
use crate::transport::probes;

impl Daemon {
    /// Serves metrics in Prometheus' text format at `/metrics`, and probes at `/healthz` and `/readyz`, on an
    /// address (`HOST:PORT`) of their own, from tasks of the current runtime; returns the address bound. It
    /// is served to the end, also while the daemon shuts down.
    ///
    /// ```
    /// use plyd_core::engine::Entry;
    /// use plyd_daemon::{Config, Daemon};
    ///
    /// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// let address = daemon.serve_metrics("127.0.0.1:0").await?;
    /// println!("curl http://{address}/metrics");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The address cannot be listened on, or must not be: other machines reach it, and no token is asked for
    /// there.
    pub async fn serve_metrics(&self, at: &str) -> Result<SocketAddr, ServeError> {
        let (listener, address) = self.listen_for_probes(at).await?;
        self.accept_probes(address, listener);
        Ok(address)
    }

    /// Listens for monitors, unless other machines can reach the address.
    pub(super) async fn listen_for_probes(&self, at: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
        let failed = |error| ServeError::Listen { at: at.to_owned(), error };
        let listener = TcpListener::bind(at).await.map_err(|error| failed(listen_advice(error)))?;
        take_bursts(&listener).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        if !is_local(address) && !self.is_insecure {
            return Err(ServeError::ExposedMetrics { at: at.to_owned() });
        }
        Ok((listener, address))
    }

    pub(super) fn accept_probes(&self, address: SocketAddr, listener: TcpListener) {
        tracing::info!(target: LISTENING, "metrics at http://{address}/metrics");
        // The port is served until the daemon ends, and not only until it stops listening for clients.
        let (end, ended) = watch::channel(false);
        let mut closing = self.closing.subscribe();
        tokio::spawn(async move {
            while closing.changed().await.is_ok() {}
            drop(end);
        });
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(address.to_string(), ended, move || {
            probes::accept(Arc::clone(&shared), Arc::clone(&listener), address)
        });
    }
}
