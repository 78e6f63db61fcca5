"""What every command owes, whatever it was given: an exit code that is documented, sentences, and limits."""

from torture.children import CPU_SECONDS, MEMORY_BYTES, Outcome
from zoloss_cli.errors import ZolossError

ENDED_BY_INPUT = {kind.exit_code for kind in ZolossError.__subclasses__()}
DOCUMENTED_CODES = {0, *ENDED_BY_INPUT}
# How an option that does not exist, or has no value of its type, is answered.
USAGE = ("Usage: ", "╭─ Error")
MAX_MESSAGE_CHARACTERS = 20_000


def find_faults(outcome: Outcome, shows_progress: bool = False) -> list[str]:
    """Return what is wrong with how a command ended; a run shows its progress before the last sentence."""
    faults = []
    err = outcome.err
    if outcome.code not in DOCUMENTED_CODES:
        faults.append(f"exit code {outcome.code} is not documented")
    if "Traceback (most recent call last)" in err + outcome.out:
        faults.append("a traceback")
    if "zoloss: unexpected " in err:
        faults.append("an error that nobody thought of")
    if outcome.code and not err.strip() and "Usage: " not in outcome.out:
        faults.append("it failed without a word")
    if outcome.code in ENDED_BY_INPUT and not _is_in_sentences(err, shows_progress):
        faults.append("a message in another form than sentences")
    if len(err) > MAX_MESSAGE_CHARACTERS:
        faults.append(f"a message of {len(err):,} characters")
    if any(c in err + outcome.out for c in "\x1b\x07\x00\x9b"):
        faults.append("a control character for the terminal")
    if outcome.cpu_seconds > CPU_SECONDS:
        faults.append(f"{outcome.cpu_seconds:.1f} s of CPU time")
    if outcome.peak_bytes > MEMORY_BYTES:
        faults.append(f"{outcome.peak_bytes / 2**20:,.0f} MB of memory")
    faults += [f"a file outside of the given folder: {path}" for path in outcome.outside[:3]]
    said = next((line for line in reversed(err.splitlines()) if line.strip()), "")
    return [f"{fault} ({said[:300]})" for fault in faults]


def _is_in_sentences(err: str, shows_progress: bool) -> bool:
    if err.startswith(USAGE):
        return True
    lines = err.splitlines()
    return all(line.startswith("zoloss: ") for line in (lines[-1:] if shows_progress else lines))
