//! What the daemon is asked, and how long it may take.

use std::sync::Arc;
use std::time::Duration;

use plyd_core::search::clock::now_ns;
use plyd_daemon::{AskError, Connection, Daemon};
use plyd_protocol::ErrorCode;
use serde_json::{Value, json};

use crate::error::{ToolError, internal};

/// A connection to the daemon for the length of a call.
pub(crate) struct Conversation(Arc<Connection>);

/// Ends a conversation, with what is searched in it.
struct Hangup(Arc<Connection>);

impl Drop for Hangup {
    fn drop(&mut self) {
        self.0.send(br#"{"id":"end","cmd":"quit","mode":"stop"}"#, now_ns());
    }
}

/// Speaks with the daemon on a thread of its own. Whoever gives the future up ends the conversation; so does
/// the end of the time.
///
/// # Errors
/// What went wrong in the conversation, or that it took too long.
pub(crate) async fn converse<T: Send + 'static>(
    daemon: &Daemon,
    time: Duration,
    talk: impl FnOnce(&Conversation) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let connection = Arc::new(daemon.connect());
    let _hangup = Hangup(Arc::clone(&connection));
    let talk = tokio::task::spawn_blocking(move || talk(&Conversation(connection)));
    match tokio::time::timeout(time, talk).await {
        Ok(Ok(said)) => said,
        Ok(Err(error)) => Err(internal(format!("the call broke: {error}"))),
        Err(_) => Err(ToolError::new(ErrorCode::TimedOut, format!("the call took more than {time:?}"))),
    }
}

impl Conversation {
    /// Sends a request, to which `id` is added, and waits for its last answer.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub(crate) fn ask(&self, mut request: Value) -> Result<Value, ToolError> {
        request["id"] = json!("1");
        self.0.ask(request.to_string().as_bytes(), now_ns(), |_| {}).map_err(|error| match error {
            AskError::Refused(refusal) => ToolError::from(*refusal),
            AskError::Ended => ToolError::new(ErrorCode::ShuttingDown, error.to_string()),
            AskError::Unread(_) => internal(error.to_string()),
        })
    }
}
