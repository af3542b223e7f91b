//! `plyd play`: a game in the terminal, against the engine, between two people, or to watch and to analyse.
//!
//! A client of the protocol like any other: it asks a daemon about the rules and for moves, and knows
//! neither. In reading order: `command` and `catalogue` have the commands, `history` the game with its plies,
//! `seats` who plays, `link` the way to the engine, `table` where they meet (`status` says in words how it
//! stands) and `orders`, `thinking`, `files`, `reviewing` and `measuring` what is done there; `plain` and
//! `screen` are the two ways to show it. Reviews alone are made by this process (`running_review`).

mod catalogue;
mod command;
mod cursor;
mod files;
mod history;
mod line_editor;
mod link;
mod measuring;
mod orders;
mod plain;
mod reviewing;
mod running_review;
mod screen;
mod search;
mod seats;
mod status;
mod suggest;
mod table;
mod thinking;
mod value_bar;
mod view;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::arena::TimeControl;
use crate::client::Address;
use crate::zobrist::mix;
use plyd_protocol::{Player, Seed};

use super::failure::Failure;
use super::input::{Input, Inputs, Signal};
use super::position::{self, PositionArgs};
use super::styled::{Colours, Text};
use super::{clock, parse};
use link::{Link, Place, Refusal};
use seats::Seat;
use table::Table;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd play {l-game}                            you begin, the engine answers
  plyd play {isolation} --p1 default --p2 me    the engine begins
  plyd play {colosseum} --level 3 --time 500ms  a weaker engine
  plyd play sudoku --rules preset=rows --clock tc=5m+3s
  plyd play ijk --p1 minimax,depth=3 --p2 default --plain
                                              watch two players
  plyd play isolation --position 'x.x..x./.xxx.../.x.x21./x..xx.x/..xxx../.x...x./...x... 1'
  plyd play l-game --load game.jsonl          go on with a game that was saved
  plyd play {isolation} --connect tcp=127.0.0.1:7117

In the game `help` lists the commands: moves, undo, redo, hint, analyse, swap, level, save, load, replay, view \
and more. Input may come from a pipe: each line waits until the one before is done. NO_COLOR is respected.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// Who plays first: me, or a player with options, such as minimax,depth=3 [default: me, with --load as
    /// before]
    #[arg(long, value_name = "WHO")]
    p1: Option<String>,
    /// Who plays second [default: default, with --load as before]
    #[arg(long, value_name = "WHO")]
    p2: Option<String>,
    /// How strong the engine plays, from 1 to 10
    #[arg(long, value_name = "N", value_parser = parse::level)]
    level: Option<u8>,
    /// Options of the engine's players, such as eval=mobility,threads=2; `plyd describe GAME` lists them
    #[arg(long = "option", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    options: Vec<(String, String)>,
    /// How long the engine thinks about a move if there is no clock
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse::thinking_time)]
    time: Duration,
    /// A clock for both sides: tc=5m+3s, delay=5m+3s, bank=10s+5m or time=30s
    #[arg(long, value_parser = clock::read)]
    clock: Option<TimeControl>,
    /// The seed of what the rules draw, of chance, and of the players' choices: 1 to 16 hexadecimal digits
    #[arg(long, value_name = "HEX", value_parser = parse::seed)]
    seed: Option<Seed>,
    /// Go on with a game that `save` or `plyd arena --record` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "moves", "rules"])]
    load: Option<PathBuf>,
    /// The number of the game, if the file has several
    #[arg(long = "game", id = "number", value_name = "N", requires = "load")]
    number: Option<usize>,
    /// Ask a server that runs already, at tcp=HOST:PORT, ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT or
    /// unix=PATH, instead of starting an engine
    #[arg(long, value_name = "WHERE", value_parser = address)]
    connect: Option<Address>,
    /// The token that the server wants, in a file
    #[arg(long, value_name = "FILE", requires = "connect")]
    token_file: Option<PathBuf>,
    /// Line by line, as through a pipe and for a screen reader
    #[arg(long)]
    plain: bool,
}

/// What shows the table and takes what comes in.
trait Front {
    fn input(&mut self, table: &mut Table, input: Input) -> io::Result<()>;
    fn signal(&mut self, table: &mut Table, signal: Signal) -> io::Result<()>;
    /// Whether input is taken now or waits.
    fn takes_input(&self, table: &Table) -> bool;
    /// Shows what there is to show.
    fn show(&mut self, table: &mut Table) -> io::Result<()>;
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = lay(args)?;
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let colours = Colours::of_output();
    if is_terminal && !args.plain && colours != Colours::Never {
        let mut inputs = Inputs::keys()?;
        table.say("`help` or F1 lists the commands");
        run_with(&mut screen::Screen::new(&mut *out, colours)?, &mut table, &mut inputs)?;
        // The screen is gone, and with it the state of the game.
        writeln!(out, "{}", table.status().plain())?;
    } else {
        let mut inputs = Inputs::lines()?;
        let interactive = io::stdin().is_terminal();
        if interactive {
            table.say("`help` lists the commands");
        }
        run_with(&mut plain::Plain::new(&mut *out, colours, interactive), &mut table, &mut inputs)?;
        if interactive {
            writeln!(out)?;
        }
    }
    farewell(&table, out)
}

/// Sets up the table: the game, who plays, and the link to the engine.
fn lay(args: &Args) -> Result<Table, Failure> {
    let entry = args.position.entry();
    let seat = |flag: &str, who: &Option<String>| {
        let read = who.as_ref().map(|who| {
            Seat::read(entry, who).map_err(|message| Failure::Usage(format!("{flag} {who}: {message}")))
        });
        read.transpose()
    };
    position::once(&args.options, "--option")?;
    if args.level.is_some() && args.options.iter().any(|(name, _)| name == "level") {
        return Err(Failure::Usage("give --level or --option level=, not both".into()));
    }
    let mut options = args.options.clone();
    options.extend(args.level.map(|level| ("level".to_owned(), level.to_string())));
    let token = args.token_file.as_ref().map(|path| {
        let token = fs::read_to_string(path);
        token.map_err(|error| Failure::Usage(format!("--token-file {}: {error}", path.display())))
    });
    let token = token.transpose()?.map(|token| token.trim_end().to_owned());
    let place = match &args.connect {
        Some(address) => {
            Place::Server { address: address.clone(), token, token_file: args.token_file.clone() }
        }
        None => Place::Child,
    };
    let seed = args.seed.map_or_else(draw_seed, |Seed(seed)| seed);
    let given = [seat("--p1", &args.p1)?, seat("--p2", &args.p2)?];
    let is_given = given.each_ref().map(Option::is_some);
    let [p1, p2] = given;
    let seated = [p1.unwrap_or(Seat::Me), p2.unwrap_or_else(Seat::engine)];
    let mut table = Table::new(entry, Link::new(place), seated, seed);
    table.common = position::option_settings(entry, &options);
    for given in table.seats.iter().map(Seat::own).chain([table.common.clone()]) {
        position::warn(&position::renamed(entry, &given));
    }
    table.think = args.time;
    table.control = args.clock.unwrap_or_default();
    if let Some(path) = &args.load {
        let players = files::try_load(&mut table, path, args.number, "--game N")
            .map_err(|message| Failure::Usage(format!("--load: {message}")))?;
        if table.entry.name != entry.name {
            let name = table.entry.name;
            return Err(Failure::Usage(format!("--load: that is a game of {name}: say `plyd play {name}`")));
        }
        if let Some(names) = players {
            seat_as_before(&mut table, &names, is_given);
        }
    } else {
        let (start, moves) = args.position.placed();
        table.open_game(entry, args.position.rule_settings()?, start, moves).map_err(refused)?;
    }
    for (player, flag, who) in [(Player::P1, "--p1", &args.p1), (Player::P2, "--p2", &args.p2)] {
        if let Err(refusal) = table.try_seat(player) {
            let who = who.as_deref().unwrap_or_default();
            return Err(refused_seat(&table.seats[seats::index(player)], flag, who, refusal));
        }
    }
    table.show_seats();
    table.advance();
    Ok(table)
}

/// Seats those who played a saved game where no argument says who plays. A match that nobody at a keyboard
/// played seats nobody; and where the engine does not have a player, the usual one takes the place.
fn seat_as_before(table: &mut Table, names: &[String; 2], is_given: [bool; 2]) {
    let is_me = |name: &String| Seat::read(table.entry, name).is_ok_and(|seat| seat.is_me());
    if !names.iter().any(is_me) {
        return;
    }
    for player in [Player::P1, Player::P2] {
        let index = seats::index(player);
        if is_given[index] {
            continue;
        }
        let Ok(seat) = Seat::read(table.entry, &names[index]) else {
            table.say_absent(player, &names[index]);
            continue;
        };
        let usual = std::mem::replace(&mut table.seats[index], seat.under(&table.common));
        if table.try_seat(player).is_err() {
            table.seats[index] = usual;
            table.say_absent(player, &names[index]);
        }
    }
}

/// A refusal of a side's player, with the argument that asks for what is refused.
fn refused_seat(seat: &Seat, flag: &str, who: &str, refusal: Refusal) -> Failure {
    match (seat, refusal.pointer().strip_prefix("/options/")) {
        (Seat::Engine(own), Some("player")) if own.get("player").is_some() => Failure::Usage(format!(
            "{flag} {who}: {refusal}; `default` is the engine, `{}` is you",
            seats::ME
        )),
        (Seat::Engine(own), Some(name)) if own.get(name).is_some() => {
            Failure::Usage(format!("{flag} {who}: {refusal}"))
        }
        _ => refused(refusal),
    }
}

/// The server's refusal of the arguments.
fn refused(refusal: Refusal) -> Failure {
    match &refusal {
        Refusal::Error(error) => Failure::refused(error.code, refusal.pointer(), &error.message),
        Refusal::Unreachable(_) | Refusal::Nonsense(_) => Failure::Failed(refusal.to_string()),
    }
}

fn run_with(front: &mut impl Front, table: &mut Table, inputs: &mut Inputs) -> io::Result<()> {
    // The first board is shown before the first line is read, even if the line is there already.
    front.show(table)?;
    loop {
        let mut idle = true;
        while let Ok(signal) = inputs.signals.try_recv() {
            front.signal(table, signal)?;
            idle = false;
        }
        while let Some(said) = table.link.said() {
            table.heard(said);
            idle = false;
        }
        if !table.leaving
            && front.takes_input(table)
            && let Ok(input) = inputs.input.try_recv()
        {
            front.input(table, input)?;
            idle = false;
        }
        // A review that is ready lets in what waited for it.
        let was_busy = table.is_busy();
        table.tick();
        idle &= table.is_busy() == was_busy;
        front.show(table)?;
        if table.leaving {
            table.give_up();
            return Ok(());
        }
        if idle {
            inputs.wait(table.link.input(), table.next_tick())?;
        }
    }
}

/// The last words when the player leaves: the command that resumes the game.
fn farewell(table: &Table, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(command) = files::unsaved(table) {
        let command = Text::from(command);
        writeln!(out, "the game is not saved; this command resumes it:\n  {}", command.plain())?;
    }
    Ok(())
}

/// A time as clocks show it.
fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) if s < 10 => format!("{:.1}", time.as_secs_f64()),
        (0, m, s) => format!("{m}:{s:02}"),
        (h, m, s) => format!("{h}:{m:02}:{s:02}"),
    }
}

/// Another seed for each game.
fn draw_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    mix(now.as_nanos() as u64 ^ u64::from(std::process::id()))
}

/// An address with the way to it, which is TCP if none is given.
fn address(text: &str) -> Result<Address, String> {
    if text.contains(['=', '/']) { Address::read(text) } else { Address::read(&format!("tcp={text}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_shown_as_people_read_them() {
        for (ms, text) in
            [(0, "0.0"), (9_940, "9.9"), (10_000, "0:10"), (300_000, "5:00"), (3_723_000, "1:02:03")]
        {
            assert_eq!(time(Duration::from_millis(ms)), text);
        }
    }

    #[test]
    fn addresses_have_a_port() {
        for text in ["tcp=localhost:7117", "localhost:7117"] {
            assert_eq!(address(text), Ok(Address::Tcp("localhost:7117".into())));
        }
        for text in ["tcp=localhost", "tcp=:1", "7117", "tcp=a:99999"] {
            assert!(address(text).unwrap_err().contains("tcp=127.0.0.1:7117"), "{text}");
        }
    }
}
