//! Who plays whom next.
//!
//! The unit is an [`Encounter`]: two games of one opening with sides swapped, and with the same seed for
//! opening and chance, so that neither bot is luckier. They are played one after the other and so take one
//! of the games that a bot allows at once.
//!
//! Bots of one owner are never paired: all encounters are rated, and a loser who belongs to the winner would
//! be a gift.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use plyd_core::zobrist::{SplitMix64, mix};

use crate::BotId;
use crate::ratings::glicko::Standing;

/// Whose a bot is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// The ladder's own: it plays when it is asked, and asks nobody.
    House,
    /// An account's, by its number.
    Account(u64),
}

/// A bot that is ready to play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Candidate {
    /// The bot.
    pub bot: BotId,
    /// Whose it is.
    pub owner: Owner,
    /// What is known of its strength.
    pub standing: Standing,
    /// How many games more it takes now.
    pub slots: u32,
    /// How long it has been ready, or since it was last paired if that is later.
    pub waited: Duration,
    /// How many encounters it has had.
    pub encounters: u64,
    /// How many of them were with house bots.
    pub with_house: u64,
}

/// Two bots that meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encounter {
    /// Who meets; the first one is the first player of the first game.
    pub players: [BotId; 2],
    /// The seed of the opening and of chance, for both games.
    pub seed: u64,
}

/// One of the two games of an encounter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Game {
    /// The first player and the second one.
    pub players: [BotId; 2],
    /// The seed of the opening and of chance.
    pub seed: u64,
}

impl Encounter {
    /// Its games, in the order in which they are played.
    #[must_use]
    pub fn games(&self) -> [Game; 2] {
        let [first, second] = self.players;
        [[first, second], [second, first]].map(|players| Game { players, seed: self.seed })
    }
}

/// Pairs the bots that are ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matchmaker {
    /// How long a bot waits before a house bot may be its opponent.
    pub house_after: Duration,
    /// One of so many encounters of a bot may be with a house bot even if others are ready, so that the
    /// anchors hold the scale. The first may.
    pub house_every: u64,
}

impl Default for Matchmaker {
    /// Half a minute, and one of eight.
    fn default() -> Self {
        Self { house_after: Duration::from_secs(30), house_every: 8 }
    }
}

impl Matchmaker {
    /// Pairs bots until nobody is left who may be paired. `met` says how often two have met, the encounter
    /// that they may be in included. The same arguments give the same encounters, in whatever order the
    /// candidates are listed.
    ///
    /// Bots choose in the order of how long they have waited, each once before anyone chooses twice. They
    /// choose at random, in proportion to how much an encounter is expected to show of both strengths (see
    /// M. E. Glickman, "Parameter estimation in large dynamic paired comparison experiments" 1999: most if
    /// the strengths are near, or unknown), and in inverse proportion to how often the two have met.
    ///
    /// Nobody starves. Each round in which a bot could be paired and is not, one that waited as long or
    /// longer is paired, and then waits less than this one: so a bot is paired, at the latest, in as many
    /// such rounds as there are bots.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use plyd_ladder::BotId;
    /// use plyd_ladder::pairing::{Candidate, Matchmaker, Owner};
    /// use plyd_ladder::ratings::glicko::{Rating, Standing};
    ///
    /// let ready = |bot, owner| Candidate {
    ///     bot: BotId(bot),
    ///     owner: Owner::Account(owner),
    ///     standing: Standing::Rated(Rating::default()),
    ///     slots: 1,
    ///     waited: Duration::ZERO,
    ///     encounters: 0,
    ///     with_house: 0,
    /// };
    /// let bots = [ready(1, 7), ready(2, 7), ready(3, 8)];
    /// let encounters = Matchmaker::default().pair(&bots, |_| 0, 0);
    /// // Two of them have one owner.
    /// assert!(encounters.len() == 1 && encounters[0].players.contains(&BotId(3)));
    /// ```
    #[must_use]
    pub fn pair(
        &self,
        candidates: &[Candidate],
        met: impl Fn([BotId; 2]) -> u64,
        seed: u64,
    ) -> Vec<Encounter> {
        let mut random = SplitMix64::new(seed);
        let salt = random.next();
        let mut ready: Vec<Candidate> = candidates.to_vec();
        ready.sort_by_key(|bot| (Reverse(bot.waited), mix(salt ^ mix(bot.bot.0)), bot.bot));
        let mut encounters: Vec<Encounter> = Vec::new();
        // How often two have met now, by their places.
        let mut now: HashMap<[usize; 2], u64> = HashMap::new();
        loop {
            let before = encounters.len();
            let mut paired = vec![false; ready.len()];
            for place in 0..ready.len() {
                if paired[place] || ready[place].owner == Owner::House || ready[place].slots == 0 {
                    continue;
                }
                let met = |other: usize| {
                    let now = now.get(&[place.min(other), place.max(other)]).unwrap_or(&0);
                    met([ready[place].bot, ready[other].bot]) + now
                };
                let Some(other) = self.choose(place, &ready, met, &mut random) else { continue };
                *now.entry([place.min(other), place.max(other)]).or_default() += 1;
                for (one, opponent) in [(place, other), (other, place)] {
                    paired[one] = true;
                    let house = ready[opponent].owner == Owner::House;
                    let bot = &mut ready[one];
                    bot.slots -= 1;
                    bot.encounters += 1;
                    bot.with_house += u64::from(house);
                }
                let mut players = [ready[place].bot, ready[other].bot];
                if random.below(2) == 1 {
                    players.reverse();
                }
                encounters.push(Encounter { players, seed: random.next() });
            }
            if encounters.len() == before {
                return encounters;
            }
        }
    }

    /// An opponent, drawn with its weight (Efraimidis and Spirakis, "Weighted random sampling with a
    /// reservoir" 2006); none if nobody may be paired with this bot.
    fn choose(
        &self,
        place: usize,
        ready: &[Candidate],
        met: impl Fn(usize) -> u64,
        random: &mut SplitMix64,
    ) -> Option<usize> {
        let bot = &ready[place];
        let drawn = |other: usize| {
            let weight = bot.standing.information(&ready[other].standing) / (1.0 + met(other) as f64);
            let uniform = ((random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            // An exponential time to wait: the shortest of several is one's own in proportion to its weight.
            (other, -uniform.ln() / weight)
        };
        (0..ready.len())
            .filter(|other| self.may_meet(bot, &ready[*other]))
            .map(drawn)
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(other, _)| other)
    }

    /// Whether a bot may choose another one.
    fn may_meet(&self, bot: &Candidate, other: &Candidate) -> bool {
        let house_is_due = bot.with_house.saturating_mul(self.house_every) <= bot.encounters;
        other.slots > 0
            && bot.owner != other.owner
            && (other.owner != Owner::House || house_is_due || bot.waited >= self.house_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratings::glicko::Rating;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn bot(bot: u64, owner: u64, elo: f64) -> Candidate {
        Candidate {
            bot: BotId(bot),
            owner: Owner::Account(owner),
            standing: Standing::Rated(Rating { elo, deviation: 60.0, volatility: 0.06 }),
            slots: 1,
            waited: Duration::ZERO,
            encounters: 100,
            with_house: 50,
        }
    }

    fn house(bot: u64, elo: f64) -> Candidate {
        Candidate {
            owner: Owner::House,
            standing: Standing::Anchor(elo),
            slots: 1000,
            ..self::bot(bot, 0, elo)
        }
    }

    /// How often the first candidate meets each other one.
    fn opponents(candidates: &[Candidate], met: impl Fn([BotId; 2]) -> u64) -> BTreeMap<u64, usize> {
        let of = candidates[0].bot;
        let mut counts = BTreeMap::new();
        for seed in 0..2000 {
            for encounter in Matchmaker::default().pair(candidates, &met, seed) {
                if let Some(at) = encounter.players.iter().position(|player| *player == of) {
                    *counts.entry(encounter.players[1 - at].0).or_default() += 1;
                }
            }
        }
        counts
    }

    #[test]
    fn both_games_have_the_same_chance_and_sides_swapped() {
        let encounter = Encounter { players: [BotId(1), BotId(2)], seed: 5 };
        let [first, second] = encounter.games();
        assert_eq!((first.players, first.seed), ([BotId(1), BotId(2)], 5));
        assert_eq!((second.players, second.seed), ([BotId(2), BotId(1)], 5));
        // Neither bot is more often the first to be first.
        let bots = [bot(1, 1, 1500.0), bot(2, 2, 1500.0)];
        let pair = |seed| Matchmaker::default().pair(&bots, |_| 0, seed)[0];
        let first = (0..1000).filter(|seed| pair(*seed).players[0] == BotId(1)).count();
        assert!((400..600).contains(&first), "{first}");
        let seeds: BTreeSet<u64> = (0..1000).map(|seed| pair(seed).seed).collect();
        assert_eq!(seeds.len(), 1000);
    }

    #[test]
    fn near_and_uncertain_and_new_opponents_come_more_often() {
        let waiting = |candidate| Candidate { waited: Duration::from_secs(1), ..candidate };
        let others = |first: Candidate, second: Candidate| [waiting(bot(1, 1, 1500.0)), first, second];
        let near = opponents(&others(bot(2, 2, 1550.0), bot(3, 3, 1900.0)), |_| 0);
        assert!(near[&2] > 2 * near[&3], "{near:?}");
        let unsure = Standing::Rated(Rating { elo: 1500.0, ..Rating::default() });
        let uncertain = Candidate { standing: unsure, ..bot(2, 2, 1500.0) };
        let uncertain = opponents(&others(uncertain, bot(3, 3, 1500.0)), |_| 0);
        assert!(uncertain[&2] > 2 * uncertain[&3], "{uncertain:?}");
        let often = |players: [BotId; 2]| if players.contains(&BotId(3)) { 9 } else { 0 };
        let new = opponents(&others(bot(2, 2, 1500.0), bot(3, 3, 1500.0)), often);
        // 1 to 1/10.
        assert!((8..13).contains(&(new[&2] / new[&3])), "{new:?}");
    }

    #[test]
    fn house_bots_fill_in_and_ask_nobody() {
        let due = Candidate { with_house: 12, ..bot(1, 1, 1500.0) };
        let not_due = bot(1, 1, 1500.0);
        let waited_long = Candidate { waited: Matchmaker::default().house_after, ..not_due };
        let houses = [house(8, 1500.0), house(9, 1600.0)];
        let paired =
            |first: Candidate| Matchmaker::default().pair(&[first, houses[0], houses[1]], |_| 0, 1).len();
        assert_eq!([due, not_due, waited_long].map(paired), [1, 0, 1]);
        // Two games at once: the second is no longer due.
        assert_eq!(paired(Candidate { slots: 2, ..due }), 1);
        assert_eq!(paired(Candidate { slots: 2, ..waited_long }), 2);
        assert_eq!(Matchmaker::default().pair(&houses, |_| 0, 1), []);
        assert_eq!(Matchmaker::default().pair(&[], |_| 0, 1), []);
    }

    #[test]
    fn a_bot_infinitely_far_away_is_better_than_none() {
        let far = [bot(1, 1, 1e5), bot(2, 2, -1e5)];
        assert_eq!(Matchmaker::default().pair(&far, |_| u64::MAX / 2, 1).len(), 1);
    }

    fn any_candidate() -> impl Strategy<Value = Candidate> {
        let house = prop_oneof![9 => Just(false), 1 => Just(true)];
        (house, 0_u64..6, 0.0..3000.0, 1.0..350.0, 0_u32..5, 0_u64..60, 0_u64..40, 0_u64..40).prop_map(
            |(house, owner, elo, deviation, slots, waited, encounters, with_house)| Candidate {
                bot: BotId(0),
                owner: if house { Owner::House } else { Owner::Account(owner) },
                standing: match house {
                    true => Standing::Anchor(elo),
                    false => Standing::Rated(Rating { elo, deviation, volatility: 0.06 }),
                },
                slots,
                waited: Duration::from_secs(waited),
                encounters: encounters + with_house,
                with_house,
            },
        )
    }

    fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
        proptest::collection::vec(any_candidate(), 0..25).prop_map(|mut candidates| {
            (0_u64..).zip(&mut candidates).for_each(|(number, candidate)| candidate.bot = BotId(number));
            candidates
        })
    }

    proptest! {
        #[test]
        fn pairings_are_allowed_and_leave_nobody_who_could_play(
            candidates in any_candidates(), seed: u64, shift in 0_usize..25,
        ) {
            let matchmaker = Matchmaker::default();
            let met = |[first, second]: [BotId; 2]| (first.0 * second.0) % 7;
            let encounters = matchmaker.pair(&candidates, met, seed);
            let mut left: BTreeMap<BotId, Candidate> =
                candidates.iter().map(|candidate| (candidate.bot, *candidate)).collect();
            for encounter in &encounters {
                let owners = encounter.players.map(|player| left[&player].owner);
                prop_assert_ne!(owners[0], owners[1]);
                for at in [0, 1] {
                    let player = left.get_mut(&encounter.players[at]).unwrap();
                    prop_assert!(player.slots > 0, "{:?}", player);
                    player.slots -= 1;
                    player.encounters += 1;
                    player.with_house += u64::from(owners[1 - at] == Owner::House);
                }
            }
            for one in left.values().filter(|one| one.owner != Owner::House && one.slots > 0) {
                let could = left.values().find(|other| matchmaker.may_meet(one, other));
                prop_assert!(could.is_none(), "{:?} {:?}", one, could);
            }
            // From state and seed alone.
            let mut otherwise = candidates.clone();
            otherwise.rotate_left(shift % candidates.len().max(1));
            prop_assert_eq!(matchmaker.pair(&otherwise, met, seed), encounters);
        }

        /// Bots come and go, and games take their time: whoever could have been paired in as many rounds as
        /// there are bots is paired.
        #[test]
        fn nobody_starves(candidates in any_candidates(), seed: u64) {
            let matchmaker = Matchmaker::default();
            let mut random = SplitMix64::new(seed);
            let bots = candidates.iter().filter(|candidate| candidate.owner != Owner::House).count();
            let mut state = candidates.clone();
            let mut met: HashMap<[BotId; 2], u64> = HashMap::new();
            let mut running: Vec<(usize, Encounter)> = Vec::new();
            // Rounds since its last encounter in which a bot could have been paired.
            let mut missed = vec![0; state.len()];
            for round in 0..200 {
                running.retain(|(end, encounter)| {
                    let ended = *end <= round;
                    encounter.players.iter().for_each(|player| {
                        state[player.0 as usize].slots += u32::from(ended);
                    });
                    !ended
                });
                // Whoever leaves and comes back begins to wait anew.
                let ready: Vec<Candidate> = state
                    .iter_mut()
                    .enumerate()
                    .filter_map(|(at, candidate)| {
                        candidate.waited += Duration::from_secs(1);
                        let leaves = random.below(10) == 0;
                        if leaves {
                            (candidate.waited, missed[at]) = (Duration::ZERO, 0);
                        }
                        (!leaves).then_some(*candidate)
                    })
                    .collect();
                let known = |[first, second]: [BotId; 2]| {
                    met.get(&[first.min(second), first.max(second)]).copied().unwrap_or(0)
                };
                let encounters = matchmaker.pair(&ready, known, random.next());
                for one in ready.iter().filter(|one| one.owner != Owner::House && one.slots > 0) {
                    missed[one.bot.0 as usize] += usize::from(ready.iter().any(|other| matchmaker.may_meet(one, other)));
                }
                for encounter in encounters {
                    let [first, second] = encounter.players;
                    *met.entry([first.min(second), first.max(second)]).or_default() += 1;
                    for player in encounter.players {
                        let at = player.0 as usize;
                        state[at].slots -= 1;
                        (state[at].waited, missed[at]) = (Duration::ZERO, 0);
                    }
                    running.push((round + 1 + random.below(5), encounter));
                }
                prop_assert!(missed.iter().all(|missed| *missed < bots.max(1)), "{:?} of {}", missed, bots);
            }
        }
    }
}
