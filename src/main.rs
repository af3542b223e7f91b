//! The command `plyd`.

fn main() -> std::process::ExitCode {
    plyd::cli::main()
}
