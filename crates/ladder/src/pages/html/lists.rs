//! Rows of the tables on the pages.

use plyd_protocol::Player;

use super::words::{self, When};
use crate::GameId;
use crate::pages::model::{
    BotRef, Crosstable, GameLine, GameState, Games, Opponent, Opponents, Score, Standing, Standings,
};

/// A row of the standings.
pub(super) struct StandingRow {
    pub(super) rank: String,
    pub(super) bot: BotRef,
    pub(super) anchor: bool,
    pub(super) disabled: bool,
    pub(super) apart: bool,
    /// Whether its rating says too little for a rank.
    pub(super) unrated: bool,
    pub(super) elo: String,
    pub(super) interval: String,
    pub(super) games: u64,
    pub(super) score: String,
}

/// What stands for a rank where there is none.
const NO_RANK: &str = "\u{2013}";

impl StandingRow {
    /// Whether it has a rank.
    pub(super) fn has_rank(&self) -> bool {
        self.rank != NO_RANK
    }
}

/// Whether the table has an anchor, to which its ratings are related.
pub(super) fn has_anchor(standings: &Standings) -> bool {
    standings.rows.iter().any(|row| row.anchor)
}

/// The rows of the standings.
pub(super) fn standings(standings: &Standings) -> Vec<StandingRow> {
    // Where bots stand whom no games connect with the others, nobody knows; without an anchor the others are
    // the largest group.
    let others = if has_anchor(standings) { None } else { Some(0) };
    let is_apart = |row: &Standing| row.group.is_some() && row.group != others;
    let mut ranks = 1..;
    let row = |row: &Standing| {
        let rank = if row.ranked && !row.disabled && !is_apart(row) { ranks.next() } else { None };
        StandingRow {
            rank: rank.map_or_else(|| NO_RANK.into(), |rank: usize| rank.to_string()),
            bot: row.bot.clone(),
            anchor: row.anchor,
            disabled: row.disabled,
            apart: is_apart(row),
            unrated: !row.ranked,
            elo: if row.ranked { words::whole(row.elo) } else { NO_RANK.into() },
            interval: match (row.anchor, row.ranked) {
                (true, _) => "fixed".into(),
                (false, true) => words::interval(row.low, row.high),
                (false, false) => "not yet rated".into(),
            },
            games: row.games,
            score: words::share(row.points, row.games),
        }
    };
    standings.rows.iter().map(row).collect()
}

/// So many rows of the standings, in their order: house bots give way to those of people, who look for
/// themselves.
pub(super) fn some_standings(standings: &Standings, most: usize) -> Vec<StandingRow> {
    let mut rows = self::standings(standings);
    while rows.len() > most
        && let Some(last) = rows.iter().rposition(|row| row.bot.house)
    {
        rows.remove(last);
    }
    rows.truncate(most);
    rows
}

/// A row of a crosstable.
pub(super) struct CrossRow {
    pub(super) bot: BotRef,
    pub(super) cells: Vec<String>,
}

/// The rows of a crosstable.
pub(super) fn crosstable(table: &Crosstable) -> Vec<CrossRow> {
    let rows = table.bots.iter().zip(&table.results);
    let row = |(bot, results): (&BotRef, &Vec<Option<Score>>)| {
        let cell = |(against, result): (&BotRef, &Option<Score>)| match result {
            Some(score) => format!("{} of {}", words::points(score.points), score.games),
            None if against.id == bot.id => "\u{d7}".into(),
            None => String::new(),
        };
        CrossRow { bot: bot.clone(), cells: table.bots.iter().zip(results).map(cell).collect() }
    };
    rows.map(row).collect()
}

/// A row of a list of games.
pub(super) struct GameRow {
    pub(super) id: GameId,
    pub(super) players: [BotRef; 2],
    pub(super) result: String,
    pub(super) how: String,
    pub(super) plies: String,
    pub(super) begun: Option<When>,
}

/// The rows of a list of games.
pub(super) fn games(games: Games) -> Vec<GameRow> {
    let row = |line: GameLine| GameRow {
        id: line.id,
        result: result(&line),
        how: if line.forfeit.is_some() { format!("forfeit: {}", fault(&line)) } else { how(&line) },
        plies: line.plies.map(|plies| plies.to_string()).unwrap_or_default(),
        begun: line.begun_ms.map(words::when),
        players: line.players,
    };
    games.games.into_iter().map(row).collect()
}

/// The result in a word.
fn result(line: &GameLine) -> String {
    match (line.state, line.points) {
        (GameState::Over, Some([p1, p2])) if p1 == p2 => "\u{bd} : \u{bd}".into(),
        (GameState::Over, Some([p1, p2])) => format!("{} : {}", words::points(p1), words::points(p2)),
        (GameState::Playing, _) => "playing".into(),
        (GameState::Waiting, _) => "waiting".into(),
        _ => "void".into(),
    }
}

/// What a player did that forfeited the game.
fn fault(line: &GameLine) -> &str {
    line.ended_by.as_deref().unwrap_or("a fault")
}

/// How a game ended, in a few words.
fn how(line: &GameLine) -> String {
    match (line.forfeit, &line.void_why, &line.ended_by) {
        (_, Some(why), _) => why.clone(),
        (Some(player), _, _) => {
            let [p1, p2] = &line.players;
            let who = if player == Player::P1 { p1 } else { p2 };
            format!("{} forfeits: {}", who.name, fault(line))
        }
        (None, None, by) => by.clone().unwrap_or_default(),
    }
}

/// How a game stands or ended, in a sentence or two; `ending` is what its rules say of the end.
pub(super) fn outcome(line: &GameLine, ending: Option<&str>) -> String {
    match (line.state, line.points) {
        (GameState::Playing, _) => "It is being played.".into(),
        (GameState::Waiting, _) => "It begins after the other game of its pair.".into(),
        (GameState::Over, Some([p1, p2])) => {
            let name = |bot: &BotRef| bot.name.clone();
            let [first, second] = &line.players;
            let who = match () {
                () if p1 > p2 => format!("{} wins", name(first)),
                () if p2 > p1 => format!("{} wins", name(second)),
                () => "A draw".into(),
            };
            let how = how(line);
            match ending {
                Some(ending) => format!("{who}. {ending}"),
                None if how.is_empty() => format!("{who}."),
                None => format!("{who} ({how})."),
            }
        }
        _ => format!("It does not count: {}.", line.void_why.as_deref().unwrap_or("it became void")),
    }
}

/// What an opponent's row shows.
pub(super) struct OpponentRow {
    pub(super) bot: BotRef,
    pub(super) games: u64,
    pub(super) points: String,
    pub(super) score: String,
}

/// The rows of a bot's opponents.
pub(super) fn opponents(opponents: Opponents) -> Vec<OpponentRow> {
    let row = |opponent: Opponent| OpponentRow {
        points: words::points(opponent.points),
        score: words::share(opponent.points, opponent.games),
        games: opponent.games,
        bot: opponent.bot,
    };
    opponents.opponents.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BotId, PoolId};

    #[test]
    fn bots_have_ranks_in_the_group_that_has_anchors_or_in_the_largest() {
        let standing = |(anchor, group): (bool, Option<usize>)| Standing {
            bot: BotRef { id: BotId(1), name: "kari".into(), house: anchor },
            anchor,
            elo: 0.0,
            low: Some(-10.0),
            high: None,
            group,
            games: 2,
            points: 1.0,
            ranked: true,
            disabled: false,
        };
        for (rows, ranks) in [
            (&[(true, None), (false, None)][..], &["1", "2"][..]),
            (&[(true, None), (false, Some(0)), (false, Some(0))], &["1", "\u{2013}", "\u{2013}"]),
            (&[(false, Some(0)), (false, Some(0)), (false, Some(1))], &["1", "2", "\u{2013}"]),
            (&[], &[]),
        ] {
            let rows: Vec<Standing> = rows.iter().copied().map(standing).collect();
            let table = Standings { pool: PoolId(1), season: None, rows };
            let shown = standings(&table);
            assert_eq!(shown.iter().map(|row| &*row.rank).collect::<Vec<_>>(), ranks);
            assert!(shown.iter().all(|row| row.apart == (row.rank == "\u{2013}")));
            assert_eq!(has_anchor(&table), table.rows.iter().any(|row| row.anchor));
        }
    }

    #[test]
    fn who_has_played_too_little_or_is_disabled_has_no_rank_and_house_bots_give_way() {
        let standing = |(name, house, ranked, disabled): (&str, bool, bool, bool)| Standing {
            bot: BotRef { id: BotId(1), name: name.into(), house },
            anchor: false,
            elo: 100.0,
            low: None,
            high: Some(2127.0),
            group: None,
            games: 2,
            points: 0.0,
            ranked,
            disabled,
        };
        let rows = [
            ("strong", true, true, false),
            ("ann", false, true, false),
            ("weak", true, true, false),
            ("bob", false, true, false),
            ("new", false, false, false),
            ("gone", false, true, true),
        ];
        let table = Standings { pool: PoolId(1), season: None, rows: rows.map(standing).to_vec() };
        let shown = standings(&table);
        let ranks: Vec<&str> = shown.iter().map(|row| &*row.rank).collect();
        assert_eq!(ranks, ["1", "2", "3", "4", "\u{2013}", "\u{2013}"]);
        assert_eq!((&*shown[4].elo, &*shown[4].interval), ("\u{2013}", "not yet rated"));
        assert_eq!(&*shown[5].elo, "100");
        for (most, names) in [
            (6, &["strong", "ann", "weak", "bob", "new", "gone"][..]),
            (5, &["strong", "ann", "bob", "new", "gone"]),
            (4, &["ann", "bob", "new", "gone"]),
            (2, &["ann", "bob"]),
        ] {
            let some = some_standings(&table, most);
            assert_eq!(some.iter().map(|row| &*row.bot.name).collect::<Vec<_>>(), names, "{most}");
        }
    }
}
