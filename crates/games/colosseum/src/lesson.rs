//! Colosseum Survival explained to people who have never played it.

use plyd_core::engine::LessonStep;

pub(super) const STEPS: &[LessonStep] = &[
    LessonStep {
        title: "Aim",
        text: "The players build walls until no path connects them. Then each counts the cells that \
               they can still reach: the larger zone wins.",
        task: "Walk to any marked cell, then choose the side of it where the wall goes.",
        rules: "size=5",
        start: "5 4,1 0,3 11R,21D 1",
        solutions: &[],
    },
    LessonStep {
        title: "A turn",
        text: "Each turn you walk a few steps, but not through walls or the other player. Then you must \
               build one wall on a side of your cell. You may also stay where you are.",
        task: "Stay where you are: choose your own cell, then a side for the wall.",
        rules: "size=5",
        start: "5 4,1 0,3 11R,21D 1",
        solutions: &["41u", "41r", "41l"],
    },
    LessonStep {
        title: "The end",
        text: "The wall that closes the last way ends the game. Close it when your side is the larger \
               one.",
        task: "One gap is left in the wall between you, and the left side is larger. Walk to the gap \
               and close it on the right.",
        rules: "size=5",
        start: "5 2,1 2,3 02R,12R,32R,42R 1",
        solutions: &["22r"],
    },
];
