"""Every metric from its definition, in exact fractions; 50 digits where there is a root."""

from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 50


def over(numerator, denominator):
    """Divide; None where that is undefined."""
    is_defined = numerator is not None and denominator is not None and denominator != 0
    return numerator / denominator if is_defined else None


def mean(values, weights=None):
    """Average what is defined."""
    weights = [1] * len(values) if weights is None else weights
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None]
    return over(sum(v * w for v, w in pairs), Fraction(sum(w for _, w in pairs)))


def real(value):
    """Turn a fraction into a number of 50 digits."""
    return mpf(value.numerator) / value.denominator


def skill(score, chance):
    """Rescale a score so that chance is 0."""
    return None if score is None else over(score - chance, 1 - chance)


def less(share):
    """Give what a share leaves of the whole."""
    return None if share is None else 1 - share


def distance(cells, power):
    """Add up how far the labels of each cell are apart."""
    return sum(v * abs(i - j) ** power for i, row in enumerate(cells) for j, v in enumerate(row))


def binary(tp, fn, fp, tn):
    """Give the metrics of the positive label."""
    recall, specificity = over(tp, tp + fn), over(tn, tn + fp)
    both = recall is not None and specificity is not None
    return {
        "recall": recall,
        "specificity": specificity,
        "precision": over(tp, tp + fp),
        "npv": over(tn, tn + fn),
        "false_positive_rate": over(fp, fp + tn),
        "false_negative_rate": over(fn, fn + tp),
        "false_discovery_rate": over(fp, fp + tp),
        "false_omission_rate": over(fn, fn + tn),
        "f1": over(2 * tp, 2 * tp + fp + fn),
        "net_benefit(0.5)": over(tp - fp, tp + fn + fp + tn),
        "net_benefit(0.2)": over(4 * tp - fp, 4 * (tp + fn + fp + tn)),
        "cost(1, 1)": over(fn + fp, tp + fn + fp + tn),
        "cost(fn=5, fp=1)": over(5 * fn + fp, tp + fn + fp + tn),
        "fbeta(2)": over(5 * tp, 5 * tp + 4 * fn + fp),
        "fbeta(0.5)": over(5 * tp, 5 * tp + fn + 4 * fp),
        "jaccard": over(tp, tp + fp + fn),
        "selection_rate": over(tp + fp, tp + fn + fp + tn),
        "prevalence": over(tp + fn, tp + fn + fp + tn),
        "informedness": recall + specificity - 1 if both else None,
        "positive_likelihood_ratio": over(recall, over(fp, fp + tn)),
        "negative_likelihood_ratio": over(over(fn, fn + tp), specificity),
        "treatment_ratio": over(fn, fp),
        "diagnostic_odds_ratio": over(tp * tn, fp * fn),
    }


def scores(matrix, positive, class_weight):
    """Give every metric of a confusion matrix of numbers, rows true and columns predicted."""
    cells = [[Fraction(value) for value in row] for row in matrix]
    labels = range(len(cells))
    hits = [cells[k][k] for k in labels]
    true = [sum(row) for row in cells]
    predicted = [sum(column) for column in zip(*cells, strict=True)]
    n, right = sum(true), sum(hits)
    present = [k for k in labels if true[k] > 0]
    recalls = [over(hits[k], true[k]) for k in labels]
    precisions = [over(hits[k], predicted[k]) for k in labels]
    precisions_or_0 = [0 if true[k] and not predicted[k] else precisions[k] for k in labels]
    f1s = [over(2 * hits[k], true[k] + predicted[k]) for k in labels]
    jaccards = [over(hits[k], true[k] + predicted[k] - hits[k]) for k in labels]
    accuracy, balanced = over(right, n), mean(recalls)
    apart = {power: distance(cells, power) for power in (1, 2)}
    by_chance = [[t * p / n for p in predicted] for t in true]
    chance = sum(t * p for t, p in zip(true, predicted, strict=True)) / n**2
    spread = [1 - sum(m * m for m in margin) / n**2 for margin in (true, predicted)]
    product = 1
    for k in present:
        product *= recalls[k]
    tp, fn = hits[positive], true[positive] - hits[positive]
    fp = predicted[positive] - tp
    return binary(tp, fn, fp, n - tp - fn - fp) | {
        "accuracy": accuracy,
        "hamming_loss": 1 - accuracy,
        "balanced_accuracy": balanced,
        "weighted_balanced_accuracy": mean(recalls, [Fraction(w) for w in class_weight]),
        "adjusted_balanced_accuracy": skill(balanced, Fraction(1, len(present))),
        "normalized_accuracy": skill(accuracy, Fraction(1, len(cells))),
        "geometric_mean": mp.root(real(product), len(present)),
        "no_information_rate": max(true) / n,
        "cohen_kappa": skill(accuracy, chance),
        "cohen_kappa_linear": less(over(apart[1], distance(by_chance, 1))),
        "cohen_kappa_quadratic": less(over(apart[2], distance(by_chance, 2))),
        "matthews_corrcoef": over(
            real(accuracy - chance), mp.sqrt(real(spread[0])) * mp.sqrt(real(spread[1]))
        ),
        "precision_macro": mean(precisions_or_0),
        "precision_weighted": mean(precisions_or_0, true),
        "f1_macro": mean(f1s),
        "f1_weighted": mean(f1s, true),
        "jaccard_macro": mean(jaccards),
        "jaccard_weighted": mean(jaccards, true),
        "jaccard_micro": over(right, sum(2 * t for t in true) - right),
    }
