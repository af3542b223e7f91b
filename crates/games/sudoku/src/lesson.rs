//! Competitive Sudoku explained to people who have never played it.

use plyd_core::engine::LessonStep;

pub(super) const STEPS: &[LessonStep] = &[
    LessonStep {
        title: "Aim",
        text: "Both players fill the same sudoku: each number stands once in each row, column and \
               block. Completing a row, column or block gives a point; two at once give 3 points, three \
               at once 7.",
        task: "The first row lacks one number. Write it: choose the cell, then the number.",
        rules: "m=2,n=2",
        start: "2 2 1 2 3 . . . 1 . 2 . . . . . . .",
        solutions: &["0,3,4"],
    },
    LessonStep {
        title: "A turn",
        text: "Write a number into an empty cell. If it would make the sudoku impossible to solve, it \
               is taboo and struck out in red: whoever chooses it writes nothing, and the turn is over.",
        task: "Write any number into a cell.",
        rules: "m=2,n=2",
        start: "2 2 1 2 . . . . . . . . . . . . . .",
        solutions: &[],
    },
    LessonStep {
        title: "The end",
        text: "When the board is full, the player with more points wins. So do not fill the \
               second-to-last cell of a row, column or block: your opponent would complete it.",
        task: "You are one point behind. Fill the last cell, which completes a row, a column and a block.",
        rules: "m=2,n=2",
        start: "2 2 1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 . ; scores 5 6",
        solutions: &["3,3,1"],
    },
];
