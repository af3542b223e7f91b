"""Tests of .ci/dependencies: python3 -m unittest discover -s .ci/tests"""

import copy
import importlib.util
import json
import re
import subprocess
import sys
import unittest
from datetime import datetime
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "dependencies"

sys.dont_write_bytecode = True
loader = SourceFileLoader("dependencies", str(SCRIPT))
dependencies = importlib.util.module_from_spec(importlib.util.spec_from_loader("dependencies", loader))
loader.exec_module(dependencies)

CRATES = "registry+https://github.com/rust-lang/crates.io-index"
POLICY = {
    "graph": {"targets": [], "all-features": True},
    "advisories": {"yanked": "deny", "ignore": []},
    "licenses": {"allow": ["MIT"], "unused-allowed-license": "deny"},
    "bans": {
        "wildcards": "deny",
        "multiple-versions": "deny",
        "deny": [{"crate": "openssl-sys", "use-instead": "rustls"}],
        "skip": [{"crate": "syn:^2", "reason": "old"}],
    },
    "sources": {
        "unknown-registry": "deny",
        "unknown-git": "deny",
        "allow-registry": ["https://github.com/rust-lang/crates.io-index"],
        "allow-git": [],
    },
}


def package(name, version, licence="MIT", needs=()):
    needed = [{"name": other, "req": req} for other, req in needs]
    return {"id": f"{name}@{version}", "name": name, "version": version, "license": licence, "dependencies": needed}


def faults(policy=POLICY, packages=(), source=CRATES, checksum="0" * 64):
    """The faults of a workspace of one crate with `syn` in two versions and these packages."""
    every = [package("ours", "0.1.0"), package("syn", "2.0.1"), package("syn", "3.0.0"), *packages]
    metadata = {
        "packages": every,
        "workspace_members": ["ours@0.1.0"],
        "resolve": {"nodes": [{"id": one["id"]} for one in every]},
    }
    lock = {"package": [{"name": "syn", "version": "2.0.1", "source": source, "checksum": checksum}, {"name": "ours", "version": "0.1.0"}]}
    return list(dependencies.faults(policy, metadata, {"Cargo.lock": lock}))


def changed(section, **keys):
    policy = copy.deepcopy(POLICY)
    policy.setdefault(section, {}).update(keys)
    return policy


class Licences(unittest.TestCase):
    ALLOWED = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"}

    def test_expressions(self):
        for text, found in [
            ("MIT", True),
            ("GPL-3.0", False),
            ("GPL-3.0 OR MIT", True),
            ("GPL-3.0/MIT", True),
            ("MIT AND GPL-3.0", False),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
            ("(MIT OR Apache-2.0) AND Unicode-DFS-2016", False),
            ("MIT OR Apache-2.0 AND GPL-3.0", True),
            ("GPL-3.0 OR Apache-2.0 AND GPL-3.0", False),
            ("Apache-2.0 WITH LLVM-exception", True),
            ("MIT WITH LLVM-exception", False),
            ("mit", False),
        ]:
            with self.subTest(text):
                self.assertEqual(dependencies.licences_for(text, self.ALLOWED) is not None, found)

    def test_what_is_no_expression_is_no_permission(self):
        for text in ["", "MIT Apache-2.0", "(MIT", "MIT)", "OR MIT", "MIT OR", "MIT AND ()", "MIT, Apache-2.0"]:
            with self.subTest(text), self.assertRaises(dependencies.Unclear):
                dependencies.licences_for(text, self.ALLOWED)


class Specs(unittest.TestCase):
    def test_versions(self):
        for spec, version, fits in [
            ("a", "9.9.9", True),
            ("a@1.2.3", "1.2.3", True),
            ("a@1.2.3", "1.2.4", False),
            ("a:^2", "2.0.119", True),
            ("a:^2", "3.0.0", False),
            ("a:^2.1", "2.0.9", False),
            ("a:^0.3", "0.3.9", True),
            ("a:^0.3", "0.4.0", False),
            ("a:^1", "1.2.1+spec-1.1.0", True),
        ]:
            with self.subTest(f"{spec} {version}"):
                self.assertEqual(dependencies.Spec(spec).fits("a", version), fits)
        self.assertFalse(dependencies.Spec("a").fits("b", "1.0.0"))
        for spec in ["a:<2", "a@", "a b", "", {"name": "a"}]:
            with self.subTest(spec), self.assertRaises(dependencies.Unclear):
                dependencies.Spec(spec)


class Check(unittest.TestCase):
    def test_what_is_allowed_passes(self):
        self.assertEqual(faults(), [])

    def test_each_rule_is_enforced(self):
        for what, wanted, found in [
            ("licence", "other 1.0.0 is under `GPL-3.0`", faults(packages=[package("other", "1.0.0", "GPL-3.0")])),
            ("no licence", "other 1.0.0 names no licence", faults(packages=[package("other", "1.0.0", None)])),
            ("unused licence", "nothing is under `ISC`", faults(changed("licenses", allow=["MIT", "ISC"]))),
            ("banned", "is banned; use rustls", faults(packages=[package("openssl-sys", "0.9.1")])),
            ("twice", "rand is there in 2 versions: 0.8.5, 0.9.0", faults(packages=[package("rand", "0.8.5"), package("rand", "0.9.0")])),
            ("thrice", "syn is there in 2 versions: 1.0.0, 3.0.0", faults(packages=[package("syn", "1.0.0")])),
            ("unused skip", "`rand` is not there twice", faults(changed("bans", skip=[*POLICY["bans"]["skip"], {"crate": "rand", "reason": "?"}]))),
            ("skip without a reason", "needs a reason", faults(changed("bans", skip=["syn:^2"]))),
            ("another registry", "which [sources] allow-registry does not name", faults(source="registry+https://example.org/index")),
            ("a repository", "which [sources] allow-git does not name", faults(source="git+https://example.org/a?rev=1#2")),
            ("a registry that begins the same", "allow-registry does not name", faults(source=f"{CRATES}.evil")),
            ("no checksum", "has no checksum", faults(checksum="")),
            ("unknown rule", "[bans] features", faults(changed("bans", features=[]))),
            ("unknown section", "[build] x", faults(changed("build", x=1))),
            ("a laxer rule", '[bans] multiple-versions: .ci/dependencies knows "deny"', faults(changed("bans", **{"multiple-versions": "warn"}))),
        ]:
            with self.subTest(what):
                self.assertEqual(len(found), 1, found)
                self.assertIn(wanted, found[0])

    def test_wildcards_are_found_in_our_manifests_alone(self):
        ours = {"name": "ours", "dependencies": [{"name": "a", "req": "*"}, {"name": "b", "req": "*", "path": "../b"}]}
        self.assertEqual(len(list(dependencies.wildcard_faults([ours]))), 1)

    def test_an_exception_is_for_one_crate(self):
        exceptions = [{"crate": "other", "allow": ["ISC"]}]
        isc = [package("other", "1.0.0", "ISC")]
        self.assertEqual(faults(changed("licenses", exceptions=exceptions), isc), [])
        self.assertIn("needs none any more", faults(changed("licenses", exceptions=exceptions))[0])
        more = [*isc, package("another", "1.0.0", "ISC")]
        self.assertIn("another 1.0.0 is under `ISC`", faults(changed("licenses", exceptions=exceptions), more)[0])


class Built(unittest.TestCase):
    def test_what_is_not_built_is_left_out(self):
        packages = [{"id": name, "name": name, "version": "1.0.0"} for name in ("a", "b", "weak")]
        nodes = [
            {"id": "a", "deps": [{"pkg": "b"}, {"pkg": "weak"}]},
            {"id": "b", "deps": []},
            {"id": "weak", "deps": []},
        ]
        metadata = {"packages": packages, "resolve": {"nodes": nodes}}
        left = dependencies.without_unbuilt(metadata, {("a", "v1.0.0"), ("b", "v1.0.0")})["resolve"]["nodes"]
        self.assertEqual(left, [{"id": "a", "deps": [{"pkg": "b"}]}, {"id": "b", "deps": []}])


class BillOfMaterials(unittest.TestCase):
    """The bill of this very workspace, against what CycloneDX 1.5 and the minimum elements of the NTIA demand."""

    @classmethod
    def setUpClass(cls):
        cls.text = subprocess.run([SCRIPT, "sbom"], check=True, stdout=subprocess.PIPE, text=True).stdout
        cls.bill = json.loads(cls.text)

    def test_it_is_the_same_each_time(self):
        again = subprocess.run([SCRIPT, "sbom"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(again, self.text)

    def test_the_document(self):
        bill = self.bill
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["version"]), ("CycloneDX", "1.5", 1))
        self.assertLessEqual(set(bill), {"bomFormat", "specVersion", "version", "metadata", "components", "dependencies"})
        metadata = bill["metadata"]
        self.assertIsNotNone(datetime.fromisoformat(metadata["timestamp"]).tzinfo)
        self.assertTrue(metadata["supplier"]["name"])
        main = metadata["component"]
        self.assertEqual((main["type"], main["name"]), ("application", "plyd"))
        self.assertRegex(main["properties"][0]["value"], r"^[0-9a-f]{40}$")

    def test_each_component(self):
        fields = {"type", "bom-ref", "name", "version", "purl", "scope", "description", "author", "licenses", "hashes", "externalReferences"}
        for one in self.bill["components"]:
            with self.subTest(one.get("name")):
                self.assertLessEqual(set(one), fields)
                self.assertEqual(one["type"], "library")
                self.assertTrue(one["name"] and one["version"])
                self.assertIn(one["scope"], ("required", "excluded"))
                self.assertRegex(one["purl"], r"^pkg:cargo/[\w-]+@[\w.%-]+$")
                self.assertEqual([set(licence) for licence in one["licenses"]], [{"expression"}])
                self.assertNotIn("/", one["licenses"][0]["expression"])
                if not one["name"].startswith("plyd-"):
                    self.assertEqual(one["hashes"][0]["alg"], "SHA-256")
                    self.assertTrue(re.fullmatch(r"[0-9a-f]{64}", one["hashes"][0]["content"]))

    def test_the_graph_is_whole(self):
        bill = self.bill
        known = [bill["metadata"]["component"]["bom-ref"], *(one["bom-ref"] for one in bill["components"])]
        self.assertEqual(len(known), len(set(known)), "references are unique")
        self.assertEqual(sorted(one["ref"] for one in bill["dependencies"]), sorted(known))
        reached, todo = set(), [known[0]]
        on = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
        while todo:
            at = todo.pop()
            if at not in reached:
                reached.add(at)
                todo.extend(on[at])
        self.assertEqual(reached, set(known))

    def test_what_is_linked_what_builds_and_what_only_tests(self):
        scopes = {one["name"]: one["scope"] for one in self.bill["components"]}
        for name, scope in [
            ("tokio", "required"),
            ("plyd-core", "required"),
            ("serde_derive", "excluded"),
            ("proc-macro2", "excluded"),
            ("proptest", None),
        ]:
            self.assertEqual(scopes.get(name), scope, name)


if __name__ == "__main__":
    unittest.main()
