"""Matches by the real arena, and their records as tables."""

import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent.parent / "examples" / "tests")]

import plyd  # noqa: E402
from plyd import arena, records  # noqa: E402
from support import engine  # noqa: E402

SMALL = plyd.Place("isolation", {"width": 5, "height": 5})
STRONG = arena.Player(limit=plyd.Limit(nodes=500), options=plyd.Options(threads=1))


class Players(unittest.TestCase):
    def test_are_written_as_the_arena_reads_them(self):
        for player, text in [
            (arena.Player(), "default"),
            (STRONG, "default,threads=1,nodes=500"),
            (arena.Player("alphabeta", plyd.Limit(depth=2)), "alphabeta,depth=2"),
            (arena.Player(limit=plyd.Limit(time=0.1)), "default,time=0.100000s"),
            (arena.Player(limit=plyd.Limit(clock=plyd.Increment(60, 0.5, moves_to_go=40))),
             "default,tc=40/60.000000s+0.500000s"),
            (arena.Player(limit=plyd.Limit(clock=plyd.Bank(1, 30))), "default,bank=1.000000s+30.000000s"),
            (arena.Player(program="python3 bot.py", legal=True), "cmd=python3 bot.py,legal=true"),
            (arena.Player(options=plyd.Options(deterministic=True)), "default,deterministic=true"),
        ]:  # fmt: skip
            self.assertEqual(player.text(), text)
        for player in [
            arena.Player("default", program="bot"),
            arena.Player("default,level=1"),
            arena.Player(limit=plyd.Limit(clock=plyd.Anytime())),
            arena.Player(limit=plyd.Limit(time=1, hard=2)),
        ]:
            with self.subTest(player=player), self.assertRaises(ValueError):
                player.text()


class Matches(unittest.TestCase):
    def play(self, position, players, **options):
        return arena.play(position, players, program=engine(), **options)

    def test_say_who_is_stronger(self):
        match = self.play(SMALL, [STRONG, arena.Player("random")], games=4, random_plies=2)
        (pairing,) = match.pairings
        self.assertEqual((match.ended, match.games, len(match.records)), ("played", 4, 4))
        self.assertEqual(pairing.players, (STRONG.text(), "random"))
        self.assertEqual(pairing.wins + pairing.draws + pairing.losses, 4)
        self.assertAlmostEqual(pairing.score.value, (pairing.wins + pairing.draws / 2) / 4)
        self.assertEqual(match.ratings, ())

    def test_rate_more_than_two(self):
        players = [STRONG, arena.Player("greedy"), arena.Player("random")]
        match = self.play(SMALL, players, games=2, format="gauntlet")
        self.assertEqual([pairing.players[1] for pairing in match.pairings], ["greedy", "random"])
        self.assertEqual({rating.player for rating in match.ratings}, {player.text() for player in players})

    def test_go_on_with_their_record_and_become_tables(self):
        with tempfile.TemporaryDirectory() as home:
            path = pathlib.Path(home) / "games.jsonl"
            for games in (2, 4):
                match = self.play(SMALL, [STRONG, arena.Player("greedy")], games=games, record=path)
                self.assertEqual([record.number for record in match.records], list(range(1, games + 1)))
            self.assertEqual(tuple(records.read(path)), match.records)
            table = records.games(match.records)
            self.assertEqual([row["p1"] for row in table], ["default,threads=1,nodes=500", "greedy"] * 2)
            self.assertTrue(all(row["winner_name"] == row[row["winner"]] for row in table))
            self.assertTrue(all(row["rules.width"] == 5 for row in table))
            moves = records.moves(match.records)
            self.assertEqual(len(moves), sum(row["moves"] - row["opening"] for row in table))
            for row in moves:
                self.assertEqual(match.records[row["number"] - 1].moves[row["ply"]], row["move"])
            # A forced move may have no score.
            scored = {row["name"] for row in moves if row["eval"] is not None}
            self.assertEqual(scored, {STRONG.text(), "greedy"})
            by_column = records.columns(table)
            self.assertEqual(by_column["number"], [1, 2, 3, 4])
            self.assertEqual(records.columns([]), {})
            with path.open("a") as file:
                file.write("\n  \n")
            self.assertEqual(tuple(records.read(path)), match.records)
            with path.open("a") as file:
                file.write("{}\n")
            with self.assertRaisesRegex(plyd.PlydError, "games.jsonl, line 7: "):
                records.read(path)

    def test_warn_of_a_player_that_lost_all_its_games_by_its_faults(self):
        with tempfile.TemporaryDirectory() as folder:
            bot = pathlib.Path(folder, "bot.py")
            unknown = '{"id": request["id"], "type": "error", "code": "unknown_cmd"}'
            bot.write_text(
                "import json, sys\n"
                "for line in sys.stdin:\n"
                "    request = json.loads(line)\n"
                '    if request["cmd"] == "go":\n'
                '        sys.exit("no idea")\n'
                f"    print(json.dumps({unknown}), flush=True)\n"
            )
            players = [arena.Player("greedy"), arena.Player(program=f"{sys.executable} {bot}")]
            with self.assertWarnsRegex(UserWarning, "all 2 games of .* ended by its faults: 2 crash; this says nothing"):
                match = self.play("isolation", players, games=2)
            self.assertEqual((match.pairings[0].wins, len(match.records)), (2, 2))

    def test_say_what_was_wrong(self):
        with self.assertRaisesRegex(plyd.PlydError, "no-such-player"):
            self.play(SMALL, [arena.Player("no-such-player"), STRONG], games=2)

    def test_end_games_can_be_looked_at(self):
        match = self.play("l-game", [arena.Player("random"), arena.Player("random")], games=2, max_moves=40)
        with plyd.Engine(program=engine()) as server:
            for record in match.records:
                seen = server.inspect(record.place, ["record"])
                self.assertEqual(tuple(seen.record["moves"]), record.moves)


if __name__ == "__main__":
    unittest.main()
