//! IJK explained to people who have never played it.

use plyd_core::engine::LessonStep;

pub(super) const STEPS: &[LessonStep] = &[
    LessonStep {
        title: "Aim",
        text: "Upper case letters are yours, lower case ones are the other player's. The first to own a \
               K wins. If the board fills up before that, the higher letter wins.",
        task: "Slide all tiles to any side: swipe, press an arrow key, or choose an arrow.",
        rules: "preset=v2-4x4",
        start: "A.../..../..A./.... +",
        solutions: &[],
    },
    LessonStep {
        title: "A turn",
        text: "Each turn, the player to move first gets a new A on the first empty cell, and then slides \
               all tiles, including the opponent's. Two equal letters that meet merge into the next one, \
               so A and A become B.",
        task: "Merge your two A's.",
        rules: "preset=v2-4x4",
        start: "A..A/.b../..../.... +",
        solutions: &["L", "R"],
    },
    LessonStep {
        title: "Merging",
        text: "Your tiles and the opponent's merge, too, and the new tile belongs to whoever moved. This \
               is how letters change hands.",
        task: "Slide so that your B takes the b.",
        rules: "preset=v2-4x4",
        start: "b.../..../.a../B... +",
        solutions: &["U", "D"],
    },
    LessonStep {
        title: "The end",
        text: "After I and J comes K: two J's make the K that ends the game.",
        task: "Make a K.",
        rules: "preset=v2-4x4,end=ply",
        start: "J..J/a.b./..../.... +",
        solutions: &["L", "R"],
    },
    LessonStep {
        title: "With chance",
        text: "In the variant with chance (New game, Variants, mode nondet), a new tile appears on a \
               random empty cell.",
        task: "Slide to any side and see where the opponent's tile appears.",
        rules: "preset=v2-4x4,mode=nondet",
        start: "A..b/..B./..../a... +",
        solutions: &[],
    },
];
