//! The pages' handlers.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Extension, State};
use axum::response::Response;
use plyd_protocol::Player;
use serde::Deserialize;

use super::graph::{self, RatingCurve, Scores};
use super::lists::{self, CrossRow, GameRow, OpponentRow, StandingRow};
use super::page;
use super::table::{self, Table};
use super::words::{self, When};
use crate::pages::api;
use crate::pages::extract::{Number, UrlQuery};
use crate::pages::live::Hub;
use crate::pages::model::{
    self, Contradiction, Conversation, GameLine, GameState, Pool, Rating, Season, Speech,
};
use crate::pages::refusal::Refusal;
use crate::pages::session::{Visitor, private};
use crate::pages::show;
use crate::pages::site::Site;
use crate::terms::PoolClock;
use crate::{BotId, GameId, PoolId, SeasonId};

/// How many rows of each pool the first page has, and how many games a list.
const FIRST_ROWS: usize = 10;
const GAMES: usize = 50;
const SOME_GAMES: usize = 20;
const FEW_GAMES: usize = 10;
/// The most points of a curve that a page draws, and opponents that it lists.
const POINTS: u64 = 500;
const OPPONENTS: usize = 200;

type Shared = State<Arc<Site>>;
type Answer = Result<Response, Refusal>;

/// A pool on the first page.
struct PoolTop {
    id: PoolId,
    name: String,
    terms: String,
    caption: String,
    /// What the table is called beside those of other pools.
    label: String,
    rows: Vec<StandingRow>,
}

#[derive(Template)]
#[template(path = "index.html")]
struct Index<'a> {
    ladder: &'a str,
    title: &'a str,
    season: Option<String>,
    playing: String,
    pools: Vec<PoolTop>,
}

/// On what terms a pool is played, in a line.
fn terms(pool: &Pool) -> String {
    let rules = words::settings(&pool.rules);
    let rules = if rules.is_empty() { rules } else { format!(" ({rules})") };
    let closed = if pool.closed_ms.is_some() { ". Closed: no further game begins" } else { "" };
    format!("{}{rules}, {}{closed}", pool.game, words::clock(pool.clock))
}

pub(super) async fn index(State(site): Shared, Extension(hub): Extension<Arc<Hub>>) -> Answer {
    let found = site.read(|store| Ok((model::pools(store)?.pools, model::seasons(store)?.seasons)));
    let (pools, seasons) = found.await?;
    let season = seasons.last();
    let mut tops = Vec::new();
    for pool in pools {
        let tables = show::tables(&site, pool.id, None).await?;
        let (shown, all) = (tables.standings.rows.len().min(FIRST_ROWS), tables.standings.rows.len());
        let caption = if shown < all {
            format!("{shown} of {all} bots; house bots are left out first")
        } else {
            "All bots".into()
        };
        let caption = match lists::has_anchor(&tables.standings) {
            true => caption,
            false => format!("{caption}. There is no anchor: ratings are distances from their mean"),
        };
        tops.push(PoolTop {
            terms: terms(&pool),
            caption,
            label: format!("Standings of {}", pool.name),
            rows: lists::some_standings(&tables.standings, FIRST_ROWS),
            id: pool.id,
            name: pool.name,
        });
    }
    let playing = match hub.games().len() {
        1 => "1 game is".into(),
        count => format!("{count} games are"),
    };
    page(&Index {
        ladder: &site.settings.name,
        title: "Standings",
        season: season.map(|season| season.name.clone()),
        playing,
        pools: tops,
    })
}

#[derive(Deserialize)]
pub(super) struct OfSeason {
    season: Option<SeasonId>,
}

#[derive(Template)]
#[template(path = "pool.html")]
struct PoolPage<'a> {
    ladder: &'a str,
    title: &'a str,
    id: PoolId,
    terms: String,
    season: Option<SeasonId>,
    seasons: Vec<Season>,
    rows: Vec<StandingRow>,
    has_anchor: bool,
    has_apart: bool,
    cross: Vec<CrossRow>,
    games: Vec<GameRow>,
}

impl PoolPage<'_> {
    /// Whether the page is of that season.
    fn is_of(&self, season: &SeasonId) -> bool {
        self.season == Some(*season)
    }
}

pub(super) async fn pool(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(OfSeason { season }): UrlQuery<OfSeason>,
) -> Answer {
    let id = PoolId(id);
    let found = site.read(move |store| Ok((model::pool(store, id)?, model::seasons(store)?.seasons)));
    let (found, seasons) = found.await?;
    let pool = found.ok_or_else(|| Refusal::not_found("pool"))?;
    let tables = show::tables(&site, id, season).await?;
    let games = show::games(&site, Some(id), None, FEW_GAMES).await?;
    let rows = lists::standings(&tables.standings);
    page(&PoolPage {
        ladder: &site.settings.name,
        title: &pool.name,
        id,
        terms: terms(&pool),
        season,
        seasons,
        has_anchor: lists::has_anchor(&tables.standings),
        has_apart: rows.iter().any(|row| row.apart),
        rows,
        cross: lists::crosstable(&tables.crosstable),
        games: lists::games(games),
    })
}

/// A bot in a pool.
struct InPool {
    id: PoolId,
    name: String,
    anchor: bool,
    encounters: u64,
    curve: Option<RatingCurve>,
    points: usize,
    first: Option<When>,
    last: Option<When>,
    opponents: Vec<OpponentRow>,
    /// Its row in the table by all games.
    standing: Option<StandingRow>,
}

#[derive(Template)]
#[template(path = "bot.html")]
struct BotPage<'a> {
    ladder: &'a str,
    title: &'a str,
    id: BotId,
    owner: Option<String>,
    house: Option<String>,
    made: When,
    disabled: Option<(When, String)>,
    versions: Vec<(String, When)>,
    pools: Vec<InPool>,
    forfeits: Vec<GameRow>,
    games: Vec<GameRow>,
    next: Option<GameId>,
}

#[derive(Deserialize)]
pub(super) struct Before {
    pool: Option<PoolId>,
    before: Option<GameId>,
}

pub(super) async fn bot(
    State(site): Shared,
    Number(id): Number,
    UrlQuery(Before { before, .. }): UrlQuery<Before>,
) -> Answer {
    let id = BotId(id);
    let found = site.read(move |store| {
        let Some(bot) = model::bot(store, id)? else { return Ok(None) };
        let mut curves = Vec::new();
        for rating in &bot.ratings {
            curves.push(model::curve(store, id, rating.pool, POINTS)?.points);
        }
        Ok(Some((bot, curves)))
    });
    let (bot, curves) = found.await?.ok_or_else(|| Refusal::not_found("bot"))?;
    let mut pools = Vec::new();
    for (rating, curve) in bot.ratings.iter().zip(curves) {
        let tables = show::tables(&site, rating.pool, None).await?;
        let rows = lists::standings(&tables.standings);
        let standing = rows.into_iter().find(|row| row.bot.id == id);
        pools.push((curve, tables.tally.opponents(id), standing));
    }
    let games = show::games_of(&site, id, before, false, SOME_GAMES).await?;
    let forfeits = show::games_of(&site, id, None, true, FEW_GAMES).await?;
    let in_pool = |(rating, (curve, mut opponents, standing)): (Rating, (Vec<_>, model::Opponents, _))| {
        opponents.opponents.truncate(OPPONENTS);
        InPool {
            id: rating.pool,
            name: rating.pool_name,
            anchor: rating.anchor,
            encounters: rating.encounters,
            points: curve.len(),
            first: curve.first().map(|point: &model::CurvePoint| words::when(point.at_ms)),
            last: curve.last().map(|point: &model::CurvePoint| words::when(point.at_ms)),
            curve: graph::rating(&curve).filter(|_| !rating.anchor),
            opponents: lists::opponents(opponents),
            standing,
        }
    };
    let house = bot.house.map(|house| {
        let options = words::settings(&house.options);
        format!("{options}, {} nodes a move, {}", house.nodes, house.version)
    });
    page(&BotPage {
        ladder: &site.settings.name,
        title: &bot.name,
        id,
        owner: bot.owner,
        house,
        made: words::when(bot.made_ms),
        disabled: bot.disabled.map(|disabled| (words::when(disabled.at_ms), disabled.why)),
        versions: bot.versions.into_iter().map(|one| (one.version, words::when(one.last_ms))).collect(),
        pools: bot.ratings.into_iter().zip(pools).map(in_pool).collect(),
        forfeits: lists::games(forfeits),
        next: games.next,
        games: lists::games(games),
    })
}

#[derive(Template)]
#[template(path = "games.html")]
struct GamesPage<'a> {
    ladder: &'a str,
    title: &'a str,
    /// Whether it is the first page, which has the games that are being played, too.
    is_first: bool,
    playing: Vec<GameRow>,
    games: Vec<GameRow>,
    pool: Option<PoolId>,
    next: Option<GameId>,
}

pub(super) async fn games(
    State(site): Shared,
    Extension(hub): Extension<Arc<Hub>>,
    UrlQuery(Before { pool, before }): UrlQuery<Before>,
) -> Answer {
    let mut games = show::games(&site, pool, before, GAMES).await?;
    let playing = show::playing(&site, &hub, pool, GAMES).await?;
    if before.is_none() {
        games.games.retain(|game| playing.games.iter().all(|other| other.id != game.id));
    }
    page(&GamesPage {
        ladder: &site.settings.name,
        title: "Games",
        is_first: before.is_none(),
        playing: lists::games(playing),
        next: games.next,
        games: lists::games(games),
        pool,
    })
}

/// A ply in the list of moves.
struct PlyRow {
    player: &'static str,
    mv: String,
    score: String,
    time: String,
    left: String,
}

#[derive(Template)]
#[template(path = "game.html")]
struct GamePage<'a> {
    ladder: &'a str,
    title: String,
    line: GameLine,
    is_playing: bool,
    is_over: bool,
    outcome: String,
    game: String,
    rules: String,
    pool: String,
    partner: GameId,
    begun: Option<When>,
    ended: Option<When>,
    versions: Vec<String>,
    /// What p1 and p2 were granted for the network in the whole game, if one of them was.
    granted: Option<[String; 2]>,
    moves: Vec<PlyRow>,
    /// Whether players have a clock for the whole game.
    has_clock: bool,
    ply: usize,
    back: usize,
    forward: usize,
    table: Option<Table>,
    graph: Option<Scores>,
    said: Vec<Speech>,
    /// The logs of the visitor's own bots, each with its bot's name.
    own: Vec<(String, Vec<Speech>)>,
    forfeit_message: Option<String>,
    contradictions: Vec<Contradiction>,
}

#[derive(Deserialize)]
pub(super) struct AtPly {
    ply: Option<usize>,
}

pub(super) async fn game(
    State(site): Shared,
    Extension(hub): Extension<Arc<Hub>>,
    Visitor(visitor): Visitor,
    Number(id): Number,
    UrlQuery(AtPly { ply }): UrlQuery<AtPly>,
) -> Answer {
    let id = GameId(id);
    let game = show::game(&site, &hub, id).await?;
    let plies = game.moves.len();
    let ply = ply.unwrap_or(plies).min(plies);
    // A game that never began has no board.
    let boards = match show::boards(&site, &hub, id, ply, 1).await {
        Ok(boards) => boards.boards,
        Err(refusal) if refusal.is_not_found() => Vec::new(),
        Err(refusal) => return Err(refusal),
    };
    let of_pool = game.line.pool;
    let is_forfeit = game.line.forfeit.is_some();
    let line = game.line.clone();
    let read = site.read(move |store| {
        let own = visitor.map(|owner| model::own_logs(store, &line, owner)).transpose()?;
        let said = if is_forfeit { model::conversation(store, id)? } else { Conversation::nothing(id) };
        Ok((model::pool(store, of_pool)?, said, own.unwrap_or_default()))
    });
    let (pool, said, own) = read.await?;
    let is_private = !own.is_empty();
    let has_clock = !matches!(pool.as_ref().map(|pool| pool.clock), Some(PoolClock::PerMove { .. }));
    let graph = graph::scores(&game.moves);
    let granted_us = [Player::P1, Player::P2].map(|player| {
        let own = game.moves.iter().filter(|ply| ply.player == Some(player));
        own.filter_map(|ply| ply.granted_us).fold(0, u64::saturating_add)
    });
    let row = |ply: model::Ply| PlyRow {
        player: match ply.player {
            Some(Player::P1) => "1",
            Some(Player::P2) => "2",
            None => "",
        },
        mv: ply.mv,
        score: ply.score.as_ref().map(words::score).unwrap_or_default(),
        time: ply.time_us.map(words::time).unwrap_or_default(),
        left: ply.left_us.map(words::time).unwrap_or_default(),
    };
    let answer = page(&GamePage {
        ladder: &site.settings.name,
        title: format!("Game {id}"),
        is_playing: matches!(game.line.state, GameState::Playing | GameState::Waiting),
        is_over: game.line.state == GameState::Over,
        outcome: lists::outcome(&game.line, game.ending.as_deref()),
        rules: words::settings(&game.rules),
        game: game.game,
        pool: pool.map(|pool| pool.name).unwrap_or_default(),
        partner: id.partner(),
        begun: game.line.begun_ms.map(words::when),
        ended: game.line.ended_ms.map(words::when),
        versions: game.versions.into_iter().flatten().collect(),
        granted: (granted_us != [0, 0]).then(|| granted_us.map(words::time)),
        has_clock,
        moves: game.moves.into_iter().map(row).collect(),
        ply,
        back: ply.saturating_sub(1),
        forward: (ply + 1).min(plies),
        table: boards.first().map(|at| table::table(&at.board)),
        graph,
        said: said.lines,
        own,
        forfeit_message: game.forfeit_message,
        contradictions: game.contradictions,
        line: game.line,
    })?;
    Ok(if is_private { private(answer) } else { answer })
}

#[derive(Template)]
#[template(path = "api.html")]
struct ApiPage<'a> {
    ladder: &'a str,
    title: &'a str,
    addresses: Vec<(&'static str, &'static str)>,
}

pub(super) async fn api(State(site): Shared) -> Answer {
    page(&ApiPage { ladder: &site.settings.name, title: "API", addresses: api::addresses() })
}
