//! Names of games: the module that each is in.

use crate::engine::conformance;

/// Names of modules that Rust or Cargo do not take, or that hide something: words of the language, types,
/// crates that the game's files use, files that are there, and folders of a build.
const RESERVED: &str = "
    abstract alloc as async aux await become bool box break build char con const continue core crate
    deps do dyn else enum examples extern f128 f16 f32 f64 false final fn for gen i128 i16 i32 i64
    i8 if impl in incremental isize let lib loop macro main match mod move mut nul override plyd
    priv prn proc_macro pub ref return self static std str struct super test tests trait
    true try type typeof u128 u16 u32 u64 u8 unsafe unsized use usize virtual where while yield
";

/// The module of a game of that name.
///
/// # Errors
/// It is no name for a game, and why.
pub(super) fn module(name: &str) -> Result<String, String> {
    conformance::name(name)?;
    let module = name.replace('-', "_");
    // Each crate of plyd has such a name.
    if RESERVED.split_whitespace().any(|word| word == module) || module.starts_with("plyd_") {
        return Err(format!(
            "`{name}` cannot be the name of a game, as Rust, Cargo or plyd use it; take another"
        ));
    }
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_modules_with_hyphens() {
        for (name, expected) in [("hex", "hex"), ("five-in-a-row", "five_in_a_row"), ("x2-4", "x2_4")] {
            assert_eq!(module(name).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn others_are_refused_with_a_reason() {
        assert!(module("Hex").unwrap_err().contains("is no name for a game"));
        for name in
            ["match", "self", "std", "plyd", "plyd-core", "plyd-arena", "main", "tests", "str", "proc-macro"]
        {
            let message = module(name).unwrap_err();
            assert!(message.contains("take another"), "{message}");
        }
    }
}
