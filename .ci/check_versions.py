#!/usr/bin/env python3
"""Check that the package, CITATION.cff, the man page, the conda recipe and the changelog name one version.

``--tag v1.0.0`` asks for that version and a dated section of it in CHANGELOG.md; without it, an [Unreleased]
section will do. ``--notes`` shows the newest section instead. Python's standard library is all that is needed.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
# Where the version stands, and how.
PLACES = {
    "zoloss_cli/__init__.py": r'^__version__ = "([^"]+)"$',
    "CITATION.cff": r"^version: (\S+)$",
    "docs/man/zoloss.1": r'^\.TH ZOLOSS 1 "" "zoloss (\S+)"',
    ".ci/conda/meta.yaml": r'^\{% set version = "([^"]+)" %\}$',
}
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.M)
GROUP = re.compile(r"^### (.+)$", re.M)
GROUPS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def read_versions() -> dict[str, str]:
    """Return the version that each place names, or '' where it names none."""
    found = {}
    for name, pattern in PLACES.items():
        match = re.search(pattern, (TOP / name).read_text(encoding="utf-8"), re.M)
        found[name] = match[1] if match else ""
    return found


def read_sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    """Return the date and the text of each section of a changelog, the newest first."""
    headings = list(HEADING.finditer(changelog))
    ends = [*(heading.start() for heading in headings[1:]), len(changelog)]
    return {
        heading[1]: (heading[2], changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    }


def find_faults(versions: dict[str, str], changelog: str, tag: str | None) -> list[str]:
    """Return what is wrong with versions and changelog, a sentence each.

    Parameters
    ----------
    versions : dict
        The version of each place.
    changelog : str
        The text of CHANGELOG.md.
    tag : str or None
        The tag of a release, such as v1.0.0.
    """
    version = versions["zoloss_cli/__init__.py"]
    faults = [
        f"{name}: the version is '{other}', and that of the package '{version}'"
        for name, other in versions.items()
        if other != version
    ]
    if not SEMVER.fullmatch(version):
        faults.append(f"zoloss_cli/__init__.py: '{version}' is not a semantic version, such as 1.0.0")
    sections = read_sections(changelog)
    wanted = [version] if tag else [version, "Unreleased"]
    if not any(sections.get(name, (None, ""))[1] for name in wanted):
        faults.append(f"CHANGELOG.md: there is no section [{'] or ['.join(wanted)}], or it is empty")
    if tag and tag != f"v{version}":
        faults.append(f"the tag is {tag}, and the version of the package {version}")
    for name, (date, text) in sections.items():
        if name != "Unreleased" and date is None:
            faults.append(f"CHANGELOG.md: the section [{name}] has no date, such as '## [{name}] - 2026-11-30'")
        for group in GROUP.findall(text):
            if group not in GROUPS:
                faults.append(f"CHANGELOG.md: '{group}' under [{name}] is none of {', '.join(sorted(GROUPS))}")
    return faults


def main() -> int:
    """Run the check, or show the notes of a release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag of the release, such as v1.0.0")
    parser.add_argument("--notes", action="store_true", help="show the newest section of the changelog")
    options = parser.parse_args()
    changelog = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    if options.notes:
        print(next(text for _, text in read_sections(changelog).values() if text))
        return 0
    versions = read_versions()
    faults = find_faults(versions, changelog, options.tag or None)
    print("\n".join(faults) or f"version {versions['zoloss_cli/__init__.py']} everywhere")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
