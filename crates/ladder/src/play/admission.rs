//! Which bots may come in: what the lobby asks whoever knows the tokens.

use std::future::Future;
use std::net::IpAddr;

use plyd_protocol::{ErrorCode, Offer};

use crate::BotId;

/// Says which bots may come in.
pub trait Authenticator: Send + Sync + 'static {
    /// Whose the token of an offer is; `by` is the address that dials, if it has one.
    fn admit(
        &self,
        offer: &Offer,
        by: Option<IpAddr>,
    ) -> impl Future<Output = Result<Admitted, Refusal>> + Send;
}

/// A bot that may come in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Admitted {
    /// Which one.
    pub bot: BotId,
    /// Its name on the ladder.
    pub name: String,
    /// The most games at once that the ladder allows it.
    pub most_games: u32,
}

/// Why a bot may not come in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Such as `auth_failed` for a wrong token, and `forbidden` for a bot that is disabled.
    pub code: ErrorCode,
    /// Why, for people.
    pub message: String,
}
