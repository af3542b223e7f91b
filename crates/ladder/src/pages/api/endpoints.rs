//! All addresses of the API: the routes and the document are made from one list.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{MethodRouter, get};

use super::answers::{self, MOST, POINTS, USUAL};
use super::schemas::Type;
use crate::pages::boards::{self, Boards};
use crate::pages::live::{Played, Snapshot, Turning};
use crate::pages::model::{Bot, Bots, Conversation, Crosstable, Curve, Game, Games, Opponents};
use crate::pages::model::{Pool, Pools, Seasons, Standings};
use crate::pages::refusal::Refusal;
use crate::pages::site::Site;

/// Where the API is.
pub(in crate::pages) const API: &str = "/api/v1";

/// An address of the API. All are asked with GET.
pub(super) struct Endpoint {
    /// Below [`API`]. `{id}` stands for a number.
    pub(super) path: &'static str,
    /// Its name in the document.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// What may stand behind the question mark.
    pub(super) query: Vec<QueryParameter>,
    pub(super) answer: Answer,
    route: MethodRouter<Arc<Site>>,
}

/// A parameter behind the question mark.
pub(super) struct QueryParameter {
    pub(super) name: &'static str,
    pub(super) about: String,
    pub(super) required: bool,
    pub(super) takes: Takes,
}

/// What a parameter is.
pub(super) enum Takes {
    Bool,
    /// A number from the first to the second one.
    Integer(u64, Option<usize>),
}

/// What an address answers.
pub(super) enum Answer {
    /// JSON.
    Json(Type),
    /// Server-sent events, each with its name.
    Events(Vec<(&'static str, Type)>),
}

fn query(name: &'static str, about: &str, takes: Takes) -> QueryParameter {
    QueryParameter { name, about: about.into(), required: false, takes }
}

fn limit(usual: usize, most: usize) -> QueryParameter {
    query("limit", &format!("How many at most; {usual} if absent."), Takes::Integer(1, Some(most)))
}

fn season() -> QueryParameter {
    query("season", "The season whose games count; all games if absent.", Takes::Integer(1, None))
}

fn of_pool() -> QueryParameter {
    QueryParameter { required: true, ..query("pool", "The pool's number.", Takes::Integer(1, None)) }
}

/// All addresses.
pub(super) fn endpoints() -> Vec<Endpoint> {
    [of_pools(), of_bots(), of_games(), of_events()].into_iter().flatten().collect()
}

/// One whose answer is a document.
fn json(
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    query: Vec<QueryParameter>,
    answer: Type,
    route: MethodRouter<Arc<Site>>,
) -> Endpoint {
    Endpoint { path, name, summary, query, answer: Answer::Json(answer), route }
}

fn before() -> QueryParameter {
    query("before", "Games before this one: `next` of the last answer.", Takes::Integer(1, None))
}

fn of_pools() -> Vec<Endpoint> {
    vec![
        json("/pools", "pools", "All pools.", vec![], Type::of::<Pools>(), get(answers::pools)),
        json("/pools/{id}", "pool", "A pool.", vec![], Type::of::<Pool>(), get(answers::pool)),
        json(
            "/pools/{id}/standings",
            "standings",
            "The table of a pool: ratings by all games, with 95 % intervals.",
            vec![season()],
            Type::of::<Standings>(),
            get(answers::standings),
        ),
        json(
            "/pools/{id}/crosstable",
            "crosstable",
            "The points of each bot against each other bot.",
            vec![season()],
            Type::of::<Crosstable>(),
            get(answers::crosstable),
        ),
        json("/seasons", "seasons", "All seasons.", vec![], Type::of::<Seasons>(), get(answers::seasons)),
    ]
}

fn of_bots() -> Vec<Endpoint> {
    vec![
        json(
            "/bots",
            "bots",
            "The bots, by their numbers.",
            vec![
                query("after", "Bots after this one: `next` of the last answer.", Takes::Integer(0, None)),
                limit(USUAL, MOST),
            ],
            Type::of::<Bots>(),
            get(answers::bots),
        ),
        json("/bots/{id}", "bot", "A bot.", vec![], Type::of::<Bot>(), get(answers::bot)),
        json(
            "/bots/{id}/curve",
            "curve",
            "The history of a bot's rating in a pool.",
            vec![of_pool(), limit(POINTS, POINTS)],
            Type::of::<Curve>(),
            get(answers::curve),
        ),
        json(
            "/bots/{id}/opponents",
            "opponents",
            "A bot's results in a pool against each opponent.",
            vec![of_pool()],
            Type::of::<Opponents>(),
            get(answers::opponents),
        ),
        json(
            "/bots/{id}/games",
            "botGames",
            "The games of a bot, the latest first.",
            vec![
                before(),
                query("forfeits", "Whether to list only the games that the bot forfeited.", Takes::Bool),
                limit(USUAL, MOST),
            ],
            Type::of::<Games>(),
            get(answers::games_of),
        ),
    ]
}

fn of_games() -> Vec<Endpoint> {
    vec![
        json(
            "/games",
            "games",
            "The games that have begun, the latest first.",
            vec![
                query("pool", "Only games of this pool.", Takes::Integer(1, None)),
                before(),
                limit(USUAL, MOST),
            ],
            Type::of::<Games>(),
            get(answers::games),
        ),
        json(
            "/playing",
            "playing",
            "The games that are being played, the latest first, 50 at most; the list is a second old at most.",
            vec![],
            Type::of::<Games>(),
            get(answers::playing),
        ),
        json(
            "/games/{id}",
            "game",
            "A game with its moves, over or not.",
            vec![],
            Type::of::<Game>(),
            get(answers::game),
        ),
        json(
            "/games/{id}/record",
            "record",
            "The record of a game that is over, as `plyd show` and `plyd gui` read it.",
            vec![],
            Type::record(),
            get(answers::record),
        ),
        json(
            "/games/{id}/conversation",
            "conversation",
            "What the ladder and the bot that forfeited a game said before.",
            vec![],
            Type::of::<Conversation>(),
            get(answers::conversation),
        ),
        json(
            "/games/{id}/boards",
            "boards",
            "The boards of a game, one after each ply.",
            vec![
                query("from", "The ply of the first board; 0 if absent.", Takes::Integer(0, None)),
                limit(boards::MOST, boards::MOST),
            ],
            Type::of::<Boards>(),
            get(answers::boards),
        ),
    ]
}

fn of_events() -> Vec<Endpoint> {
    vec![
        Endpoint {
            path: "/games/{id}/live",
            name: "liveGame",
            summary: "A game as it is played. The first event is `game`, and it comes again if some were \
                      missed; the last one is `over`. A game that is over has none (204).",
            query: vec![],
            answer: Answer::Events(vec![
                ("game", Type::of::<Snapshot>()),
                ("move", Type::of::<Played>()),
                ("over", Type::of::<Turning>()),
            ]),
            route: get(answers::live_game),
        },
        Endpoint {
            path: "/live",
            name: "live",
            summary: "All games as they are played, from now on and without boards. Whoever reads too \
                      slowly misses events.",
            query: vec![],
            answer: Answer::Events(vec![
                ("began", Type::of::<Turning>()),
                ("move", Type::of::<Played>()),
                ("over", Type::of::<Turning>()),
            ]),
            route: get(answers::live),
        },
    ]
}

impl Endpoint {
    /// Adds its route.
    pub(super) fn add_to(self, router: Router<Arc<Site>>) -> Router<Arc<Site>> {
        let takes_none = self.query.is_empty();
        let route = if takes_none { self.route.route_layer(from_fn(without_parameters)) } else { self.route };
        router.route(self.path, route)
    }
}

/// Refuses parameters of an address that takes none, as the others refuse those that they do not know.
async fn without_parameters(request: Request, next: Next) -> Result<Response, Refusal> {
    match request.uri().query() {
        None | Some("") => Ok(next.run(request).await),
        Some(_) => Err(Refusal::bad_request("this address takes no parameters")),
    }
}
