//! Knight Isolation explained to people who have never played it.

use plyd_core::engine::LessonStep;

pub(super) const STEPS: &[LessonStep] = &[
    LessonStep {
        title: "Aim",
        text: "Two knights on an empty board. Whoever cannot jump any more loses, so keep your own ways \
               open and close those of your opponent.",
        task: "The first move puts your knight on the board. Choose any cell.",
        rules: "width=5,height=5",
        start: "",
        solutions: &[],
    },
    LessonStep {
        title: "A turn",
        text: "Then each turn is a knight's jump: two cells in one direction and one to the side. The \
               cell that you leave is blocked for the rest of the game, for both.",
        task: "Jump to one of the marked cells, and see what becomes of the cell that you leave.",
        rules: "width=5,height=5",
        start: "...../...../..1../...../2.... 1",
        solutions: &[],
    },
    LessonStep {
        title: "The end",
        text: "More and more cells are blocked, until somebody has no jump left.",
        task: "Blue has a single cell left to jump to. Take it.",
        rules: "width=5,height=5",
        start: ".xx../x.1x2/x.x../..x../.x... 1",
        solutions: &["d4"],
    },
];
