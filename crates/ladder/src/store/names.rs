//! Names of owners, bots, pools and seasons.

use super::error::StoreError;

/// The most characters of a name.
const LONGEST: usize = 40;

/// A name that stands alike on pages, in files and on command lines.
pub(super) fn check<'a>(what: &str, name: &'a str) -> Result<&'a str, StoreError> {
    let is_fine = (1..=LONGEST).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && name.as_bytes()[0].is_ascii_alphanumeric();
    if is_fine {
        return Ok(name);
    }
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    Err(StoreError::refused(format!(
        "{article} {what}'s name has 1 to {LONGEST} of A-Z a-z 0-9 - _ . and begins with a letter or a digit"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        let longest = "a".repeat(LONGEST);
        for name in ["a", "0", "My-Bot_1.2", &longest] {
            assert!(check("bot", name).is_ok(), "{name}");
        }
        let longer = "a".repeat(LONGEST + 1);
        for name in ["", "-a", ".", "a b", "a\n", "<b>", "\u{e4}", "a/b", "a\0", &longer] {
            let said = check("bot", name).unwrap_err().to_string();
            assert!(said.starts_with("a bot's name has"), "{name}: {said}");
            let said = check("owner", name).unwrap_err().to_string();
            assert!(said.starts_with("an owner's name has"), "{name}: {said}");
        }
    }
}
