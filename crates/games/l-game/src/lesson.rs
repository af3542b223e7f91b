//! The L Game explained to people who have never played it.

use plyd_core::engine::LessonStep;

pub(super) const STEPS: &[LessonStep] = &[
    LessonStep {
        title: "Aim",
        text: "Each player has one L, and the two grey tokens are nobody's. You win when the other L \
               has no other place to go.",
        task: "Put your L, the orange one, anywhere else: click it, then click where it should lie. Turn \
               it with the buttons.",
        rules: "neutrals=none",
        start: "",
        solutions: &[],
    },
    LessonStep {
        title: "A turn",
        text: "A turn has two parts. Lift your L and put it down on four other free cells, turned or \
               mirrored as you like; some may be cells where it was. Then you may move one token to any \
               free cell.",
        task: "Move your L. Then move a token, or keep both where they are.",
        rules: "",
        start: "",
        solutions: &[],
    },
    LessonStep {
        title: "The end",
        text: "A player whose L has nowhere else to go loses. So look for places that leave the other L \
               no room.",
        task: "Blue has only a few places to go. Put your L where it leaves none.",
        rules: "neutrals=none",
        start: "3 3 N 1 2 2 4 4 4 W 1",
        solutions: &["3 1 W", "3 3 W"],
    },
];
