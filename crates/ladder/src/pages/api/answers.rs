//! The API's handlers.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::pages::boards::{self, Boards};
use crate::pages::extract::{Number, UrlQuery};
use crate::pages::live::{Hub, watch_all, watch_game};
use crate::pages::model::{self, Bots, Conversation, Crosstable, Curve, Game, Games, Opponents};
use crate::pages::model::{Bot, Pool, Pools, Seasons, Standings};
use crate::pages::refusal::Refusal;
use crate::pages::show;
use crate::pages::site::Site;
use crate::rates::Peer;
use crate::{BotId, GameId, PoolId, SeasonId};

/// An answer in JSON.
pub(super) struct Json<T>(T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json(written(&self.0))
    }
}

fn written(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("answers have texts for keys, and finite numbers")
}

pub(super) fn json(body: impl Into<Bytes>) -> Response {
    let mut response = body.into().into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

type Answer<T> = Result<Json<T>, Refusal>;
type Shared = State<Arc<Site>>;
type Live = Extension<Arc<Hub>>;

/// How much of a list is answered.
pub(super) const USUAL: usize = 50;
/// The most of a list that is answered at once.
pub(super) const MOST: usize = 200;
/// The most points of a curve.
pub(super) const POINTS: usize = 1000;

/// A limit within its bounds.
fn limited(limit: Option<usize>, usual: usize, most: usize) -> Result<usize, Refusal> {
    match limit {
        None => Ok(usual),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(_) => Err(Refusal::bad_request(format!("`limit` is from 1 to {most}"))),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfSeason {
    season: Option<SeasonId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    after: Option<BotId>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfPool {
    pool: PoolId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CurveOf {
    pool: PoolId,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GamesOf {
    before: Option<GameId>,
    forfeits: Option<bool>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Before {
    pool: Option<PoolId>,
    before: Option<GameId>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct From {
    from: Option<usize>,
    limit: Option<usize>,
}

pub(super) async fn pools(State(site): Shared) -> Answer<Pools> {
    site.read(model::pools).await.map(Json)
}

pub(super) async fn pool(State(site): Shared, Number(id): Number) -> Answer<Pool> {
    let pool = site.read(move |store| model::pool(store, PoolId(id))).await?;
    pool.map(Json).ok_or_else(|| Refusal::not_found("pool"))
}

pub(super) async fn standings(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(query): UrlQuery<OfSeason>,
) -> Answer<Standings> {
    Ok(Json(show::tables(&site, PoolId(id), query.season).await?.standings.clone()))
}

pub(super) async fn crosstable(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(query): UrlQuery<OfSeason>,
) -> Answer<Crosstable> {
    Ok(Json(show::tables(&site, PoolId(id), query.season).await?.crosstable.clone()))
}

pub(super) async fn seasons(State(site): Shared) -> Answer<Seasons> {
    site.read(model::seasons).await.map(Json)
}

pub(super) async fn bots(State(site): Shared, UrlQuery(query): UrlQuery<After>) -> Answer<Bots> {
    let most = limited(query.limit, USUAL, MOST)?;
    site.read(move |store| model::bots(store, query.after, most)).await.map(Json)
}

pub(super) async fn bot(State(site): Shared, Number(id): Number) -> Answer<Bot> {
    let bot = site.read(move |store| model::bot(store, BotId(id))).await?;
    bot.map(Json).ok_or_else(|| Refusal::not_found("bot"))
}

/// Refuses bots and pools that are not there.
async fn expect(site: &Site, bot: BotId, pool: Option<PoolId>) -> Result<(), Refusal> {
    let found = site.read(move |store| {
        let bot = model::bot(store, bot)?.is_some();
        Ok((bot, pool.map(|pool| model::pool(store, pool)).transpose()?))
    });
    match found.await? {
        (false, _) => Err(Refusal::not_found("bot")),
        (true, Some(None)) => Err(Refusal::not_found("pool")),
        (true, _) => Ok(()),
    }
}

pub(super) async fn curve(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(query): UrlQuery<CurveOf>,
) -> Answer<Curve> {
    let most = limited(query.limit, POINTS, POINTS)?;
    expect(&site, BotId(id), Some(query.pool)).await?;
    site.read(move |store| model::curve(store, BotId(id), query.pool, most as u64)).await.map(Json)
}

pub(super) async fn opponents(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(query): UrlQuery<OfPool>,
) -> Answer<Opponents> {
    expect(&site, BotId(id), None).await?;
    Ok(Json(show::tables(&site, query.pool, None).await?.tally.opponents(BotId(id))))
}

pub(super) async fn games_of(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(query): UrlQuery<GamesOf>,
) -> Answer<Games> {
    let most = limited(query.limit, USUAL, MOST)?;
    expect(&site, BotId(id), None).await?;
    let forfeits = query.forfeits.unwrap_or_default();
    show::games_of(&site, BotId(id), query.before, forfeits, most).await.map(Json)
}

pub(super) async fn games(State(site): Shared, UrlQuery(query): UrlQuery<Before>) -> Answer<Games> {
    let most = limited(query.limit, USUAL, MOST)?;
    show::games(&site, query.pool, query.before, most).await.map(Json)
}

pub(super) async fn playing(State(site): Shared, Extension(hub): Live) -> Result<Response, Refusal> {
    let list = site.playing(async {
        let playing = show::playing(&site, &hub, None, USUAL).await?;
        Ok(written(&playing).into())
    });
    list.await.map(json)
}

pub(super) async fn game(State(site): Shared, Extension(hub): Live, Number(id): Number) -> Answer<Game> {
    show::game(&site, &hub, GameId(id)).await.map(Json)
}

pub(super) async fn record(State(site): Shared, Number(id): Number) -> Result<Response, Refusal> {
    let record = site.read(move |store| store.record(GameId(id))).await?;
    let record = record.ok_or_else(|| Refusal::not_found("game, or it is not over"))?;
    Ok(Json(record).into_response())
}

pub(super) async fn conversation(State(site): Shared, Number(id): Number) -> Answer<Conversation> {
    let found = site.read(move |store| {
        store.game(GameId(id))?;
        model::conversation(store, GameId(id))
    });
    found.await.map(Json).map_err(|refusal| refusal.or_not_found("game"))
}

pub(super) async fn boards(
    State(site): Shared,
    Extension(hub): Live,
    Number(id): Number,
    UrlQuery(query): UrlQuery<From>,
) -> Answer<Boards> {
    let most = limited(query.limit, boards::MOST, boards::MOST)?;
    show::boards(&site, &hub, GameId(id), query.from.unwrap_or_default(), most).await.map(Json)
}

pub(super) async fn live_game(
    State(site): Shared,
    Extension(hub): Live,
    peer: Peer,
    Number(id): Number,
) -> Result<Response, Refusal> {
    watch_game(site, hub, peer, GameId(id)).await
}

pub(super) async fn live(State(site): Shared, Extension(hub): Live, peer: Peer) -> Result<Response, Refusal> {
    watch_all(site, hub, peer).await
}
