"""What learners did: the rows of a cell as numbers that tables show."""

from __future__ import annotations


def learned_values(rows: list[dict], n_train: int, n_test: int) -> dict[str, list[float]]:
    """Every metric that the rows give: errors in %, all others as they are."""
    values = {
        "train_error": [100.0 * row["train"] / n_train for row in rows],
        "train_01_loss": [float(row["train"]) for row in rows],
    }
    if n_test:
        values["test_error"] = [100.0 * row["test"] / n_test for row in rows]
    for metric in ("seconds", "reached", "lower_bound", "iterations", "cost", "counted", "bound"):
        if all(metric in row for row in rows):
            values[metric] = [float(row[metric]) for row in rows]
    for count in ("pruned", "flipped", "caught"):
        if all(count in row for row in rows):
            values[count] = [float(row[count]) for row in rows]
    for count in ("unseen", "unsplit"):  # rows have them where they are not 0
        if any(count in row for row in rows):
            values[count] = [float(row.get(count, 0)) for row in rows]
    if "bound" in values:
        ratios = [counted / bound for counted, bound in zip(values["counted"], values["bound"], strict=True)]
        values |= {"bound_ratio": ratios, "largest_ratio": ratios}
    if "seconds" in values:  # rows without were stored when nobody counted zero margins apart
        values["train_01_loss_lenient"] = [float(row.get("lenient", row["train"])) for row in rows]
    return values
