//! The pages and the API of a ladder, over HTTP: standings, bots, games and their boards, live; and what
//! owners do with their bots.
//!
//! It knows how games are kept ([`store`](crate::store)) and what is played now ([`live`](crate::live)), and
//! neither pairs nor plays. Whoever looks keeps no game waiting: pages read by a store of their own, tables
//! and boards are made on a thread that gives way, and requests, spectators and questions to the database are
//! bounded. What a bot wrote is bounded, freed of what hides or turns text, and escaped.
//!
//! [`router`] makes a service of it, which `axum::serve` or any other server of `tower`'s services serves. It
//! takes `ConnectInfo<SocketAddr>` from a request for whose it is.

mod api;
mod boards;
mod extract;
mod files;
mod guard;
mod html;
mod live;
mod model;
mod owner;
mod refusal;
mod session;
mod settings;
mod show;
mod site;
mod worker;

use std::io;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Extension, Router, middleware};
use plyd_core::engine::Entry;

pub use files::{File, Files};
pub use settings::{Limits, Settings};

use crate::live::Live;
use crate::store::StoreHandle;
use live::Hub;
use refusal::{Kind, Refusal};
use site::Site;

/// What the pages are made of.
pub struct Parts {
    /// The ladder's own store, by which owners change what is theirs.
    pub handle: StoreHandle,
    /// Another store on the same database, for all that is shown.
    pub reader: StoreHandle,
    /// What is played now. All that is watched ends when it is closed.
    pub live: Live,
    /// The games that can be drawn.
    pub games: &'static [&'static Entry],
    /// The files of the boards: those of `plyd gui`.
    pub boards: Files,
    /// What the ladder says of itself, and how much it gives.
    pub settings: Settings,
}

/// The pages and the API. A task passes on what is played, until `live` is closed.
///
/// # Errors
/// The system has no thread more.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn router(parts: Parts) -> io::Result<Router> {
    let Parts { handle, reader, live, games, boards, settings } = parts;
    let body = settings.limits.body;
    let site = Arc::new(Site::new(settings, games, handle, reader)?);
    let hub = Hub::new(live);
    tokio::spawn(live::pass_on(Arc::clone(&site), Arc::clone(&hub)));
    let files = Router::new().route("/{*path}", get(files::boards)).with_state(boards);
    let router = html::router()
        .merge(owner::router())
        .nest(api::API, api::router())
        .route("/static/{name}", get(files::own))
        .nest_service("/gui", files)
        .fallback(async || Refusal::not_found("page"))
        .method_not_allowed_fallback(async || {
            Refusal::new(Kind::WrongMethod, "this address answers to other methods")
        })
        .layer(DefaultBodyLimit::max(body))
        .layer(Extension(hub))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guard::guard))
        .with_state(site);
    Ok(router)
}
