//! Whole games: of every kind, of the house, of rules that break, and before spectators.

use super::*;

#[tokio::test]
async fn bots_play_every_game_several_at_once_and_learn_how_it_ended() {
    let ladder = Ladder::open(settings()).await;
    // Spectators who do not look slow nobody.
    let _idle = ladder.table.recorder.live().watch();
    let mut played = Vec::new();
    let bots: Vec<_> = (1..=2).map(|number| bot(ladder.address, number, REGISTRY.len())).collect();
    for (id, entry) in (1..).zip(REGISTRY) {
        let seats = [ladder.bot(1, id), ladder.bot(2, id)];
        let mut game = game(id, seats, Position::start(entry).root().clone());
        game.terms.controls = [TimeControl::PerMove(LONG); 2];
        played.push((entry, ladder.play(game)));
    }
    let mut records = BTreeMap::new();
    for (entry, played) in played {
        let ended = within(played).await.unwrap().unwrap();
        assert_eq!((&ended.played.forfeit, &ended.void), (&None, &None), "{}", entry.name);
        assert!(ended.conversations.iter().all(|lines| !lines.is_empty()), "{}", entry.name);
        records.insert(ended.id().name(), ended);
    }
    for (player, bot) in [Player::P1, Player::P2].into_iter().zip(bots) {
        for over in within(bot).await.unwrap() {
            let ended = &records[over["x_game"].as_str().unwrap()];
            let result = ended.played.record.result.as_ref();
            assert_eq!(over["outcome"], serde_json::json!(line::outcome(result, player)));
            assert_eq!(over["record"], serde_json::to_value(&ended.played.record).unwrap());
        }
    }
    let kept = within(ladder.close()).await;
    for ended in records.values() {
        let moves = ended.played.record.moves.iter().filter(|ply| !ply.starts_with('~'));
        assert!(moves.eq(kept[&ended.id()].iter().map(|turn| &turn.mv)));
    }
}

#[tokio::test]
async fn a_bot_may_answer_as_often_as_it_is_asked() {
    // A bot whose opponent is quick, too, is asked hundreds of times a second.
    let ladder = Ladder::open(Settings { lines_a_second: 3, ..settings() }).await;
    let bots = [1, 2].map(|number| bot(ladder.address, number, 1));
    let mut game = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], heap());
    game.terms.controls = [TimeControl::PerMove(LONG); 2];
    let ended = within(ladder.play(game)).await.unwrap().unwrap();
    assert_eq!((&ended.played.forfeit, &ended.void), (&None, &None));
    assert!(ended.played.answers.len() > 6, "each was asked more than three times");
    for bot in bots {
        within(bot).await.unwrap();
    }
}

#[tokio::test]
async fn the_house_plays_without_a_clock_and_alike_each_time() {
    let mut records = Vec::new();
    for _ in 0..2 {
        let ladder = Ladder::open(settings()).await;
        let opponent = bot(ladder.address, 1, 1);
        let options = Options { level: 3, seed: 5, deterministic: true, ..Options::default() };
        let house = Seat::House(HousePlayer::new(options, 500));
        let opening = Position::start(&plyd_games::isolation::ENTRY).root().clone();
        let mut game = game(1, [house, ladder.bot(1, 1)], opening);
        game.terms.controls = [TimeControl::PerMove(Duration::ZERO), TimeControl::PerMove(LONG)];
        let ended = within(ladder.play(game)).await.unwrap().unwrap();
        assert_eq!((&ended.played.forfeit, &ended.void), (&None, &None));
        assert!(ended.conversations[0].is_empty());
        within(opponent).await.unwrap();
        records.push(ended.played.record);
    }
    assert_eq!(records[0], records[1]);
    // What the house cannot play is nobody's loss.
    let ladder = Ladder::open(settings()).await;
    let stranger = Options { player: "grandmaster".to_owned(), ..Options::default() };
    let seats = [500, 1].map(|nodes| Seat::House(HousePlayer::new(stranger.clone(), nodes)));
    let ended = within(ladder.play(game(2, seats, heap()))).await.unwrap().unwrap();
    assert!(ended.void.is_some_and(|why| why.contains("grandmaster")));
}

/// A heap whose rules break at the second move.
struct Broken(Arc<dyn AnyRoot>);

impl AnyRoot for Broken {
    fn entry(&self) -> &'static Entry {
        self.0.entry()
    }
    fn rules(&self) -> Rules {
        self.0.rules()
    }
    fn extend_within(&self, moves: &[String], effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, Fault> {
        Ok(Arc::new(Self(self.0.extend_within(moves, effort)?)))
    }
    fn play(&mut self, text: &str) -> Result<(), Fault> {
        assert!(self.played().is_empty(), "a token stands on its edge");
        self.0 = self.0.extend(&[text.to_owned()])?;
        Ok(())
    }
    fn played(&self) -> &[String] {
        self.0.played()
    }
    fn is_stochastic(&self) -> bool {
        false
    }
    fn to_move(&self) -> ToMove {
        self.0.to_move()
    }
    fn outcome(&self) -> Option<plyd_core::game::Outcome> {
        self.0.outcome()
    }
    fn legal(&self) -> Vec<String> {
        self.0.legal()
    }
    fn moves_within(&self, evaluator: Option<&str>, effort: &Arc<Effort>) -> Result<Vec<Successor>, Fault> {
        self.0.moves_within(evaluator, effort)
    }
    fn chance(&self) -> Vec<ChanceOutcome> {
        Vec::new()
    }
    fn actions(&self) -> Actions {
        self.0.actions()
    }
    fn text(&self) -> String {
        self.0.text()
    }
    fn state_text(&self) -> Option<String> {
        None
    }
    fn start_text(&self) -> String {
        self.0.start_text()
    }
    fn board_within(&self, effort: &Arc<Effort>) -> Drawing {
        self.0.board_within(effort)
    }
    fn hash(&self) -> u64 {
        self.0.hash()
    }
    fn eval(&self, evaluator: &str) -> Result<Option<i64>, Fault> {
        self.0.eval(evaluator)
    }
    fn decisive(&self) -> i32 {
        self.0.decisive()
    }
    fn perft(&self, depth: u32, counting: Counting, control: &Control) -> u64 {
        self.0.perft(depth, counting, control)
    }
    fn check(&self, seed: u64, plies: usize) -> Result<usize, String> {
        self.0.check(seed, plies)
    }
    fn candidates_within(
        &self,
        searchmoves: &[String],
        excludemoves: &[String],
        effort: &Arc<Effort>,
    ) -> Result<Candidates, Fault> {
        self.0.candidates_within(searchmoves, excludemoves, effort)
    }
    fn engine(&self, options: &Options) -> Result<Box<dyn Engine>, Fault> {
        self.0.engine(options)
    }
    fn learner(&self, evaluator: &str) -> Result<Box<dyn Learner>, Fault> {
        self.0.learner(evaluator)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[tokio::test]
async fn a_game_whose_rules_panic_does_not_count_and_the_ladder_goes_on() {
    let ladder = Ladder::open(settings()).await;
    let bots = [1, 2].map(|number| bot(ladder.address, number, 2));
    let broken = game(1, [ladder.bot(1, 1), ladder.bot(2, 1)], Arc::new(Broken(heap())));
    let ended = within(ladder.play(broken)).await.unwrap().unwrap();
    let why = ended.void.as_deref().expect("it does not count");
    assert!(why.contains("a token stands on its edge"), "{why}");
    // As far as it was seen.
    assert_eq!((ended.played.record.moves, ended.played.record.result), (vec!["1".to_owned()], None));
    assert_eq!(ladder.table.recorder.live().games(), []);
    let sound = game(2, [ladder.bot(1, 2), ladder.bot(2, 2)], heap());
    let ended = within(ladder.play(sound)).await.unwrap().unwrap();
    assert_eq!((ended.void, ended.played.forfeit), (None, None));
    for bot in bots {
        let outcomes = within(bot).await.unwrap().into_iter().map(|over| over["outcome"].clone());
        assert_eq!(outcomes.collect::<Vec<_>>(), ["void", "drawn"]);
    }
}

#[tokio::test]
async fn spectators_see_each_turn_and_the_end() {
    let ladder = Ladder::open(settings()).await;
    let live = Live::new(100);
    let (recorder, events) = Recorder::new(4, live.clone());
    let table = Table { recorder, ..ladder.table.clone() };
    let handle = tokio::spawn(keep(events, BTreeMap::new()));
    let (games, mut watcher) = live.watch();
    assert_eq!(games, []);
    let seats = [7, 8].map(|seed| Seat::House(HousePlayer::new(Options { seed, ..Options::default() }, 9)));
    // IJK, in which chance has a part.
    let rules = plyd_core::engine::settings::Settings::from_iter([("mode", "nondet")]);
    let start = Position::open(&plyd_games::ijk::ENTRY, &rules, None).unwrap();
    let ended = within(table.play(game(9, seats, start.root().clone()))).await.unwrap();
    let Some(Update::Event(began)) = within(watcher.next()).await else { panic!("it began") };
    let LiveEvent::Began(began) = &*began else { panic!("{began:?}") };
    let names = began.players.each_ref().map(|player| (player.bot, player.name.clone()));
    assert_eq!(names, [(BotId(1), "bot 1".to_owned()), (BotId(2), "bot 2".to_owned())]);
    assert_eq!((began.id, began.pool, began.clocks), (GameId(9), PoolId(1), [None, None]));
    let (mut moves, mut answers) = (began.record.moves.clone(), Vec::new());
    let end = loop {
        let Some(Update::Event(event)) = within(watcher.next()).await else { panic!("it goes on") };
        match &*event {
            LiveEvent::Turn(turn) => {
                assert_eq!(turn.index, answers.len());
                moves.extend(turn.plies.clone());
                answers.push(turn.turn.answered.clone());
                let root = start.root().extend(&moves).unwrap();
                assert_eq!((turn.text.clone(), turn.to_move.is_none()), (root.text(), answers.len() == 12));
            }
            LiveEvent::Ended(end) => break end.clone(),
            LiveEvent::Began(_) => panic!("it began once"),
        }
    };
    assert_eq!((&*end, &moves, &answers), (&ended, &ended.played.record.moves, &ended.played.answers));
    assert_eq!(live.games(), []);
    drop(table);
    within(handle).await.unwrap();
}

#[tokio::test]
async fn nothing_goes_on_once_nobody_keeps_it() {
    let (recorder, events) = Recorder::new(1, Live::new(1));
    drop(events);
    let table = Table { bots: Arc::default(), house: Arc::new(House::start(1, 0).unwrap()), recorder };
    let seats = [1, 2].map(|seed| Seat::House(HousePlayer::new(Options { seed, ..Options::default() }, 9)));
    assert_eq!(within(table.play(game(1, seats, heap()))).await, Err(Stopped));
}

#[tokio::test]
async fn bots_are_taken_leave_of() {
    let ladder = Ladder::open(settings()).await;
    let mut bot = join(ladder.address, 1).await;
    ladder.lobby.bots().farewell("back in a minute", 60_000);
    let notice = bot.read().await.unwrap();
    assert_eq!((&notice["kind"], &notice["retry_ms"]), (&json!("going_away"), &json!(60_000)));
    assert_eq!(bot.read().await, None);
}
