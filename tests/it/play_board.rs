//! What `plyd play` shows of the board beside the pieces: where one can play, what may be written, who is
//! ahead, and what the moves were worth.

use crate::script::{in_order, printed};
use crate::terminal::Terminal;

#[test]
fn legal_cells_are_marked_and_cells_as_wide_as_the_window_allows() {
    let arguments = ["play", "isolation", "--rules", "width=5,height=5", "--p2", "me", "--moves", "a1", "e5"];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    // A knight's moves from a1, each cell with a blank on either side.
    terminal.shows("2 | .   .   *   .   .");
    terminal.shows("3 | .   *   .   .   .");
    assert!(terminal.transcript.contains("\x1b[36m*"), "they have a colour of their own");
    terminal.resize(24, 50);
    terminal.shows("2 |. . * . .");
    terminal.send("\x04");
    assert!(terminal.end().success());
    // Line by line, too.
    let text = printed(&["isolation", "--rules", "width=5,height=5", "--moves", "a1", "e5"], "");
    in_order(&text, &["2 |. . * . .", "3 |. * . . ."]);
}

#[test]
fn pencil_marks_stand_in_the_cells_or_beside_the_board() {
    let mut terminal = Terminal::start(&["play", "sudoku", "--rules", "m=2,n=2", "--p2", "me"], 40, 120);
    terminal.shows("|12 12|12 12|");
    terminal.shows("|34 34|34 34|");
    terminal.send("0,0,1\r");
    terminal.shows("plays 0,0,1");
    // The value is gone from its row, its column and its block.
    terminal.shows("|1   2| 2  2|");
    terminal.resize(16, 60);
    terminal.shows("| 1   * |");
    terminal.send("\x1b[A");
    terminal.shows("2,2: candidates 1 2 3 4");
    terminal.send("\x04");
    assert!(terminal.end().success());
    let text = printed(&["sudoku", "--rules", "m=2,n=2"], "board marks\n");
    in_order(&text, &["|* *|* *|", "|12 12|12 12|"]);
    // One value is left for a cell of which the solver knows that it leads nowhere.
    let position = "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1; scores 2 1; taboo 2,2,2";
    let text = printed(&["sudoku", "--position", position, "--p2", "me"], "board marks\n");
    in_order(&text, &["x", "x taboo"]);
}

#[test]
fn the_bar_is_shown_while_it_is_wanted() {
    let position = "x.x..x./.xxx.../.x.x21./x..xx.x/..xxx../.x...x./...x... 1";
    let text = printed(&["isolation", "--position", position, "--p2", "me"], "bar\nbar off\ntext\n");
    let bar = text.lines().find(|line| line.starts_with("p1 ") && line.contains(" p2  p1: ")).unwrap();
    assert!(bar.contains("===") || bar.contains("---"), "{bar}");
    in_order(&text, &["the bar shows who is ahead", "p1 ", "the bar is hidden"]);
    let mut terminal = Terminal::start(&["play", "l-game", "--p2", "me"], 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("bar\r");
    // The L Game is a draw.
    terminal.shows("p1 ==========---------- p2  p1: draw");
    terminal.send("bar off\r");
    terminal.wait("no bar", |terminal| {
        terminal.window.lines().iter().all(|line| !line.contains("==========---")).then_some(())
    });
    terminal.send("\x04");
    assert!(terminal.end().success());
}

#[test]
fn a_game_is_reviewed_where_it_ended() {
    let arguments = [
        "play",
        "isolation",
        "--rules",
        "width=4,height=4",
        "--p1",
        "random",
        "--p2",
        "random",
        "--seed",
        "5",
    ];
    let mut terminal = Terminal::start(&arguments, 40, 120);
    terminal.shows("wins: no move is left.");
    terminal.shows("`review` says what each move was worth");
    terminal.send("review 5s\r");
    terminal.shows("lines 1 to ");
    terminal.shows("before");
    terminal.send("q");
    terminal.shows("wins: no move is left.");
    // A review that is cancelled leaves no page.
    terminal.send("p1 me\rp2 me\rnew preset=11x9\rd4\re5\rreview 1000s\rstop\r");
    terminal.shows("the review is cancelled");
    terminal.send("\x04");
    assert!(terminal.end().success());
}
