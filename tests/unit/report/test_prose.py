"""Numbers, shares and ranks in the papers' sentences (prose.csv), compared with the reference results.

A row of prose.csv names a stored cell, or a function of this file that computes our value, or a page or test.
`python tests/support/documents.py` writes the rows into docs/paper-tables.md.
"""

from __future__ import annotations

import csv
import re
from functools import cache, partial
from statistics import geometric_mean, median

import numpy as np
import pytest
from places import TOP
from reference_runs import find_reference_run

from zoloss_cli import FLDClassifier, RCDClassifier, load_dataset
from zoloss_cli.report.papers import AGREEMENT, read_paper_titles, read_published_tables
from zoloss_cli.utils.files import PUBLISHED_FOLDER

HERE = "tests/unit/report/test_prose.py"
CELL = ("run", "dataset", "learner", "metric")
FIELDS = ["paper", "place", "quote", "relation", "value", *CELL, "agreement", "where"]
MAX_WORDS = 12
RELATIONS = {
    "=": lambda ours, value: set(ours) == {value},
    "~": lambda ours, value: min(ours) <= 1.15 * value and max(ours) >= 0.85 * value,
    ">": lambda ours, value: min(ours) > value,
    ">=": lambda ours, value: min(ours) >= value,
    "<": lambda ours, value: max(ours) < value,
    "<=": lambda ours, value: max(ours) <= value,
}


@cache
def read_prose():
    with (PUBLISHED_FOLDER / "prose.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def compute_ours(row):
    """Our values: one, or several that share the relation; none if the row names no way to compute them."""
    if row["run"]:
        return [find_reference_run(row["run"]).get_stat(row["dataset"], row["learner"], row["metric"]).mean]
    found = re.search(rf"{HERE}::(\w+)", row["where"])
    return np.atleast_1d(globals()[found[1]]()).tolist() if found else []


def means(name, metric=None):
    run = find_reference_run(name)
    return {
        d: {x: stat.mean for x in run.learners if (stat := run.get_stat(d, x, metric))} for d in run.datasets
    }


def list_values(row, start):
    return [value for learner, value in row.items() if learner.startswith(start)]


def compute_ratios(name, metric, of, over):
    rows = [row for row in means(name, metric).values() if of in row]
    return [row[of] / row[over] for row in rows]


def count_sets(name, better, metric=None):
    return sum(better(row) for row in means(name, metric).values())


def is_lowest(row, start):
    """Whether a learner that starts so is strictly below all others."""
    others = [value for learner, value in row.items() if not learner.startswith(start)]
    return min(list_values(row, start)) < min(others)


def find_rank(values, name):
    return 1 + sum(value < values[name] for value in values.values())


# Perceptrons: Li & Lin (2007), and chapter 2 of the thesis
BOOSTED_RCD = ("adaboost:rcd-plain", "adaboost:rcd-bias")
BOOSTED_01 = (*BOOSTED_RCD, "adaboost:pocket")


def count_lowest_training_errors_of_rcd():
    return count_sets("table2.2", lambda row: is_lowest(row, "rcd"))


def count_lowest_test_errors_of_rcd():
    return count_sets("table2.3", lambda row: is_lowest(row, "rcd"))


def count_lower_test_errors_of_regularized():
    rows = means("table2.3").values()
    return [sum(row[x] < min(list_values(row, "rcd")) for row in rows) for x in ("soft-svm", "ave-perc")]


def find_rank_on_pima(learner, metric):
    return find_rank(means("figure2.3", metric)["pima"], learner)


rank_training_error_of_rcd_bias = partial(find_rank_on_pima, "rcd-bias", "train_error")
rank_training_error_of_pocket = partial(find_rank_on_pima, "pocket", "train_error")
rank_test_error_of_ave_perc = partial(find_rank_on_pima, "ave-perc", "test_error")
compute_times_of_pocket_over_rcd = partial(compute_ratios, "table2", "fit_time", "pocket", "rcd-bias")
compute_times_of_pocket_over_ave_perc = partial(compute_ratios, "table2", "fit_time", "pocket", "ave-perc")
compute_times_of_boosted_pocket_over_rcd = partial(
    compute_ratios, "table4", "fit_time", "adaboost:pocket", "adaboost:rcd-bias"
)


def compute_median_rounds(name, learners):
    return median(row[f"adaboost:{x}"] for row in means(name, "iterations").values() for x in learners)


compute_typical_rounds = partial(compute_median_rounds, "table4", ("ave-perc", "sgd-mls", "soft-svm"))
compute_typical_rounds_without_svm = partial(
    compute_median_rounds, "table2.4", ("ave-perc", "sgd-hinge", "sgd-mls")
)


def find_fewest_rounds():
    cells = find_reference_run("table2.4").cells
    return min(min(cell["iterations"]) for (_, learner), cell in cells.items() if learner in BOOSTED_01)


def find_largest_training_error_of_boosted_rcd():
    return max(row[x] for row in means("table2.4", "train_error").values() for x in BOOSTED_RCD)


def count_zero_training_errors_of_boosted_pocket():
    return count_sets("table2.4", lambda row: row["adaboost:pocket"] == 0, "train_error")


def count_lower_test_errors_than_pocket():
    rows = means("table4").values()
    return [sum(row[x] < row["adaboost:pocket"] for row in rows) for x in BOOSTED_RCD]


def count_lowest_test_errors_where_boosting_helps():
    """On the data sets that have a star in the published table."""
    published = read_published_tables()["li-lin-2007", "IV"]
    starred = {dataset for (dataset, *_), value in published.items() if value.star}
    return sum(is_lowest(row, BOOSTED_RCD) for dataset, row in means("table4").items() if dataset in starred)


def count_lowest_test_errors_of_boosted_rcd_and_pocket():
    return count_sets("table2.4", lambda row: is_lowest(row, BOOSTED_01))


def find_largest_z_of_weighting():
    """Of all differences in test error between resampling and reweighting on the same splits."""
    run = find_reference_run("table4-weighting")
    found = []
    for dataset in run.datasets:
        for base in {learner.partition(",")[0] for learner in run.learners}:
            pair = [run.get_values_by_split(dataset, f"{base}, {how}") for how in ("resample", "reweight")]
            both = np.array([[values[k] for k in pair[0].keys() & pair[1].keys()] for values in pair])
            lower = both[0] - both[1]
            found.append(abs(lower.mean()) / max(lower.std(ddof=1) / np.sqrt(len(lower)), 1e-9))
    return max(found)


def count_higher_test_errors_of_romma():
    def is_higher(row):
        return min(value for learner, value in row.items() if learner != "ave-perc") > row["ave-perc"]

    return count_sets("section2.4.2-romma", is_higher)


@cache
def find_reversals():
    """Training errors of starts, by their kind, from which Algorithms 2.3 and 2.4 end with other weights."""
    found = {"fld": [], "zero": []}
    for name in ("heart", "pima"):
        X, y = load_dataset(name)
        X = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
        errors = {"fld": 1 - FLDClassifier().fit(X, y).score(X, y), "zero": 1.0}  # a margin of 0 is an error
        for seeding, error in errors.items():
            for seed in range(4):
                settings = {"seeding": seeding, "epochs": 300, "random_state": seed}
                fits = [RCDClassifier(update=update, **settings).fit(X, y) for update in ("2.3", "2.4")]
                if not np.array_equal(fits[0].coef_, fits[1].coef_):
                    found[seeding].append(error)
    return found


def count_reversals_from_fld():
    return len(find_reversals()["fld"])


def compute_training_errors_of_reversed_starts():
    return [error for errors in find_reversals().values() for error in errors]


def compute_shares_of_minima():
    """Data sets on which an algorithm ends with as few errors as the enumeration of all hyperplanes."""
    run, learners = find_reference_run("convergence"), ("RCD-plain, uniform", "RCD-plain, Gaussian", "RCD-bias")
    fewest, *errors = (run.get_values("gaussians", learner) for learner in ("PCS", *learners))
    return [np.mean(np.equal(each, fewest)) for each in errors]


def compute_shares_over_bounds():
    shares, bounds = (means("rcd-probability", f"success_{what}") for what in ("share", "bound"))
    return [shares[d][angle] / bound for d, row in bounds.items() for angle, bound in row.items()]


def find_largest_ratio(learner):
    rows = means("perceptron-bounds", "largest_ratio").values()
    return max(ratio for row in rows for ratio in list_values(row, learner))


find_largest_ratio_of_mistakes = partial(find_largest_ratio, "mistake-bound")
find_largest_ratio_of_margin_mistakes = partial(find_largest_ratio, "margin-bound")
find_largest_ratio_of_mistakes_on_inseparable_data = partial(find_largest_ratio, "inseparable-bound")


# Nguyen & Sanner (2013)
SEARCHES = ("sla", "csa", "pcs", "bnb")
SURROGATES = ("bpm", "svm", "lr")


def rank_training_errors_of_sla():
    rows = means("nguyen-table1").values()
    return find_rank({x: sum(row[x] for row in rows) for x in SEARCHES}, "sla")


def rank_time_of_sla():
    rows = means("nguyen-table3", "fit_time").values()
    return find_rank({x: geometric_mean(row[x] for row in rows) for x in SEARCHES}, "sla")


def compute_speed_ups_of_sla(over=SEARCHES[1:]):
    return [geometric_mean(compute_ratios("nguyen-table3", "fit_time", x, "sla")) for x in over]


compute_speed_up_of_sla_over_csa = partial(compute_speed_ups_of_sla, ("csa",))


def count_lowest_test_errors_of_sla():
    return count_sets("nguyen-table4", lambda row: row["sla"] < min(row[x] for x in SURROGATES))


def list_fewest_errors_of_synthetic_sets():
    run = find_reference_run("nguyen-figure9")
    return np.min([run.get_values("without noise", learner) for learner in ("pivot", "sla")], axis=0)


def compute_test_errors_of_sla_without_noise():
    rows = means("nguyen-table4-noiseless").values()
    return [row["sla"] / min(row[x] for x in SURROGATES) for row in rows]


# Data complexity: chapter 1 of the thesis
def list_decompositions():
    """Principal points of the thesis's two problems, for each of our data sets."""
    disks, yinyang = (find_reference_run(f"figure{number}").measurements for number in ("1.5", "1.8"))
    return [
        [measured.points for measured in draws.values()]
        for draws in (disks["disks", "15 clusters"], yinyang["yinyang", "heuristic"])
    ]


def find_errors_of_all_samples():
    """At the largest complexity of each data set."""
    return [points[-1][1] for decompositions in list_decompositions() for points in decompositions]


def find_errors_at_complexity(complexity):
    return [min(e for c, e, *_ in points if c <= complexity) for points in list_decompositions()[1]]


find_errors_at_complexity_11 = partial(find_errors_at_complexity, 11)
find_errors_at_complexity_12 = partial(find_errors_at_complexity, 12)
find_errors_at_complexity_15 = partial(find_errors_at_complexity, 15)
find_errors_at_complexity_16 = partial(find_errors_at_complexity, 16)
find_errors_at_complexity_23 = partial(find_errors_at_complexity, 23)
find_errors_at_complexity_29 = partial(find_errors_at_complexity, 29)


def compute_largest_number_of_subsets():
    """Mean over data sets of the most subsets that share a principal point."""
    return np.mean([max(n for _, _, n, *_ in points) for points in list_decompositions()[1]])


def list_contributions():
    """Mean contributions of wrong and of right labels by the size of the subset, for seven data sets."""
    found = find_reference_run("figure1.12").measurements
    for measured in (*found["yinyang", "contribution"].values(), *found["six sets", "contribution"].values()):
        n_wrong = measured.flipped_times_by_size
        n_right = measured.permutations - n_wrong
        sums = ((measured.flipped_growth_by_size, n_wrong), (measured.growth_by_size, n_right))
        yield [growth / np.maximum(times, 1) for growth, times in sums]


def compute_contributions_of_wrong_over_right():
    return [(wrong[7:] / right[7:]).min() for wrong, right in list_contributions()]


def find_sizes_without_difference():
    return [np.argmax(np.abs(wrong - right) > 0.1) - 1 for wrong, right in list_contributions()]


def compute_contributions_of_wrong_labels_at_350():
    return [wrong[350] for wrong, _ in list_contributions()]


def compute_share_of_outliers_called_noisy():
    measured = find_reference_run("figure1.13").measurements["yinyang", "contribution"][0]
    return np.mean(measured.outlier_scores[list(measured.flipped)] > 1.0)


# CGBoost: chapter 3 of the thesis
def compute_cost_ratios():
    return [ratio for row in means("table3.1").values() for ratio in row.values()]


def compute_cost_ratios_of_the_exponential_cost():
    return [row["exp"] for row in means("table3.1").values()]


def count_higher_test_errors_of_cgboost():
    return count_sets("table3.2", lambda row: row["cgboost:exp"] > row["anyboost:exp"])


def count_lower_test_errors_of_the_bisigmoid():
    rows = [*means("table3.2").values(), *means("figure3.1").values()]
    return sum(row[f"{x}:bisigmoid"] < row[f"{x}:exp"] for row in rows for x in ("anyboost", "cgboost"))


def read_curves(learner):
    return find_reference_run("figure3.1").cells["data_engine", learner].curves


def find_last_round_with_a_lower_cost_of_anyboost():
    curves = [read_curves(f"{x}:exp") for x in ("anyboost", "cgboost")]
    costs = [each.compute_mean("cost") for each in curves]
    return curves[0].epochs[np.argmax(costs[1] < costs[0]) - 1]


def find_round_after_which_adaboost_overfits():
    """The last whose test error is above the lowest by no more than two standard errors."""
    curves = read_curves("anyboost:exp")
    errors = curves.values["test_error"]
    above = errors - errors[:, [errors.mean(axis=0).argmin()]]
    limit = 2 * above.std(axis=0, ddof=1) / np.sqrt(len(above))
    return max(np.asarray(curves.epochs)[above.mean(axis=0) <= limit])


def compute_costs_over_training_errors():
    curves = [read_curves(f"{x}:bisigmoid") for x in ("anyboost", "cgboost")]
    costs, errors = ([each.compute_mean(metric) for each in curves] for metric in ("cost", "train_error"))
    return 50 * np.concatenate(costs) / np.concatenate(errors)


def rank_test_error_of_cgboost_with_bisigmoid():
    return find_rank(means("figure3.1")["data_engine"], "cgboost:bisigmoid")


# Several classes: chapter 4 of the thesis
CODES = ("table4.2", "table4.3", "table4.4", "table4.5")


def is_max_cut_higher(row):
    return list_values(row, "ecc:max-cut")[0] > list_values(row, "ecc:rand-half")[0]


def is_erp_lower_than_ecc(row):
    return min(list_values(row, "erp")) < min(list_values(row, "ecc"))


count_higher_test_errors_of_max_cut_with_stumps = partial(count_sets, "table4.2", is_max_cut_higher)
count_lower_test_errors_of_erp_with_stumps = partial(count_sets, "table4.2", is_erp_lower_than_ecc)
count_lower_test_errors_of_erp_with_perceptrons = partial(count_sets, "table4.3", is_erp_lower_than_ecc)


def count_higher_test_errors_of_max_cut():
    return sum(count_sets(name, is_max_cut_higher) for name in CODES)


def count_lowest_test_errors_of_erp():
    return sum(count_sets(name, lambda row: is_lowest(row, "erp")) for name in CODES)


def count_base_learners_with_which_pairs_win():
    return sum(count_sets(name, lambda row: is_lowest(row, "one-vs-one")) > 0 for name in CODES[:3])


def count_lowest_test_errors_with_svms():
    *others, svms = ({dataset: min(row.values()) for dataset, row in means(name).items()} for name in CODES)
    return sum(error < min(each[dataset] for each in others) for dataset, error in svms.items())


def compute_test_errors_of_max_2_over_rand_2():
    ratios = compute_ratios("table4.2", None, "erp:max-2:LRLR:stump", "erp:rand-2:LRLR:stump")
    return [ratio for d, ratio in zip(means("table4.2"), ratios, strict=True) if d in ("letter", "pendigits")]


def compute_times_over_ecc(learners):
    pairs = [(f"{learner}:svm-perceptron", "ecc:rand-half:svm-perceptron") for learner in learners]
    return [geometric_mean(compute_ratios("table4.5", "fit_time", *pair)) for pair in pairs]


def compute_speed_ups_of_erp(steps):
    return [1 / time for time in compute_times_over_ecc([f"erp:{x}:{steps}" for x in ("max-2", "rand-2")])]


compute_speed_ups_of_erp_with_one_step = partial(compute_speed_ups_of_erp, "LR")
compute_speed_ups_of_erp_with_two_steps = partial(compute_speed_ups_of_erp, "LRLR")
compute_time_of_pairs_over_ecc = partial(compute_times_over_ecc, ["one-vs-one/one-vs-all"])


def format_number(value):
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.2g}"


def format_ours(row):
    ours = compute_ours(row)
    return " to ".join(dict.fromkeys(format_number(each(ours)) for each in (min, max))) if ours else "–"


def format_where(row):
    if row["run"]:
        found = f"`{row['run']}`: {row['learner']} on {row['dataset']}, `{row['metric']}`"
        return f"{found}; {row['where']}" if row["where"] else found
    where = re.sub(rf"{HERE}::(\w+)", r"`\1`", row["where"])
    where = re.sub(r"tests/\S+::\w+", r"`\g<0>`", where)
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", where)


def render_prose():
    """The rows as a table in Markdown."""
    titles, lines = read_paper_titles(), []
    header = ["place", "text", "says", "ours", "rests on", "reproduced by"]
    for row in read_prose():
        place, quote = f"{titles[row['paper']]}, {row['place']}", f'"{row["quote"]}"'
        says = f"{row['relation']} {row['value']}"
        lines.append([place, quote, says, format_ours(row), AGREEMENT[row["agreement"]], format_where(row)])
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *lines])


@pytest.mark.parametrize("row", read_prose(), ids=lambda row: f"{row['place']}: {row['quote']}")
def test_every_row_is_well_formed_and_holds_or_says_that_it_differs(row):
    assert list(row) == FIELDS
    assert row["paper"] in read_paper_titles()
    assert row["agreement"] in AGREEMENT
    assert 2 < len(row["quote"].split()) <= MAX_WORDS
    assert len({row[key] != "" for key in CELL}) == 1
    ours, value = compute_ours(row), float(row["value"])
    if ours:
        assert RELATIONS[row["relation"]](ours, value) != row["where"].startswith("differs:"), ours
    named = re.findall(r"\b((?:docs|tests)/[\w/-]+\.(?:md|py))(?:::(\w+))?", row["where"])
    for path, name in named:
        text = (TOP / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"^(def )?{name}( =|\()", text, re.M), name
    assert row["run"] or named or row["where"].startswith("not reproduced:")


def test_no_row_is_repeated():
    rows = [tuple(row.values()) for row in read_prose()]
    assert len(set(rows)) == len(rows) > 100


def test_the_page_shows_all_rows():
    page = (TOP / "docs" / "paper-tables.md").read_text(encoding="utf-8")
    assert f"<!-- prose -->\n{render_prose()}\n<!-- end -->" in page, "make docs"
