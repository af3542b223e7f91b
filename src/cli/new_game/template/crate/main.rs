//! plyd with the game my-game.

use std::process::ExitCode;

mod my_game;

fn main() -> ExitCode {
    plyd::cli::main_with(&[&my_game::ENTRY])
}

#[cfg(test)]
mod tests {
    use plyd_core::engine::conformance;

    use super::my_game::ENTRY;

    #[test]
    fn the_game_passes_the_checks_of_every_game() {
        conformance::all(&ENTRY).unwrap();
    }
}
