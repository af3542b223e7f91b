//! What lies behind the objects of this module: a position whose game is known.

use super::{Doubt, Playable};
use crate::game::Root;

/// A root whose game is known.
pub(super) struct Typed<G: Playable> {
    pub(super) game: G,
    pub(super) root: Root<G>,
    pub(super) played: Vec<String>,
    pub(super) doubt: Option<Doubt>,
}
