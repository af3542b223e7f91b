//! `plyd arena --watch`: the match in a browser while it is played, and its report at the end.
//!
//! The page is a few files beside those of `plyd gui`, which draw the boards. Players are asked as without
//! it; what costs time, to draw and to write, another thread does, and for nobody if nobody watches.

mod live;

use std::borrow::Cow;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::arena::referee::Play;
use crate::arena::statistics::crosstable;
use crate::arena::statistics::sprt::Assessment;
use crate::arena::{Match, PlayedGame, ScheduledGame, Spectator, Summary};
use crate::cli::failure::Failure;
use crate::cli::{gui, registry};
use crate::daemon::page::Page;
use crate::daemon::{Feed, FeedFile, News, Source};

use super::report;
use live::Live;

/// The port when none is given, behind that of `plyd gui`.
const PORT: u16 = 7121;

/// How long the report is kept for those who watched to the end.
const LINGER: Duration = Duration::from_secs(3);

/// Where the report is.
const REPORT: &str = "/report";

/// A match that can be watched.
pub(super) struct Watch {
    live: Arc<Live>,
    feed: Feed,
}

/// How the match stands.
#[derive(Serialize)]
struct Score {
    games: u64,
    scheduled: usize,
    /// In words, as the terminal shows it.
    standing: String,
    /// By player, in their order.
    players: Vec<PlayerScore>,
    /// What the first of two players won, drew and lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<[u64; 3]>,
}

#[derive(Serialize)]
struct PlayerScore {
    points: f64,
    games: u64,
}

impl Watch {
    /// Shows a match from now on to browsers of this machine, and says where on stderr.
    ///
    /// # Errors
    /// Nothing listens on that port, or on any if none is given.
    pub(super) fn start(the_match: &Match, port: Option<u16>) -> Result<Arc<Self>, Failure> {
        let listener = gui::listen(IpAddr::V4(Ipv4Addr::LOCALHOST), port, PORT, "--watch=PORT")?;
        let address = gui::url(listener.local_addr()?);
        let live = Arc::new(Live::new(the_match));
        let feed = Feed::start(listener, Arc::new(Shown(Arc::clone(&live))))?;
        let _nobody_reads = writeln!(io::stderr(), "watch at {address}");
        Ok(Arc::new(Self { live, feed }))
    }

    /// A game ended; the match stands so.
    pub(super) fn add(&self, game: &PlayedGame, summary: &Summary, games: usize, test: Option<&Assessment>) {
        let rows = crosstable(summary.players.len(), &summary.pairings());
        let players = rows.iter().map(|row| PlayerScore { points: row.points, games: row.games });
        let results = match &summary.results[..] {
            [one] => Some([one.wins, one.draws, one.losses]),
            _ => None,
        };
        let score = Score {
            games: summary.games,
            scheduled: games,
            standing: report::standing(summary, test),
            players: players.collect(),
            results,
        };
        self.live.add(game, &score);
        self.feed.changed();
    }

    /// Shows the report to all who watch, and waits for them, but not for long.
    pub(super) fn finish(&self, report: String) {
        self.live.end(report);
        self.feed.wait(LINGER);
    }
}

impl Spectator for Watch {
    fn see(&self, table: usize, scheduled: ScheduledGame, play: &Play) {
        self.live.see(table, scheduled, play);
        self.feed.changed();
    }
}

/// What browsers get.
struct Shown(Arc<Live>);

impl Source for Shown {
    fn file(&self, path: &str) -> Option<FeedFile> {
        let fixed =
            |mime, text: &'static str| FeedFile { mime, bytes: text.as_bytes().into(), is_whole: false };
        Some(match path {
            "/" => fixed("text/html; charset=utf-8", include_str!("page.html")),
            "/watch.css" => fixed("text/css; charset=utf-8", include_str!("watch.css")),
            "/watch.js" => fixed("text/javascript; charset=utf-8", include_str!("watch.js")),
            REPORT => {
                let bytes = Cow::Owned(self.0.report()?.as_bytes().to_vec());
                FeedFile { mime: "text/html; charset=utf-8", bytes, is_whole: true }
            }
            path => {
                let content = Page::new(registry::games()).content(path)?;
                FeedFile { mime: content.mime, bytes: content.bytes.into(), is_whole: false }
            }
        })
    }

    fn news(&self, seen: u64) -> News {
        self.0.news(seen)
    }
}
