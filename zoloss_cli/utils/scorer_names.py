"""Names of scikit-learn's scorers, by what they need from a task; light, since shells and schemas list them."""

from __future__ import annotations

_AVERAGES = ("macro", "micro", "weighted")

OF_PREDICTIONS = (
    *("accuracy", "balanced_accuracy", "matthews_corrcoef"),
    *(f"f1_{average}" for average in _AVERAGES),
    *("precision", *(f"precision_{average}" for average in _AVERAGES)),
    *("recall", *(f"recall_{average}" for average in _AVERAGES)),
    *("jaccard", *(f"jaccard_{average}" for average in _AVERAGES)),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio"),
)
OF_SCORES = ("average_precision",)  # for two classes, since only their scores are stored
OF_PROBABILITIES = (
    *("neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score"),
    *("roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted", "top_k_accuracy"),
)
SCORER_NAMES = (*OF_PREDICTIONS, *OF_SCORES, *OF_PROBABILITIES)
OF_TWO_CLASSES = (
    *("precision", "recall", "jaccard", "average_precision"),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio"),
)

_OF_CLUSTERS = (
    *("adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score"),
    *("homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score"),
    "v_measure_score",
)
_OF_NUMBERS = (
    *("d2_absolute_error_score", "explained_variance", "r2", "max_error", "neg_max_error"),
    *("neg_mean_absolute_error", "neg_mean_absolute_percentage_error", "neg_mean_gamma_deviance"),
    *("neg_mean_poisson_deviance", "neg_mean_squared_error", "neg_mean_squared_log_error"),
    *("neg_median_absolute_error", "neg_root_mean_squared_error", "neg_root_mean_squared_log_error"),
)
_OF_SEVERAL_LABELS = ("f1_samples", "jaccard_samples", "precision_samples", "recall_samples")
# The purposes of the scorers that no record of a classifier can provide.
OTHER_PURPOSES = (
    dict.fromkeys(_OF_CLUSTERS, "clusters")
    | dict.fromkeys(_OF_NUMBERS, "regression")
    | dict.fromkeys(_OF_SEVERAL_LABELS, "samples of several labels each")
)
