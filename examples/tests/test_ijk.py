"""The adapter of IJK in a stand-in of its referee."""

import unittest

from support import RefereeTest, needs

VERSIONS = [(version, mode) for version in ("v1", "v2") for mode in ("det", "nondet")]


@needs("ijk")
class Ijk(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("ijk/ai_IJK.py", "ai_IJK.py")

    def test_plays_both_versions_and_modes(self):
        for version, mode in VERSIONS:
            with self.subTest(version=version, mode=mode):
                (report,), warning = self.run_referee("ijk.py", version, mode, 24)
                self.assertEqual(warning, "")
                self.assertGreaterEqual(report["asked"], 10)
                self.assertGreater(len(report["moves"]), 1, "more than the move that is always legal")
                if version == "v2":
                    self.assertNotIn("S", report["moves"])

    def test_plays_legal_moves_without_an_engine(self):
        (report,), warning = self.run_referee(
            "ijk.py", "v2", "det", 60, program="/nonexistent/plyd-of-nobody"
        )
        self.assertEqual(report["moves"], ["U"])
        self.assertEqual(warning.count("playing without an engine"), 1)


if __name__ == "__main__":
    unittest.main()
