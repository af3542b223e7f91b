//! What pages and API read alike, within the bounds that both have.

use std::sync::Arc;

use super::boards::{Boards, MOST, Moves};
use super::live::Hub;
use super::model::{Game, GameState, Games, Names, game_line, lines};
use super::refusal::{Kind, Refusal};
use super::site::{Site, Tables};
use crate::store::{GameRow, Store, StoreError};
use crate::{BotId, GameId, PoolId, SeasonId};

/// The tables of a pool.
///
/// # Errors
/// There is no such pool or season.
pub(super) async fn tables(
    site: &Site,
    pool: PoolId,
    season: Option<SeasonId>,
) -> Result<Arc<Tables>, Refusal> {
    if let Some(season) = season {
        let seasons = site.read(move |store| store.seasons()).await?;
        if !seasons.iter().any(|known| known.id == season) {
            return Err(Refusal::not_found("season"));
        }
    }
    site.tables(pool, season).await?.ok_or_else(|| Refusal::not_found("pool"))
}

/// The games before that one, the latest first.
pub(super) async fn games(
    site: &Site,
    pool: Option<PoolId>,
    before: Option<GameId>,
    most: usize,
) -> Result<Games, Refusal> {
    site.read(move |store| {
        let rows = store.games(pool, before, most as u64 + 1)?;
        Ok(lines(rows, most, &Names::read(store)?))
    })
    .await
}

/// The games that are being played, the latest first; those of one pool alone, if one is named.
pub(super) async fn playing(
    site: &Site,
    hub: &Hub,
    pool: Option<PoolId>,
    most: usize,
) -> Result<Games, Refusal> {
    let playing = site.read(move |store| {
        let rows = store.games_playing(most as u64)?;
        Ok(lines(rows, most, &Names::read(store)?))
    });
    let mut playing = playing.await?;
    playing.games.retain(|game| pool.is_none_or(|pool| game.pool == pool));
    for game in &mut playing.games {
        game.plies = hub.game(game.id).map(|live| live.record.moves.len() as u64);
    }
    Ok(playing)
}

/// The games of a bot before that one, the latest first; its forfeits alone, if that is asked for.
pub(super) async fn games_of(
    site: &Site,
    bot: BotId,
    before: Option<GameId>,
    forfeits: bool,
    most: usize,
) -> Result<Games, Refusal> {
    site.read(move |store| {
        let rows: Vec<GameRow> = store.games_of(bot, before, forfeits, most as u64 + 1)?;
        Ok(lines(rows, most, &Names::read(store)?))
    })
    .await
}

/// A game with its moves.
///
/// # Errors
/// There is no such game.
pub(super) async fn game(site: &Site, hub: &Hub, id: GameId) -> Result<Game, Refusal> {
    let live = hub.game(id);
    let read = move |store: &mut Store| {
        let row = match store.game(id) {
            Ok(row) => row,
            Err(StoreError::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let line = game_line(row, &Names::read(store)?);
        if let Some(played) = store.record(id)? {
            return Ok(Some(Game::ended(line, played)));
        }
        if let Some(live) = live.filter(|_| line.state == GameState::Playing) {
            return Ok(Some(Game::playing(line, &live)));
        }
        if let Some(open) = store.open_game(id)? {
            return Ok(Some(Game::waiting(line, open)));
        }
        let pool = store.pools()?.into_iter().find(|pool| pool.id == line.pool);
        Ok(pool.map(|pool| Game::unplayed(line, pool.terms)))
    };
    let game = site.read(read).await?.ok_or_else(|| Refusal::not_found("game"))?;
    Ok(game.with_ending(site.games))
}

/// The boards of a game, from that ply on.
///
/// # Errors
/// There is no such game.
pub(super) async fn boards(
    site: &Site,
    hub: &Hub,
    id: GameId,
    from: usize,
    most: usize,
) -> Result<Boards, Refusal> {
    let moves = moves(site, hub, id).await?;
    let games = site.games;
    site.compute(move || moves.boards(games, from, most.min(MOST))).await
}

/// What is to be drawn of a game.
async fn moves(site: &Site, hub: &Hub, id: GameId) -> Result<Moves, Refusal> {
    if let Some(live) = hub.game(id) {
        return Ok(live.record.clone().into());
    }
    let read = move |store: &mut Store| {
        if let Some(played) = store.record(id)? {
            return Ok(Some(played.record.into()));
        }
        Ok(store.open_game(id)?.map(|open| Moves {
            game: open.terms.game,
            rules: open.terms.rules,
            start: open.opening.start,
            moves: open.opening.moves,
        }))
    };
    site.read(read).await?.ok_or_else(|| Refusal::new(Kind::NotFound, "there is no board of this game"))
}
