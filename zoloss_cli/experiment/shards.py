"""Shards: fixed parts of the tasks of a run, for job arrays; `zoloss merge` joins their folders."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import Cell

MAX_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """One of several parts of the tasks: every n-th split of each cell.

    Which tasks these are depends only on the cell and the split, not on the rest of the config or on what is
    stored, so that all shards together make up the run, and no two have a task in common.

    Attributes
    ----------
    number : int
        Which part, from 1.
    count : int
        Number of parts.
    """

    number: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def select_splits(self, cell: Cell) -> range:
        """Return the splits of a cell in this shard; cells start with different shards."""
        first = (self.number - 1 - crc32(cell.key.encode())) % self.count if self.count > 1 else 0
        return range(first, cell.repeats, self.count)

    def name_folder(self, out: Path) -> Path:
        """Return the folder of this shard, next to that of the run."""
        width = len(str(self.count))
        return out.with_name(f"{out.name}-shard-{self.number:0{width}}-of-{self.count}")

    def list_folders(self, name: str) -> str:
        """Return a pattern for the folders of all shards, from the name of one."""
        return re.sub(r"-shard-[0-9]+-of-", "-shard-*-of-", name)


WHOLE = Shard()


def parse_shard(text: str) -> Shard:
    """Return the shard given by a text such as 3/20."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
    if found is None:
        raise ConfigError(f"--shard: '{text}' is not a part such as 3/20, the third of twenty")
    number, count = int(found[1]), int(found[2])
    if not 1 <= number <= count <= MAX_SHARDS:
        raise ConfigError(
            f"--shard: '{text}' is not a part: the first number must be from 1 to the second, which is at most "
            f"{MAX_SHARDS:,}"
        )
    return Shard(number, count)
