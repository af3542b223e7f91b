//! plyd with the game my-game.

use std::process::ExitCode;

fn main() -> ExitCode {
    plyd::cli::main_with(&[&my_game::ENTRY])
}

#[cfg(test)]
mod tests {
    use plyd_core::engine::conformance;

    #[test]
    fn the_game_passes_the_checks_of_every_game() {
        conformance::all(&my_game::ENTRY).unwrap();
    }
}
