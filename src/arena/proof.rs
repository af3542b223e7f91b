//! Announced proofs against what came of them.
//!
//! Only what the announcing player could have kept counts: a proven loss that the opponent lets slip is no
//! contradiction, nor is a game that the player forfeits.

use plyd_protocol::{Bound, Outcome, Player, ProofOutcome};

use super::played::{Answered, Contradiction};

/// How the game ended, as far as proofs are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending<'o> {
    /// By the rules of the game.
    Rules(&'o Outcome),
    /// The referee ended it as a draw.
    Cut,
    /// A player forfeited.
    Forfeit(Player),
}

/// The first contradicted proof of each player.
pub(super) fn contradictions(answers: &[Answered], ending: Ending<'_>) -> Vec<Contradiction> {
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

/// What is wrong with an announcement after which `moves` moves were played, its own included.
fn contradiction(answered: &Answered, moves: usize, ending: Ending<'_>) -> Option<String> {
    let score = answered.score.filter(|score| score.bound != Bound::Upper)?;
    let proof = score.proof?;
    if matches!(ending, Ending::Forfeit(loser) if loser == answered.player) {
        return None;
    }
    let winner = match ending {
        Ending::Rules(outcome) => Some(outcome.winner),
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

    fn announced(
        bound: Bound,
        outcome: ProofOutcome,
        plies: Option<u32>,
        plies_max: Option<u32>,
    ) -> Answered {
        let proof = Some(Proof { outcome, plies, plies_max, margin: None });
        let score = Some(Score { bound, eval: None, wdl: None, proof });
        Answered { player: Player::P1, time_us: 0, score }
    }

    /// Player 1 announces, then three moves of no account follow.
    fn game(announced: &Answered) -> Vec<Answered> {
        let silent = |player| Answered { player, time_us: 0, score: None };
        vec![announced.clone(), silent(Player::P2), silent(Player::P1), silent(Player::P2)]
    }

    fn ended(winner: Option<Player>) -> Outcome {
        Outcome { winner, by: "stuck".into(), scores: None }
    }

    #[test]
    fn what_a_player_could_have_kept_is_held_against_it() {
        use Bound::{Exact, Lower, Upper};
        use ProofOutcome::{Draw, Loss, Win};
        let (won, lost, drawn) = (ended(Some(Player::P1)), ended(Some(Player::P2)), ended(None));
        let (won, lost, drawn) = (Ending::Rules(&won), Ending::Rules(&lost), Ending::Rules(&drawn));
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
}
