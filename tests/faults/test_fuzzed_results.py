"""Results with changed bytes, types, depths and lengths: readers show the rest, or say one sentence."""

from __future__ import annotations

import json
import random
import shutil
from zlib import crc32

import pytest
from processes import run_zoloss

from zoloss_cli.results.manifest import append_check

N_CHANGES = 20
VALUES = [0, -1, 1e308, None, True, "", "x", [], {}, [[]], 2**70]
DEPTH = 100_000
CONFIG = "name: small\ndatasets: [sonar, heart]\nsplit: {repeats: 3}\nlearners: [fld]\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Results that no test changes."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.yaml").write_text(CONFIG, encoding="utf-8")
    ended = run_zoloss("run", "small.yaml", "--out", "results", "--jobs", "1", cwd=folder)
    assert ended.code == 0, ended.err
    return folder / "results"


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
    """Change bytes, cut, nest, or change a value and make the checksum right again."""
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
def test_readers_never_break(zoloss, whole, tmp_path, seed):
    results = shutil.copytree(whole, tmp_path / "results")
    rng = random.Random(seed)
    files = sorted(path for path in results.rglob("*.json*") if path.is_file())
    damage(rng.choice(files), rng)
    words, codes = [
        (["export", results], (0, 4)),
        (["diff", results, whole], (0, 4)),
        (["merge", results, whole, "--out", results.with_name("merged")], (0, 4)),
        (["show", "heart", "fld", "0", "--results", results], (0, 2, 3, 4, 9)),
        (["compare", results], (0, 4)),
    ][seed % 5]
    for command, allowed in ((["table", results], (0, 4)), (["status", results], (0, 4)), (words, codes)):
        ended = zoloss(*command)
        assert "unexpected" not in ended.err, (command, ended.err)
        assert ended.code in allowed, (command, ended.err)
        assert ended.code == 0 or ended.err
