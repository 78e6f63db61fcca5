"""Results with changed bytes, types, depths and lengths: readers show the rest, or say one sentence."""

from __future__ import annotations

import json
import random
import shutil
from zlib import crc32

import pytest

from zoloss_cli.results.manifest import append_check

N_CHANGES = 60
VALUES = [0, -1, 1e308, None, True, "", "x", [], {}, [[]], 2**70]
DEPTH = 100_000
CONFIG = "name: small\ndatasets: [sonar, heart]\nsplit: {repeats: 3}\nlearners: [fld]\n"


@pytest.fixture
def results(zoloss, write_config, tmp_path):
    folder = tmp_path / "results"
    assert zoloss("run", write_config(CONFIG), "--out", folder, "--jobs", "1").code == 0
    return folder


def change_value(node, rng: random.Random) -> None:
    """Put another value somewhere into nested lists and mappings."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.8:
        change_value(node[key], rng)
    else:
        node[key] = rng.choice(VALUES)


def damage(path, rng: random.Random) -> None:
    """Change bytes, cut, nest, or change a value and make the check value right again."""
    content = path.read_bytes()
    kind = rng.choice(["byte", "cut", "nest", "value", "value"])
    place = rng.randrange(len(content))
    if kind == "byte":
        path.write_bytes(content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :])
    elif kind == "cut":
        path.write_bytes(content[:place])
    elif kind == "nest":
        deep = b'{"a":' + b"[" * DEPTH + b"]" * DEPTH
        path.write_bytes(b'%s,"check":"%08x"}\n' % (deep, crc32(deep)) + content)
    elif path.suffix == ".json":
        manifest = json.loads(content)
        manifest.pop("check", None)
        change_value(manifest, rng)
        path.write_text(append_check(json.dumps(manifest, indent=1) + "\n"), encoding="utf-8")
    else:
        lines = [json.loads(line) for line in content.splitlines()]
        change_value(rng.choice(lines), rng)
        bodies = [json.dumps({k: v for k, v in line.items() if k != "check"})[:-1].encode() for line in lines]
        path.write_bytes(b"".join(b'%s,"check":"%08x"}\n' % (body, crc32(body)) for body in bodies))


@pytest.mark.parametrize("seed", range(N_CHANGES))
def test_readers_never_break(zoloss, results, seed):
    whole = shutil.copytree(results, results.with_name("whole"))
    rng = random.Random(seed)
    files = sorted(path for path in results.rglob("*.json*") if path.is_file())
    damage(rng.choice(files), rng)
    for command in ("table", "status", "compare"):
        ended = zoloss(command, results)
        assert "unexpected" not in ended.err, (command, ended.err)
        assert ended.code in (0, 4), (command, ended.err)
    words, codes = [
        (["export", results], (0, 4)),
        (["diff", results, whole], (0, 4)),
        (["merge", results, whole, "--out", results.with_name("merged")], (0, 4)),
        (["show", "heart", "fld", "0", "--results", results], (0, 2, 3, 4, 9)),
    ][seed % 4]
    ended = zoloss(*words)
    assert "unexpected" not in ended.err, (words, ended.err)
    assert ended.code in codes, (words, ended.err)
    assert ended.code == 0 or ended.err
