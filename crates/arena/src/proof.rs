//! Announced proofs: compared with the outcome of the game, and with each other.
//!
//! Only what the announcing player could have kept counts: a proven loss that the opponent lets slip is no
//! contradiction, nor is a game that the player forfeits.

use plyd_protocol::{Bound, Player, ProofOutcome};

use super::played::{Answered, Contradiction, other};

/// How the game ended, as far as it matters to proofs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// With this winner, or drawn, by the rules of the game or by what both players proved.
    Won(Option<Player>),
    /// The referee ended it as a draw.
    Cut,
    /// A player forfeited.
    Forfeit(Player),
}

/// The end of the game that both players proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Agreed {
    /// Who wins; none: it is a draw.
    pub(super) winner: Option<Player>,
}

/// What both players proved with their latest answers, if that is the same. One player's word is not enough:
/// it may be wrong, and the match is to find out which player is better.
pub(super) fn agreed(answers: &[Answered]) -> Option<Agreed> {
    let latest = |player| answers.iter().rev().find(|answered| answered.player == player);
    let proven = proven(latest(Player::P1)?)?;
    (self::proven(latest(Player::P2)?)? == proven).then_some(proven)
}

/// How the game ends if the announcement is right and its player keeps to it.
fn proven(answered: &Answered) -> Option<Agreed> {
    let score = answered.score?;
    let winner = match (score.proof?.outcome, score.bound) {
        (ProofOutcome::Win, Bound::Exact | Bound::Lower) => Some(answered.player),
        (ProofOutcome::Loss, Bound::Exact | Bound::Upper) => Some(other(answered.player)),
        (ProofOutcome::Draw, Bound::Exact) => None,
        _ => return None,
    };
    Some(Agreed { winner })
}

/// The first contradicted proof of each player.
pub(super) fn contradictions(answers: &[Answered], ending: Ending) -> Vec<Contradiction> {
    [Player::P1, Player::P2]
        .into_iter()
        .filter_map(|player| {
            answers.iter().enumerate().filter(|(_, answered)| answered.player == player).find_map(
                |(answer, answered)| {
                    let message = contradiction(answered, answers.len() - answer, ending)?;
                    Some(Contradiction { player, answer, message })
                },
            )
        })
        .collect()
}

/// What is wrong with an announcement after which `moves` moves were played, including its own.
fn contradiction(answered: &Answered, moves: usize, ending: Ending) -> Option<String> {
    let score = answered.score.filter(|score| score.bound != Bound::Upper)?;
    let proof = score.proof?;
    if matches!(ending, Ending::Forfeit(loser) if loser == answered.player) {
        return None;
    }
    let winner = match ending {
        Ending::Won(winner) => Some(winner),
        Ending::Cut | Ending::Forfeit(_) => None,
    };
    let won = Some(answered.player);
    match proof.outcome {
        ProofOutcome::Win => {
            let limit = proof.plies.or(proof.plies_max).filter(|plies| moves > *plies as usize);
            match (winner, limit) {
                (Some(winner), _) if winner != won => {
                    let end = if winner.is_some() { "lost" } else { "drew" };
                    Some(format!("announced a win and {end}"))
                }
                (_, Some(plies)) => Some(format!("announced a win in {plies} and played {moves}")),
                _ => None,
            }
        }
        ProofOutcome::Draw => {
            let lost = winner.flatten().is_some_and(|winner| winner != answered.player);
            lost.then(|| "announced a draw and lost".to_owned())
        }
        ProofOutcome::Loss => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::{Proof, Score};

    fn answered(player: Player, score: Option<Score>) -> Answered {
        Answered {
            player,
            time_us: 0,
            granted_us: None,
            own_us: None,
            left_us: None,
            forgiven_us: None,
            score,
            incident: None,
        }
    }

    fn announced(
        bound: Bound,
        outcome: ProofOutcome,
        plies: Option<u32>,
        plies_max: Option<u32>,
    ) -> Answered {
        let proof = Some(Proof { outcome, plies, plies_max, margin: None });
        let score = Some(Score { bound, eval: None, wdl: None, proof });
        answered(Player::P1, score)
    }

    /// Player 1 announces, then three arbitrary moves follow.
    fn game(announced: &Answered) -> Vec<Answered> {
        let silent = |player| answered(player, None);
        vec![announced.clone(), silent(Player::P2), silent(Player::P1), silent(Player::P2)]
    }

    #[test]
    fn what_a_player_could_have_kept_is_held_against_it() {
        use Bound::{Exact, Lower, Upper};
        use ProofOutcome::{Draw, Loss, Win};
        let [won, lost, drawn] = [Some(Player::P1), Some(Player::P2), None].map(Ending::Won);
        let forfeits = Ending::Forfeit;
        for (answered, ending, message) in [
            (announced(Exact, Win, Some(4), None), won, None),
            (announced(Exact, Win, Some(3), None), won, Some("announced a win in 3 and played 4")),
            (announced(Exact, Win, None, Some(3)), won, Some("announced a win in 3 and played 4")),
            (announced(Exact, Win, None, None), won, None),
            (announced(Exact, Win, Some(9), None), lost, Some("announced a win and lost")),
            (announced(Lower, Win, None, None), drawn, Some("announced a win and drew")),
            (announced(Upper, Win, None, None), lost, None),
            (announced(Exact, Win, Some(9), None), Ending::Cut, None),
            (announced(Exact, Win, Some(3), None), Ending::Cut, Some("announced a win in 3 and played 4")),
            (announced(Exact, Win, Some(9), None), forfeits(Player::P2), None),
            (announced(Exact, Win, Some(3), None), forfeits(Player::P1), None),
            (announced(Exact, Draw, None, None), lost, Some("announced a draw and lost")),
            (announced(Lower, Draw, None, None), lost, Some("announced a draw and lost")),
            (announced(Upper, Draw, None, None), lost, None),
            (announced(Exact, Draw, None, None), won, None),
            (announced(Exact, Draw, None, None), drawn, None),
            (announced(Exact, Draw, None, None), Ending::Cut, None),
            (announced(Exact, Loss, Some(2), None), won, None),
            (announced(Exact, Loss, Some(2), None), lost, None),
        ] {
            let found = contradictions(&game(&answered), ending);
            assert_eq!(found.first().map(|found| &*found.message), message, "{answered:?} {ending:?}");
            assert!(found.iter().all(|found| (found.player, found.answer) == (Player::P1, 0)));
        }
    }

    #[test]
    fn a_game_is_adjudicated_where_both_players_prove_the_same() {
        use Bound::{Exact, Lower, Upper};
        use Player::{P1, P2};
        use ProofOutcome::{Draw, Loss, Win};
        let proves = |player, bound, outcome| Answered { player, ..announced(bound, outcome, None, None) };
        let silent = |player| answered(player, None);
        for (answers, expected) in [
            (vec![], None),
            (vec![proves(P1, Exact, Win)], None),
            (vec![proves(P1, Exact, Win), silent(P2)], None),
            (vec![proves(P1, Exact, Win), proves(P2, Exact, Loss)], Some(Some(P1))),
            (vec![proves(P1, Lower, Win), proves(P2, Upper, Loss)], Some(Some(P1))),
            (vec![proves(P1, Upper, Win), proves(P2, Exact, Loss)], None),
            (vec![proves(P1, Exact, Win), proves(P2, Lower, Loss)], None),
            (vec![proves(P1, Exact, Loss), proves(P2, Exact, Win)], Some(Some(P2))),
            (vec![proves(P1, Exact, Win), proves(P2, Exact, Win)], None),
            (vec![proves(P1, Exact, Draw), proves(P2, Exact, Draw)], Some(None)),
            (vec![proves(P1, Exact, Draw), proves(P2, Lower, Draw)], None),
            (vec![proves(P1, Exact, Draw), proves(P2, Exact, Loss)], None),
            (vec![proves(P1, Exact, Win), proves(P2, Exact, Loss), silent(P1)], None),
            (vec![silent(P2), proves(P2, Exact, Loss), proves(P1, Exact, Win)], Some(Some(P1))),
        ] {
            assert_eq!(agreed(&answers).map(|agreed| agreed.winner), expected, "{answers:?}");
        }
    }
}
