//! IJK explained to people who have never played it.

use plyd_core::engine::LessonStep;

pub(super) const STEPS: &[LessonStep] = &[
    LessonStep {
        title: "Aim",
        text: "Upper case letters are yours, lower case ones are the other player's. Who first owns a K \
               wins. If the board is full before, the higher letter wins.",
        task: "Slide all tiles to any side: swipe, press an arrow key, or choose an arrow.",
        rules: "preset=v2-4x4",
        start: "A.../..../..A./.... +",
        solutions: &[],
    },
    LessonStep {
        title: "A turn",
        text: "A turn begins with a new tile for the one who moves, an A, on the first empty cell; then \
               that player slides all tiles, those of both. Two equal letters that meet merge into the \
               next one, so A and A become B.",
        task: "Merge your two A.",
        rules: "preset=v2-4x4",
        start: "A..A/.b../..../.... +",
        solutions: &["L", "R"],
    },
    LessonStep {
        title: "Merging",
        text: "Yours and the other's merge, too, and the new tile belongs to whoever moved. This is how \
               letters change hands.",
        task: "Slide so that your B takes the b.",
        rules: "preset=v2-4x4",
        start: "b.../..../.a../B... +",
        solutions: &["U", "D"],
    },
    LessonStep {
        title: "The end",
        text: "I, J, K: two J make the K that ends the game.",
        task: "Make a K.",
        rules: "preset=v2-4x4,end=ply",
        start: "J..J/a.b./..../.... +",
        solutions: &["L", "R"],
    },
    LessonStep {
        title: "With chance",
        text: "In the variant with chance (in a new game behind Variants: mode nondet), a new tile \
               comes to any empty cell, each as likely.",
        task: "Slide to any side and see where the other's tile comes.",
        rules: "preset=v2-4x4,mode=nondet",
        start: "A..b/..B./..../a... +",
        solutions: &[],
    },
];
