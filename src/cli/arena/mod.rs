//! `plyd arena`: matches between players, through the protocol, with a referee that trusts none of them.

mod forfeits;
mod html;
mod merge;
#[cfg(feature = "fleet")]
mod nats;
mod openings;
mod player;
mod presets;
mod report;
mod reviews;
mod totals;
mod watch;

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::arena::archive::{Archive, ArchiveError};
use crate::arena::statistics::sprt::Sprt;
use crate::arena::{
    self, Address, Adjudication, Cores, Format, Header, Match, PlayedGame, Schedule, Shard, Stalls,
    Strictness, Unplayed,
};
use crate::engine::AnyRoot;
use crate::review::ReviewLimits;
use plyd_protocol::{Seed, Setting};

use super::failure::Failure;
use super::interrupt::Halt;
use super::position::PositionArgs;
use super::progress::Progress;
use super::{build, output, parse, reaper, review, words, write_json};
use html::Gallery;
use report::Report;
use reviews::MatchReview;
use totals::Totals;
use watch::Watch;

/// Games of a pairing by default.
const GAMES: u32 = 100;

/// The most games of a match that ends when a hypothesis is accepted.
const GAMES_SPRT: u32 = 10_000;

/// What an interrupt does.
const PLAYED_OUT: &str = "the games in progress are played to their end; interrupt again to abandon them";
/// What it does while the games are reviewed.
const REVIEW_ENDS: &str = "the review ends; interrupt again to end without the report";

/// The arguments that say what a match is. Neither a published report's matches nor the records of shards
/// take them, since they have their own.
const DESCRIPTION: [&str; 15] = [
    "game",
    "position",
    "moves",
    "rules",
    "players",
    "gauntlet",
    "ladder",
    "openings",
    "random_plies",
    "sprt",
    "margin",
    "forgive_stalls",
    "timeout",
    "max_moves",
    "adjudicate",
];

/// Random moves of an opening if nothing else says how games begin.
const RANDOM_PLIES: u16 = 2;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd arena l-game --player default --player alphabeta,depth=3 --games 40
  plyd arena isolation --player default,time=50ms --player default,eval=mobility,time=50ms
  plyd arena isolation --player default,nodes=20000 --player cmd=/usr/bin/plyd,nodes=20000 --record games.jsonl
  plyd arena isolation --player default --player default,eval=race --sprt elo0=0,elo1=20 --concurrency 2
  plyd arena l-game --gauntlet --player default --player greedy --player random --games 20
  plyd arena isolation --ladder --player default,level=1..4 --games 20 --random-plies 6
  plyd arena --preset l-game
  plyd arena {isolation} --player default --player random --games 20 --html match.html
  plyd arena l-game --player default --player greedy --games 20 --review=200ms
  plyd arena {isolation} --player default --player greedy --games 20 --concurrency 2 --watch
  plyd arena {isolation} --player default --player random --games 9000 --shard 0/3 --record part-0.jsonl
  plyd arena --merge part-0.jsonl part-1.jsonl part-2.jsonl

A player is a name from `plyd describe GAME` with its options, and limits: time=100ms a move, nodes=N, depth=N; without \
any it has 100ms. Clocks for the game: tc=10s+0.1s, tc=40/60s+0.5s (base and increment, moves a period), \
delay=10s+1s (base and delay of each move), bank=1s+30s (each turn and a reserve). name=NAME is what the report calls it. \
cmd=PROGRAM is any other program \
that speaks the protocol, such as an older plyd; it is started without a shell, and commas end it. tcp=HOST:PORT, \
ws=HOST:PORT (WebSocket), tls=HOST:PORT, wss=HOST:PORT (both over TLS, with ?ca=FILE behind it for an authority of your own) \
and unix=PATH are servers that run already; token_file=FILE holds the token that one wants. legal=true sends the legal moves \
along, for bots that know no rules. Each opening is played twice, with sides swapped; errors are 95 % intervals.
The same command with the same --record file goes on where it was ended; with --preset it is a directory.")]
#[command(mut_arg("game", |game| game.required(false).required_unless_present_any(["preset", "merge"])))]
#[cfg_attr(feature = "fleet", command(mut_arg("nats", |nats| {
    nats.conflicts_with_all(["preset", "merge", "shard", "concurrency", "pin", "watch"])
})))]
pub(super) struct Args {
    /// Play the matches of a published report again, and print its figures beside ours
    #[arg(long, value_name = "NAME", value_parser = presets::parser())]
    #[arg(conflicts_with_all = DESCRIPTION, conflicts_with_all = ["html", "shard"], hide = presets::names().next().is_none())]
    preset: Option<String>,
    #[command(flatten)]
    position: Option<PositionArgs>,
    /// A player: NAME or cmd=PROGRAM, then options and limits; give it twice or more. OPTION=A..B makes a
    /// player of each value
    #[arg(long = "player", value_name = "PLAYER", required_unless_present_any = ["preset", "merge"])]
    players: Vec<String>,
    /// The first player meets each of the others; without this, all meet all
    #[arg(long)]
    gauntlet: bool,
    /// Each player meets the next one; ratings are relative to the first player's, unless it won or lost all
    /// its games
    #[arg(long, conflicts_with = "gauntlet")]
    ladder: bool,
    /// Games of each pairing; each opening takes two [default: 100, with --sprt 10000 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    games: Option<u32>,
    /// A file of openings, played in order, again and again. A line is the text of a position, moves from the
    /// start (`d4 b3`; with commas where moves have blanks) or the record of a game
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Random moves with which each pair of games begins [default: 2, with --openings 0]
    #[arg(long, value_name = "N")]
    random_plies: Option<u16>,
    /// The seed of openings, of chance and of the players' choices: 1 to 16 hexadecimal digits
    #[arg(long, value_name = "HEX", default_value = "0", value_parser = parse::seed)]
    seed: Seed,
    /// End as soon as one of two hypotheses about the first player is accepted:
    /// elo0=0,elo1=5[,alpha=0.05,beta=0.05,model=logistic]. model=logistic: Elo as reports show it;
    /// model=normalized: normalized Elo, with which the length of a test does not depend on the draws
    #[arg(long, value_name = "BOUNDS")]
    sprt: Option<Sprt>,
    /// Games played at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// By how much an answer may be late without losing the game
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse::duration)]
    margin: Duration,
    /// Forgive an answer that is late by no longer than the machine was stalled during that move, and count
    /// it separately
    #[arg(long)]
    forgive_stalls: bool,
    /// How long to wait for an answer beyond its time and the margin
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::duration)]
    #[arg(alias = "patience")]
    timeout: Duration,
    /// Moves after which an unfinished game is a draw
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: u32,
    /// Give each of the games that are played at once cores of its own, as many as a player has threads
    #[arg(long)]
    pin: bool,
    /// End a game early once the latest answers of both players announce the same proven end
    #[arg(long, value_name = "HOW")]
    adjudicate: Option<Adjudicate>,
    /// Append a record of each game to this file, a line of JSON each; games of this match that it has
    /// already count
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Play part I of the N parts, from 0, into which all pairs of games are divided: on another machine, or
    /// at another time
    #[arg(long, value_name = "I/N", requires = "record", conflicts_with = "sprt")]
    shard: Option<Shard>,
    /// Report on the whole match from the records of all its parts; nothing is played
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = DESCRIPTION)]
    #[arg(conflicts_with_all = ["games", "seed", "concurrency", "preset", "record"])]
    merge: Vec<PathBuf>,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    fleet: nats::FleetArgs,
    /// Write a page of figures, charts and games to step through, which a browser shows without a network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show the match in a browser while it is played, on this machine alone; stderr says where. The port is
    /// 7121 when absent, or a free one if that is taken
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true)]
    #[arg(conflicts_with_all = ["preset", "merge"])]
    watch: Option<Option<u16>>,
    /// Review each game when all are played: what each move kept and gave away. LIMIT is for a move: a time
    /// such as 200ms, or nodes=N [default: 100ms]
    #[arg(long, value_name = "LIMIT", num_args = 0..=1, require_equals = true, default_missing_value = "100ms")]
    #[arg(value_parser = review::read_limit, conflicts_with = "preset")]
    review: Option<ReviewLimits>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The game and where it begins.
    fn position(&self) -> Result<&PositionArgs, Failure> {
        self.position.as_ref().ok_or_else(|| Failure::Usage("name a game".into()))
    }

    /// Whether the games are kept, so that the same command goes on with the match.
    fn is_kept(&self) -> bool {
        #[cfg(feature = "fleet")]
        let is_kept_by_workers = self.fleet.server().is_some();
        #[cfg(not(feature = "fleet"))]
        let is_kept_by_workers = false;
        self.record.is_some() || is_kept_by_workers
    }
}

/// What ends games early.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Adjudicate {
    /// The same proven end, announced by both players
    Proof,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(name) = &args.preset {
        return presets::run(name, args, out);
    }
    if !args.merge.is_empty() {
        return merge::run(args, out);
    }
    let mut the_match = read_match(args)?;
    let mut totals = Totals::new(&the_match, args.sprt);
    if let Some(path) = &args.html {
        output::try_path("--html", path, args.record.as_deref().map(|record| (output::GAMES, record)))?;
        totals.gallery = Some(Gallery::default());
    }
    if let Some(port) = args.watch {
        let watch = Watch::start(&the_match, port)?;
        totals.gallery.get_or_insert_default();
        totals.watch = Some(Arc::clone(&watch));
        the_match.spectator = Some(watch);
    }
    totals.kept = args.review.map(|_| Vec::new());
    #[cfg(feature = "fleet")]
    if let Some(server) = args.fleet.server() {
        let halt = Halt::on_interrupt(crate::cli::nats::LEFT)?;
        let why = nats::play((&server, &args.fleet), &the_match, &mut totals, args.record.as_deref(), &halt)?;
        finish(args, &the_match, totals, &halt, out)?;
        return crate::cli::nats::check_cancelled(why);
    }
    let halt = Halt::on_interrupt(PLAYED_OUT)?;
    play(&mut the_match, &mut totals, args.record.as_deref(), &halt)?;
    finish(args, &the_match, totals, &halt, out)
}

/// Reports on what was played; an interrupt ends a review of it.
fn finish(
    args: &Args,
    the_match: &Match,
    mut totals: Totals,
    halt: &Halt,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if args.review.is_some() {
        halt.say(REVIEW_ENDS);
    }
    let (gallery, watch) = (totals.gallery.take(), totals.watch.take());
    let header = the_match.header();
    let review =
        MatchReview::wanted(args.review, totals.kept.as_deref(), header.players.len(), halt.interrupted())?;
    let is_placed = args.position()?.is_placed();
    let begins = openings::text(args.openings.as_deref(), is_placed, random_plies(args));
    let report = Report::new(&header, args.shard, &totals.summary, totals.assessment(), review.as_ref())
        .with_openings(&begins);
    let page = show(args, &header, &report, gallery, out)?;
    if let Some((watch, page)) = watch.zip(page) {
        // Whoever reads the report waits for no browser.
        out.flush()?;
        watch.finish(page);
    }
    report.check_players(args.json)
}

/// Prints a report, and writes the page if one is wanted, which it gives if there is one.
fn show(
    args: &Args,
    header: &Header,
    report: &Report<'_>,
    gallery: Option<Gallery>,
    out: &mut impl Write,
) -> Result<Option<String>, Failure> {
    if args.json {
        write_json(out, report)?
    } else {
        report.show(args.is_kept(), out)?
    }
    let page = gallery.map(|gallery| gallery.page(header, report)).transpose()?;
    if let (Some(path), Some(page)) = (&args.html, &page) {
        fs::write(path, page)
            .map_err(|error| Failure::Failed(format!("--html {}: {error}", path.display())))?;
    }
    Ok(page)
}

/// Plays what is left of a match: the games that the record has not.
fn play(
    the_match: &mut Match,
    totals: &mut Totals,
    record: Option<&Path>,
    halt: &Halt,
) -> Result<(), Failure> {
    let archive = record.map(|path| archive(path, the_match, totals)).transpose()?;
    if !totals.is_complete() {
        the_match.reaper = Some(reaper::start()?);
        the_match.try_players().map_err(|error| Failure::Usage(error.to_string()))?;
        let played = std::mem::take(&mut totals.played);
        let mut taking = Taking::new(the_match, archive, totals);
        the_match.run(&played, halt.flag(), |game| {
            match game {
                Ok(game) => taking.take(&game)?,
                Err(unplayed) => taking.leave_out(&unplayed),
            }
            if taking.totals.decided.is_some() {
                halt.flag().store(true, Ordering::Relaxed);
            }
            Ok::<(), io::Error>(())
        })?;
    }
    Ok(())
}

/// What is done with each game that ends, wherever it was played.
struct Taking<'t> {
    the_match: &'t Match,
    archive: Option<Archive>,
    totals: &'t mut Totals,
    progress: Progress,
}

impl<'t> Taking<'t> {
    fn new(the_match: &'t Match, archive: Option<Archive>, totals: &'t mut Totals) -> Self {
        let progress = Progress::new(the_match.games() as u64, totals.summary.games);
        Self { the_match, archive, totals, progress }
    }

    /// Keeps a game and counts it.
    ///
    /// # Errors
    /// It cannot be kept.
    fn take(&mut self, game: &PlayedGame) -> io::Result<()> {
        if let Some(archive) = &mut self.archive {
            archive.append(game)?;
        }
        self.totals.add(game);
        self.show();
        Ok(())
    }

    fn leave_out(&mut self, unplayed: &Unplayed) {
        let player = words::label(&self.the_match.players[unplayed.player].name);
        let (game, message) = (unplayed.number, &unplayed.message);
        tracing::warn!(game, player, "left out, because the server was overloaded {message}");
        self.totals.summary.leave_out(unplayed);
        self.show();
    }

    fn show(&mut self) {
        let Totals { summary, .. } = &*self.totals;
        let standing = report::standing(summary, self.totals.assessment().as_ref());
        self.progress.show(summary.games, &standing);
    }
}

/// The file of the match's games; those that it has already are added to the totals.
fn archive(path: &Path, the_match: &Match, totals: &mut Totals) -> Result<Archive, Failure> {
    let openings = the_match.shard.map(|_| the_match.openings_hash());
    let opened = Archive::open(path, |game: PlayedGame| {
        the_match.owns(&game)?;
        if game.part.as_ref().map(|part| part.openings) != openings {
            return Err(format!("game {} is of a match with other openings", game.number));
        }
        if !totals.played.insert(game.number) {
            return Err(format!("game {} is there twice", game.number));
        }
        totals.add(&game);
        Ok(())
    });
    opened.map_err(|error| {
        let advice = match error {
            ArchiveError::Line { .. } => "; give the arguments of the match that it holds, or another file",
            _ => "",
        };
        Failure::Usage(format!("--record {}: {error}{advice}", path.display()))
    })
}

/// The match that the arguments describe.
fn read_match(args: &Args) -> Result<Match, Failure> {
    let position = args.position()?;
    let game = position.entry();
    let texts: Vec<String> =
        args.players.iter().map(|text| player::spread(text)).collect::<Result<Vec<_>, _>>()?.concat();
    let count = texts.len();
    if count < 2 {
        return Err(Failure::Usage("give --player twice or more: a match needs two players".into()));
    }
    if args.sprt.is_some() && count > 2 {
        return Err(Failure::Usage("--sprt compares two players: give --player twice".into()));
    }
    let games = args.games.unwrap_or(if args.sprt.is_some() { GAMES_SPRT } else { GAMES });
    if games % 2 == 1 {
        return Err(Failure::Usage("give --games an even number: each opening is played twice".into()));
    }
    let mut players: Vec<arena::Player> =
        texts.iter().map(|text| player::player(game, text)).collect::<Result<_, _>>()?;
    player::check_names(&players)?;
    if args.shard.is_some() {
        name_by_content(&mut players);
    }
    #[cfg(feature = "fleet")]
    if args.fleet.server().is_some() {
        nats::name_by_signature(game, &mut players)?;
    }
    let format = match (args.gauntlet, args.ladder) {
        (true, _) => Format::Gauntlet,
        (false, true) => Format::Ladder,
        (false, false) => Format::RoundRobin,
    };
    let schedule = Schedule::new(format, count, games as usize / 2);
    if let Some(shard) = args.shard
        && shard.games(&schedule) == 0
    {
        let pairs = words::count(schedule.games() as u64 / 2, "pair");
        return Err(Failure::Usage(format!(
            "--shard {shard}: the match has {pairs} of games; give no more parts"
        )));
    }
    let cores = args.pin.then(|| cores(args.concurrency.into(), &players)).flatten();
    Ok(Match {
        game,
        rules: position.rule_settings()?,
        players,
        openings: drawn(args, schedule.rounds())?,
        schedule,
        shard: args.shard,
        strictness: Strictness {
            margin: args.margin,
            timeout: args.timeout,
            max_moves: args.max_moves as usize,
            adjudication: args
                .adjudicate
                .map_or(Adjudication::Never, |Adjudicate::Proof| Adjudication::Proof),
            forgives_stalls: args.forgive_stalls,
        },
        seed: args.seed,
        concurrency: args.concurrency.into(),
        cores,
        reaper: None,
        stalls: args.forgive_stalls.then(|| Arc::new(Stalls::watch())),
        spectator: None,
    })
}

/// Has records name the players' programs by their content: other parts are played on other machines, where
/// the date of a file says nothing. A program that several players have is read once.
fn name_by_content(players: &mut [arena::Player]) {
    let mut known = HashMap::new();
    for player in players {
        if let Address::Program(program) = &player.address {
            let content = known.entry(program.path.clone());
            player.build = content.or_insert_with(|| build::content(program.path.as_ref())).clone();
        }
    }
}

/// How many random moves an opening has.
fn random_plies(args: &Args) -> u16 {
    args.random_plies.unwrap_or(if args.openings.is_some() { 0 } else { RANDOM_PLIES })
}

/// The openings of so many rounds.
fn drawn(args: &Args, rounds: usize) -> Result<Vec<Arc<dyn AnyRoot>>, Failure> {
    let (position, Seed(seed), plies) = (args.position()?, &args.seed, random_plies(args));
    // Mistakes in the arguments are reported as such, not as a start that cannot be drawn.
    position.open()?;
    let openings = match &args.openings {
        Some(_) if position.is_placed() => {
            return Err(Failure::Usage("give --openings or a position, not both".into()));
        }
        Some(path) => {
            let known = openings::read(path, position.entry(), &position.rules(*seed)?)?;
            let start = |index, _: &mut _| Ok::<_, Failure>(Arc::clone(&known[index % known.len()]));
            arena::openings(start, plies.into(), rounds, *seed)
        }
        None => arena::openings(|_, random| position.open_drawn(random.next()), plies.into(), rounds, *seed),
    };
    openings.map_err(|error| Failure::Usage(error.to_string()))
}

/// Cores for games that are played at once. If there are too few, the system decides, and stderr says so.
fn cores(games: usize, players: &[arena::Player]) -> Option<Cores> {
    let threads = |player: &arena::Player| match player.options.get("threads") {
        Some(Setting::Int(threads)) => usize::try_from(*threads).unwrap_or(1).max(1),
        _ => 1,
    };
    let each = players.iter().map(threads).max().unwrap_or(1);
    let shared = Cores::share(games, each);
    shared.inspect_err(|error| tracing::warn!("--pin is not kept: {error}")).ok()
}
