"""How the speed of two versions is judged from ratios of times, round by round."""

import numpy as np
import pytest

from benchmarks.compare import ROUNDS, judge, main

N_CASES = 15


@pytest.mark.parametrize(
    ("ratios", "word"),
    [
        ([1.2, 1.21, 1.19, 1.2, 1.22, 1.18], "slower"),
        ([0.8, 0.81, 0.79, 0.8, 0.82, 0.78], "faster"),
        ([1.01, 0.99, 1.02, 0.98, 1.0, 1.0], "same"),
        ([1.2, 0.7, 1.9, 1.1, 0.8, 1.6], "same"),
    ],
)
def test_word_follows_from_the_interval(ratios, word):
    verdict = judge(ratios, N_CASES)

    assert verdict.word == word
    assert verdict.lower < verdict.ratio < verdict.upper
    assert (verdict.lower > 1, verdict.upper < 1) == (word == "slower", word == "faster")


def test_a_version_and_itself_differ_in_few_runs():
    rng = np.random.default_rng(5)
    runs = [
        any(
            judge(np.exp(rng.normal(0, 0.05, ROUNDS)), N_CASES).word != "same"
            for _ in range(N_CASES)
        )
        for _ in range(200)
    ]

    assert np.mean(runs) < 0.09  # 0.05, with four standard errors of 200 runs beyond


def test_a_tenth_is_found():
    rng = np.random.default_rng(6)
    words = [judge(np.exp(rng.normal(np.log(1.1), 0.05, ROUNDS)), N_CASES).word for _ in range(200)]

    assert words.count("slower") > 180
    assert "faster" not in words


def test_too_few_rounds_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["HEAD~1", "--rounds", "2"])

    assert "--rounds 2 is too few; give at least 5" in capsys.readouterr().err
