"""Tables of cases as text: a line for each, its fields separated by bars."""


def parse_cases(text: str) -> list[list[str]]:
    r"""Return the fields of each case; a line that begins with a space continues the one above.

    `\n` stands for the end of a line, and `@` for one data set and the key of the learners.
    """
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            lines[-1] += " " + line.lstrip()
        else:
            lines.append(line)
    full = (line.replace("@", "datasets: [heart]\\nlearners: ").replace("\\n", "\n") for line in lines)
    return [line.split(" | ") for line in full]
