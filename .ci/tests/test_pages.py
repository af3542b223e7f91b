"""Tests of what makes the book and of what counts its words."""

import json
import runpy
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BOOK = runpy.run_path(str(HERE.parent / "book"))
WORDS = runpy.run_path(str(HERE.parent / "words"))


class Links(unittest.TestCase):
    def test_links_lead_to_chapters_or_to_the_web(self):
        home = BOOK["HOME"]
        for page, written, expected in [
            ("docs/play.md", "[a](gui.md#tests)", "[a](gui.md#tests)"),
            ("docs/play.md", "[a](../protocol/README.md#3-requests)", "[a](protocol.md#3-requests)"),
            ("docs/tutorials/own-referee.md", "[a](../../protocol/README.md)", "[a](../protocol.md)"),
            ("docs/tutorials/own-referee.md", "![a](../images/ijk.svg)", "![a](../images/ijk.svg)"),
            ("docs/play.md", "[a](../README.md#start)", f"[a]({home}/blob/main/README.md#start)"),
            ("docs/play.md", "[a](../examples/bots)", f"[a]({home}/tree/main/examples/bots)"),
            ("protocol/README.md", "[a](schema)", f"[a]({home}/tree/main/protocol/schema)"),
            ("protocol/README.md", "[a](#3-requests)", "[a](#3-requests)"),
            ("CONTRIBUTING.md", "![a](docs/images/ijk.svg)", "![a](images/ijk.svg)"),
            ("docs/play.md", "[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
            ("docs/play.md", '<img src="images/ijk.svg">', '<img src="images/ijk.svg">'),
            ("CONTRIBUTING.md", '<source srcset="docs/images/ijk.svg">', '<source srcset="images/ijk.svg">'),
            ("docs/play.md", "```text\n[a](../README.md)\n```", "```text\n[a](../README.md)\n```"),
        ]:
            with self.subTest(page=page, written=written):
                self.assertEqual(BOOK["rewritten"](written, page), expected)


class Replay(unittest.TestCase):
    def test_the_first_page_has_a_place_for_games_that_are_recorded(self):
        docs = HERE.parent.parent / "docs"
        self.assertIn(BOOK["REPLAY"], (docs / "index.md").read_text())
        records = [json.loads(line) for line in (docs / "replay" / "games.jsonl").read_text().splitlines()]
        games = [record["game"] for record in records]
        self.assertEqual(len(set(games)), len(games), "each game once: its boards have a folder of its name")
        ends = {BOOK["result"](record["result"]) for record in records}
        self.assertLessEqual(ends, {"player 1 wins", "player 2 wins", "a draw"})


class Ease(unittest.TestCase):
    def test_sentences_are_those_of_paragraphs_and_lists(self):
        text = (
            "# A heading of words\n\nThe cat sat here. The [dog](x.md) ran\naway!\n\n- One more for us\n"
            "- `code x y` is a word\n\n| a | table of words |\n\n```text\nnot a sentence here.\n```\n"
        )
        found = [" ".join(words) for words in WORDS["sentences"](text)]
        expected = ["The cat sat here", "The dog ran away", "One more for us", "it is a word"]
        self.assertEqual(found, expected)

    def test_syllables_are_groups_of_vowels(self):
        for word, count in [("cat", 1), ("search", 1), ("move", 1), ("moves", 1), ("evaluation", 4), ("table", 1), ("The", 1)]:
            self.assertEqual(WORDS["syllables"](word), count, word)

    def test_short_words_in_short_sentences_are_easy(self):
        easy = "The cat sat on the mat. It saw the dog run."
        hard = "Notwithstanding considerable organisational complexities, administrators unanimously recommended reorganisation."
        self.assertGreater(WORDS["figures"](easy)[2], 100)
        self.assertLess(WORDS["figures"](hard)[2], 0)
        self.assertEqual(WORDS["figures"]("```\ncode\n```\n"), (0, 0.0, 0.0))


if __name__ == "__main__":
    unittest.main()
