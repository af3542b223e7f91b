//! The variants of the game: how many of the two neutral tokens a turn may move.

use super::board::{PAIRS, Pairs, pair_of};

/// How many tokens a turn moves.
///
/// ```
/// use plyd_l_game::Neutrals;
///
/// assert_eq!(Neutrals::named("both"), Some(Neutrals::Both));
/// assert_eq!(Neutrals::ALL.map(Neutrals::name), Neutrals::NAMES);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Neutrals {
    /// None or one: the game as de Bono made it.
    One,
    /// None, one or both.
    Both,
    /// Exactly one.
    Compulsory,
    /// None.
    None,
}

impl Neutrals {
    /// All variants, in the order of [`Neutrals::NAMES`].
    pub const ALL: [Self; 4] = [Self::One, Self::Both, Self::Compulsory, Self::None];
    /// The variants' names; the first is the default.
    pub const NAMES: [&'static str; 4] = ["one", "both", "compulsory", "none"];

    /// The variant's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The variant of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(|index| Self::ALL[index])
    }

    /// How many token moves there are for each placement of the L: the six other free cells, for none, one or
    /// both of the tokens.
    pub(super) const fn choices(self) -> u32 {
        match self {
            Self::One => 13,
            Self::Both => 28,
            Self::Compulsory => 12,
            Self::None => 1,
        }
    }

    /// The pairs that a turn may leave the tokens of each pair on, were the board empty. The relation is
    /// symmetric, which the retrograde solution rests on.
    pub(super) fn reach(self) -> &'static [Pairs; PAIRS] {
        &REACH[self as usize]
    }
}

static REACH: [[Pairs; PAIRS]; 4] = [
    reach([false, true, true]),
    reach([true, true, true]),
    reach([false, true, false]),
    reach([false, false, true]),
];

/// The pairs that share with each pair a number of cells that `allowed` allows.
const fn reach(allowed: [bool; 3]) -> [Pairs; PAIRS] {
    let mut table = [0; PAIRS];
    let mut high = 1;
    while high < 16 {
        let mut low = 0;
        while low < high {
            let from = pair_of(low, high) as usize;
            let mut to_high = 1;
            while to_high < 16 {
                let mut to_low = 0;
                while to_low < to_high {
                    let kept: u32 = (1_u32 << low | 1 << high) & (1 << to_low | 1 << to_high);
                    if allowed[kept.count_ones() as usize] {
                        table[from] |= 1 << pair_of(to_low, to_high);
                    }
                    to_low += 1;
                }
                to_high += 1;
            }
            low += 1;
        }
        high += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variants_match() {
        for neutrals in Neutrals::ALL {
            assert_eq!(Neutrals::named(neutrals.name()), Some(neutrals));
        }
        assert_eq!(Neutrals::named("two"), None);
    }

    #[test]
    fn reach_is_symmetric() {
        for neutrals in Neutrals::ALL {
            let reach = neutrals.reach();
            for from in 0..PAIRS {
                for to in 0..PAIRS {
                    assert_eq!(reach[from] >> to & 1, reach[to] >> from & 1, "{neutrals:?} {from} {to}");
                }
            }
        }
    }
}
