//! The rules `preset`, `m`, `n` and `seed`, and what a start text says about them.

use super::grid::Grid;
use super::shape::Shape;
use plyd_core::game::{Kind, OpenError, Rules, Spec};
use plyd_core::zobrist::{SplitMix64, mix};

const BLOCK: Kind =
    Kind::Int { min: *Grid::BLOCK.start() as i64, max: *Grid::BLOCK.end() as i64, default: Some(3) };

/// The rules that set the board and where each player may play.
pub(super) const RULES: &[Spec] = &[
    Spec {
        name: "preset",
        kind: Kind::Choice(&["classic", "rows", "border", "random"]),
        about: "Where each player may play. classic: everywhere. The others: on the cells of a set of their own and beside \
                cells that they have filled; the set is the first or the last row, the border, or random cells, as many as \
                a row has.",
    },
    Spec { name: "m", kind: BLOCK, about: "Rows of a block." },
    Spec { name: "n", kind: BLOCK, about: "Columns of a block; m times n values." },
    Spec { name: "seed", kind: Kind::Seed, about: "Draws the cells of the preset `random`." },
];

/// Where the players may play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// Everywhere.
    Classic,
    /// The first player in the first row, the second in the last, both beside their own cells.
    Rows,
    /// Both on the border and beside their own cells.
    Border,
    /// Each on as many random cells as a row has and beside own cells.
    Random,
}

impl Preset {
    /// The presets in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Classic, Self::Rows, Self::Border, Self::Random];

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Rows => "rows",
            Self::Border => "border",
            Self::Random => "random",
        }
    }

    /// The cells that the preset allows each player, ascending; none in `classic`, which has no limit.
    #[must_use]
    pub(super) fn allowed(self, grid: &Grid, seed: u64) -> Option<[Vec<u16>; 2]> {
        let (side, cells) = (grid.side(), grid.cells() as u16);
        match self {
            Self::Classic => None,
            Self::Rows => Some([grid.regions()[0].clone(), grid.regions()[side - 1].clone()]),
            Self::Border => {
                let is_border = |&cell: &u16| {
                    let (row, column) = grid.place(cell.into());
                    [row, column].iter().any(|&at| at == 0 || at + 1 == side)
                };
                let border: Vec<u16> = (0..cells).filter(is_border).collect();
                Some([border.clone(), border])
            }
            Self::Random => {
                let mut random = SplitMix64::new(mix(seed));
                let mut drawn: Vec<u16> = (0..cells).collect();
                // The first steps of a Fisher-Yates shuffle.
                for at in 0..2 * side {
                    let other = at + random.below(drawn.len() - at);
                    drawn.swap(at, other);
                }
                let mut sets = [drawn[..side].to_vec(), drawn[side..2 * side].to_vec()];
                sets.iter_mut().for_each(|set| set.sort_unstable());
                Some(sets)
            }
        }
    }
}

/// What a start text says about the game: its shape, and what belongs to presets other than `classic`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatedRules {
    /// Rows and columns of a block.
    pub shape: (usize, usize),
    /// The cells that each player is allowed, if the text lists them.
    pub allowed: [Option<Vec<u16>>; 2],
    /// Whether the text gives cells to players.
    pub has_owners: bool,
}

/// The game that is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Rows and columns of a block.
    pub shape: (usize, usize),
    /// Where the players may play.
    pub preset: Preset,
    /// The cells that each player is allowed, ascending; none in `classic`.
    pub allowed: Option<[Vec<u16>; 2]>,
    /// The seed that drew these cells, if one did.
    pub seed: Option<u64>,
    /// Whether the text lists allowed cells: then it is written with them, whether or not the preset says the
    /// same, so that it means the same without the preset.
    pub is_listed: bool,
}

impl Choice {
    /// The game that the rules and a start text ask for.
    ///
    /// # Errors
    /// [`OpenError::Impossible`] if the text contradicts an explicit rule, or does not determine the preset.
    pub fn new(rules: &Rules, stated: Option<&StatedRules>) -> Result<Self, OpenError> {
        let block = |name, stated: Option<usize>| {
            let given = rules.int(name).map(|value| value as usize);
            match (given, stated) {
                (Some(given), Some(stated)) if given != stated => Err(OpenError::Impossible(format!(
                    "the start has {name} {stated}, but the rules ask for {given}"
                ))),
                _ => Ok(stated.or(given).unwrap_or(3)),
            }
        };
        let shape = (
            block("m", stated.map(|stated| stated.shape.0))?,
            block("n", stated.map(|stated| stated.shape.1))?,
        );
        let grid = &Shape::of(shape.0, shape.1).grid;
        let explicit = rules
            .text("preset")
            .and_then(|name| Preset::ALL.into_iter().find(|preset| preset.name() == name));
        let seed = rules.text("seed").and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0);
        let [first, second] = stated.map_or([None, None], |stated| stated.allowed.clone());
        let is_listed = first.is_some() || second.is_some();
        if explicit.unwrap_or(Preset::Classic) == Preset::Classic {
            let in_text = match (explicit, first, second) {
                (None, Some(first), Some(second)) => {
                    let allowed = [first, second];
                    let preset = [Preset::Rows, Preset::Border]
                        .into_iter()
                        .find(|preset| preset.allowed(grid, seed).as_ref() == Some(&allowed))
                        .unwrap_or(Preset::Random);
                    return Ok(Self { shape, preset, allowed: Some(allowed), seed: None, is_listed });
                }
                (_, None, None) if stated.is_none_or(|stated| !stated.has_owners) => {
                    return Ok(Self { shape, preset: Preset::Classic, allowed: None, seed: None, is_listed });
                }
                (_, None, None) => "cells that belong to players",
                _ => "cells that a player is allowed",
            };
            return Err(OpenError::Impossible(format!(
                "the preset classic has no {in_text}: name another preset, or both `allowed1` and `allowed2`"
            )));
        }
        let preset = explicit.unwrap_or(Preset::Classic);
        let seed = (preset == Preset::Random && (first.is_none() || second.is_none())).then_some(seed);
        let allowed = preset
            .allowed(grid, seed.unwrap_or(0))
            .map(|[own, other]| [first.unwrap_or(own), second.unwrap_or(other)]);
        Ok(Self { shape, preset, allowed, seed, is_listed })
    }

    /// Whether both have the same rules, however a text says so.
    pub(super) fn is_same_game(&self, other: &Self) -> bool {
        Self { is_listed: other.is_listed, ..self.clone() } == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::game::Setting;

    fn rules(text: &str) -> Rules {
        let setting = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            let spec = RULES.iter().find(|spec| spec.name == name).unwrap();
            let number = value.parse().ok().filter(|_| spec.kind == BLOCK).map(Setting::Int);
            (spec.name, number.unwrap_or_else(|| Setting::from(value)))
        };
        Rules::new(text.split_whitespace().map(setting).collect())
    }

    #[test]
    fn presets_allow_the_cells_of_their_rule() {
        for (m, n) in [(2, 2), (2, 3), (3, 3), (4, 4)] {
            let grid = Grid::new(m, n);
            let (side, cells) = (m * n, (m * n * m * n) as u16);
            let allowed = |preset: Preset, seed| preset.allowed(&grid, seed).unwrap();
            assert_eq!(Preset::Classic.allowed(&grid, 0), None);
            let rows = [(0..side as u16).collect::<Vec<_>>(), (cells - side as u16..cells).collect()];
            assert_eq!(allowed(Preset::Rows, 0), rows);
            let border = allowed(Preset::Border, 0);
            assert_eq!((border[0].len(), &border[0]), (4 * side - 4, &border[1]));
            let [first, second] = allowed(Preset::Random, 5);
            assert_eq!((first.len(), second.len()), (side, side));
            assert!(first.is_sorted() && first.iter().all(|cell| !second.contains(cell) && *cell < cells));
            assert_eq!(allowed(Preset::Random, 5), [first.clone(), second]);
            assert_ne!(allowed(Preset::Random, 6)[0], first);
        }
    }

    #[test]
    fn rules_and_starts_agree_on_a_game() {
        let stated = |shape, allowed: [Option<&[u16]>; 2], has_owners| {
            Some(StatedRules { shape, allowed: allowed.map(|set| set.map(<[u16]>::to_vec)), has_owners })
        };
        let (rows, corners): ([&[u16]; 2], [&[u16]; 2]) = ([&[0, 1, 2, 3], &[12, 13, 14, 15]], [&[0], &[15]]);
        type Row<'a> = (&'a str, Option<StatedRules>, Option<((usize, usize), Preset)>);
        let table: &[Row<'_>] = &[
            ("", None, Some(((3, 3), Preset::Classic))),
            ("m=2", None, Some(((2, 3), Preset::Classic))),
            ("preset=rows n=4", None, Some(((3, 4), Preset::Rows))),
            ("", stated((2, 2), [None, None], false), Some(((2, 2), Preset::Classic))),
            ("m=2 n=2", stated((2, 2), [None, None], false), Some(((2, 2), Preset::Classic))),
            ("m=3", stated((2, 2), [None, None], false), None),
            ("", stated((2, 2), [None, None], true), None),
            ("preset=border", stated((2, 2), [None, None], true), Some(((2, 2), Preset::Border))),
            ("preset=classic", stated((2, 2), [Some(rows[0]), Some(rows[1])], false), None),
            ("", stated((2, 2), [Some(rows[0]), None], false), None),
            ("", stated((2, 2), [Some(rows[0]), Some(rows[1])], true), Some(((2, 2), Preset::Rows))),
            ("", stated((2, 2), [Some(corners[0]), Some(corners[1])], true), Some(((2, 2), Preset::Random))),
            ("preset=rows", stated((2, 2), [None, Some(corners[1])], true), Some(((2, 2), Preset::Rows))),
        ];
        for (given, stated, expected) in table {
            let choice = Choice::new(&rules(given), stated.as_ref());
            let chosen = choice.as_ref().ok().map(|choice| (choice.shape, choice.preset));
            assert_eq!(chosen, *expected, "{given} {stated:?}");
            if let (Ok(choice), Some(stated)) = (choice, stated) {
                for (side, set) in stated.allowed.iter().enumerate() {
                    assert!(set.as_ref().is_none_or(|set| choice.allowed.as_ref().unwrap()[side] == *set));
                }
            }
        }
        let seed = |text| Choice::new(&rules(text), None).unwrap().seed;
        assert_eq!((seed("preset=random seed=1f"), seed("seed=1f")), (Some(31), None));
    }
}
