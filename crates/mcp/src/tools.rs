//! The server for the SDK: calls, resources and prompts.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plyd_core::engine::Entry;
use plyd_daemon::Daemon;
use plyd_protocol::{Board, ErrorCode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::{ServerHandler, transport};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::arguments::Arguments;
use crate::bounds::Bounds;
use crate::engine::{Conversation, converse};
use crate::error::{ToolError, internal};
use crate::judged::{self, Abandoned};
use crate::kept::{Game, Games};
use crate::play::{self, Opening};
use crate::resources::Named;
use crate::search::{self, Asked, Limit};
use crate::{catalogue, picture, prompts, resources};

/// When a server with too much to do is asked again.
const RETRY_MS: u64 = 1000;
/// The lines of an analysis that asks for no number.
const LINES: u64 = 3;
/// What hosts tell their models.
const INSTRUCTIONS: &str = "Board games with an engine that plays them well. Begin with list_games and \
    describe_game; new_game gives a game_id for all other tools. Refusals say what is wrong (`code`, `message`) and \
    with which argument (`pointer`).";

/// The server, whatever it speaks through. A copy is the same server.
///
/// ```
/// use std::sync::Arc;
///
/// use plyd_core::engine::Entry;
/// use plyd_daemon::{Config, Daemon};
/// use plyd_mcp::{Bounds, Tools};
///
/// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
///
/// let daemon = Arc::new(Daemon::start(&Config::default(), GAMES)?);
/// let tools = Tools::new(daemon, GAMES, Bounds::default(), |board| format!("{} columns", board.grid.cols));
/// # Ok::<(), plyd_daemon::ServeError>(())
/// ```
#[derive(Clone)]
pub struct Tools(Arc<Inner>);

struct Inner {
    daemon: Arc<Daemon>,
    games: &'static [&'static Entry],
    kept: Games,
    bounds: Bounds,
    calls: Arc<Semaphore>,
    reviews: Arc<Semaphore>,
    draw: fn(&Board) -> String,
}

/// Speaks with the host on the standard streams, until it closes them.
///
/// # Errors
/// The host does not begin as MCP does, or a task broke.
pub async fn serve_stdio(tools: Tools) -> std::io::Result<()> {
    let (input, output) = transport::io::stdio();
    serve_stream(tools, input, output).await
}

/// Speaks with a host on a pair of streams, a message a line, until it closes them.
///
/// # Errors
/// The host does not begin as MCP does, or a task broke.
pub async fn serve_stream<R, W>(tools: Tools, input: R, output: W) -> std::io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let service = tools.serve((input, output)).await.map_err(std::io::Error::other)?;
    service.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}

impl Tools {
    /// The games of a daemon as tools; `draw` draws a board as text.
    #[must_use]
    pub fn new(
        daemon: Arc<Daemon>,
        games: &'static [&'static Entry],
        bounds: Bounds,
        draw: fn(&Board) -> String,
    ) -> Self {
        Self(Arc::new(Inner {
            daemon,
            games,
            kept: Games::new(&bounds),
            calls: Arc::new(Semaphore::new(bounds.calls)),
            reviews: Arc::new(Semaphore::new(bounds.reviews)),
            bounds,
            draw,
        }))
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.0.bounds
    }

    /// Calls a tool by its name.
    async fn call(&self, name: &str, given: Arguments) -> Result<CallToolResult, ToolError> {
        let permit = Arc::clone(&self.0.calls).try_acquire_owned();
        // A thread that a call has begun may last longer, and then keeps its place.
        let permit = Arc::new(permit.map_err(|_| overloaded("calls are under way"))?);
        match name {
            "list_games" => self.describe(given, false).await,
            "describe_game" => self.describe(given, true).await,
            "new_game" => self.new_game(given).await,
            "legal_moves" => self.legal_moves(given).await,
            "make_move" => self.make_move(given).await,
            "best_move" => self.search(given, false).await,
            "analyse" => self.search(given, true).await,
            "review_game" => self.review_game(given).await,
            "draw_board" => self.draw_board(given, Arc::clone(&permit)).await,
            "end_game" => self.end_game(given),
            _ => Err(ToolError::new(ErrorCode::UnknownCmd, "there is no such tool; tools/list lists them")),
        }
    }

    /// Speaks with the daemon for as long as anything but a search may take.
    async fn talk<T: Send + 'static>(
        &self,
        talk: impl FnOnce(&Conversation) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        converse(&self.0.daemon, self.0.bounds.other, talk).await
    }

    /// The description of one game, or of all in short.
    async fn described(&self, game: Option<String>) -> Result<Value, ToolError> {
        let request = match game {
            Some(game) => json!({ "cmd": "describe", "what": "game", "game": game }),
            None => json!({ "cmd": "describe", "what": "games" }),
        };
        self.talk(|talk| Ok(talk.ask(request)?["body"].take())).await
    }

    async fn describe(&self, mut given: Arguments, is_one: bool) -> Result<CallToolResult, ToolError> {
        let game = if is_one { Some(given.needed_text("game")?) } else { None };
        given.finish()?;
        let body = self.described(game).await?;
        // Structured content is an object.
        Ok(CallToolResult::structured(if body.is_array() { json!({ "games": body }) } else { body }))
    }

    async fn new_game(&self, mut given: Arguments) -> Result<CallToolResult, ToolError> {
        let opening = Opening {
            game: given.needed_text("game")?,
            rules: given.value("rules"),
            seed: given.value("seed"),
            start: given.text("start")?,
            moves: given.texts("moves")?,
        };
        given.finish()?;
        let bounds = self.0.bounds.clone();
        let (game, standing) = self.talk(move |talk| play::begin(talk, opening, &bounds)).await?;
        let id = self.0.kept.add(game.clone())?;
        let mut shown = standing.shown(&id, &game);
        shown["rules"] = json!(game.rules);
        shown["start"] = json!(game.start);
        Ok(CallToolResult::structured(shown))
    }

    /// The game of a call.
    fn game(&self, given: &mut Arguments) -> Result<(String, Game), ToolError> {
        let id = given.needed_text("game_id")?;
        let game = self.0.kept.get(&id)?;
        Ok((id, game))
    }

    async fn legal_moves(&self, mut given: Arguments) -> Result<CallToolResult, ToolError> {
        let (id, game) = self.game(&mut given)?;
        let most = self.0.bounds.listed as u64;
        let offset = given.whole("offset", 0, u64::from(u32::MAX), 0)? as usize;
        let most = given.whole("most", 1, most, most)? as usize;
        given.finish()?;
        let asked = game.clone();
        let bounds = self.0.bounds.clone();
        let standing = self.talk(move |talk| play::settle(talk, &asked, Vec::new(), &bounds)).await?;
        let mut shown = standing.shown(&id, &game);
        let listed: Vec<&Value> = standing.legal.iter().skip(offset).take(most).collect();
        shown["moves"] = json!(listed);
        Ok(CallToolResult::structured(shown))
    }

    async fn make_move(&self, mut given: Arguments) -> Result<CallToolResult, ToolError> {
        let (id, mut game) = self.game(&mut given)?;
        let mv = given.needed_text("move")?;
        given.finish()?;
        let (asked, bounds) = (game.clone(), self.0.bounds.clone());
        let made = mv.clone();
        let standing = self.talk(move |talk| play::play(talk, &asked, &made, &bounds)).await?;
        let plies: Vec<String> = std::iter::once(mv).chain(standing.drawn.iter().cloned()).collect();
        self.0.kept.extend(&id, &game, plies.clone())?;
        game.moves.extend(plies);
        Ok(CallToolResult::structured(standing.shown(&id, &game)))
    }

    async fn search(&self, mut given: Arguments, is_analysis: bool) -> Result<CallToolResult, ToolError> {
        let (id, game) = self.game(&mut given)?;
        let bounds = &self.0.bounds;
        let limit = Limit::new(given.value("limit"), bounds)?;
        let time = limit.call(bounds);
        let asked = match is_analysis {
            true => {
                Asked { limit, lines: given.whole("lines", 1, bounds.listed as u64, LINES)?, level: None }
            }
            false => Asked { limit, lines: 1, level: given.value("level") },
        };
        given.finish()?;
        let ply = game.moves.len();
        let mut found =
            converse(&self.0.daemon, time, move |talk| search::search(talk, &game, asked)).await?;
        found["game_id"] = json!(id);
        found["ply"] = json!(ply);
        Ok(CallToolResult::structured(found))
    }

    async fn review_game(&self, mut given: Arguments) -> Result<CallToolResult, ToolError> {
        let (id, game) = self.game(&mut given)?;
        let most = self.0.bounds.search_ms();
        let time = Duration::from_millis(given.whole("time_ms", 1, most, most)?);
        given.finish()?;
        let Ok(permit) = Arc::clone(&self.0.reviews).try_acquire_owned() else {
            return Err(overloaded("reviews are under way"));
        };
        let abandoned = Abandoned::default();
        let _guard = abandoned.guard();
        let games = self.0.games;
        let work = tokio::task::spawn_blocking(move || {
            // Whoever gives up frees the place when the thread has noticed it.
            let _permit = permit;
            judged::review(&judged::start(games, &game)?, &game.moves, time, &abandoned)
        });
        let mut shown = work.await.map_err(|error| internal(format!("the review broke: {error}")))??;
        shown["game_id"] = json!(id);
        Ok(CallToolResult::structured(shown))
    }

    async fn draw_board(
        &self,
        mut given: Arguments,
        permit: Arc<OwnedSemaphorePermit>,
    ) -> Result<CallToolResult, ToolError> {
        let (_, game) = self.game(&mut given)?;
        let form = given.text("as")?.unwrap_or_else(|| "both".to_owned());
        given.finish()?;
        if !["text", "image", "both"].contains(&form.as_str()) {
            return Err(ToolError::new(ErrorCode::BadEnum, "give text, image or both").at("/as"));
        }
        let mut content = Vec::new();
        if form != "image" {
            let mut request = game.request("inspect", &[]);
            request["want"] = json!(["board"]);
            let board = self.talk(|talk| Ok(talk.ask(request)?["board"].take())).await?;
            let board = Board::deserialize(board).map_err(|error| internal(error.to_string()))?;
            content.push(ContentBlock::text((self.0.draw)(&board)));
        }
        if form != "text" {
            let games = self.0.games;
            let draw = move || {
                // A picture cannot be given up: the place is free when it is done.
                let _permit = permit;
                let start = judged::start(games, &game)?;
                let last =
                    start.root().extend(&game.moves).map_err(|fault| ToolError::from(fault).unplaced())?;
                picture::png(&last.into())
            };
            let png = timeout(self.0.bounds.other, tokio::task::spawn_blocking(draw)).await;
            let png = png.map_err(|_| ToolError::new(ErrorCode::TimedOut, "the picture took too long"))?;
            let png = png.map_err(|error| internal(format!("the drawing broke: {error}")))??;
            content.push(ContentBlock::image(STANDARD.encode(png), "image/png"));
        }
        Ok(CallToolResult::success(content))
    }

    fn end_game(&self, mut given: Arguments) -> Result<CallToolResult, ToolError> {
        let id = given.needed_text("game_id")?;
        given.finish()?;
        self.0.kept.remove(&id)?;
        Ok(CallToolResult::structured(json!({ "game_id": id, "ended": true })))
    }

    /// A resource by its address.
    async fn read(&self, uri: &str) -> Result<Value, ToolError> {
        match resources::named(uri) {
            Some(Named::Rules(game)) => self.described(Some(game.to_owned())).await,
            Some(Named::Record(id)) => {
                let mut request = self.0.kept.get(id)?.request("inspect", &[]);
                request["want"] = json!(["record"]);
                self.talk(|talk| Ok(talk.ask(request)?["record"].take())).await
            }
            None => Err(ToolError::new(ErrorCode::GameUnknown, "there is no such resource")),
        }
    }
}

/// That the server has as much to do as it may.
fn overloaded(what: &str) -> ToolError {
    ToolError::new(ErrorCode::Overloaded, format!("as many {what} as may be")).retry(RETRY_MS)
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("plyd", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalogue::tools(self.bounds())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = self.call(&request.name, Arguments::new(request.arguments));
        let result = tokio::select! {
            result = called => result,
            () = context.ct.cancelled() => Err(ToolError::new(ErrorCode::Disconnected, "the call was cancelled")),
        };
        Ok(result.unwrap_or_else(|error| CallToolResult::structured_error(json!({ "error": error }))).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(self.0.games)))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Ok(_permit) = self.0.calls.try_acquire() else {
            return Err(ErrorData::internal_error(
                "too many calls are under way",
                Some(json!(overloaded("calls"))),
            ));
        };
        let read = self.read(&request.uri).await;
        let body =
            read.map_err(|error| ErrorData::resource_not_found(error.message.clone(), Some(json!(error))))?;
        let contents = ResourceContents::text(body.to_string(), request.uri).with_mime_type(resources::MIME);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&request)?.into())
    }
}
