"""Data in which nothing differs, of designs that are drawn at random and that nobody tuned.

A design fixes rates, sizes, labels, weights and clusters; `draw` draws one sample of it. Rates are
.001 to .999, sizes of segments 1 to 100,000, equal or very different, and labels 2 to 50.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import optimize, special

from benchmarks.monitor_simulation import Streams

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Random = np.random.Generator

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.997, 0.999)
N_SEGMENTS = (2, 2, 3, 6, 12, 20, 60)
N_ROWS = (1, 2, 5, 10, 30, 100, 300, 1_000, 10_000)
N_LABELS = (1, 1, 2, 2, 3, 5, 10, 50)
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.5)
LEVELS = 8  # of weights
LARGEST = 100_000  # rows of a label in a segment


@dataclass(frozen=True)
class Weighting:
    """Weights of rows, by level: their shares of the rows, and how right they are.

    Weights may go with being right: `slope` is the change of the log odds from the lightest to the
    heaviest level.
    """

    name: str
    weights: Array
    shares: Array
    slope: float

    def recalls(self, recall: float) -> Array:
        """Return the recall of every level under which the weighted recall is this one."""
        of_weight = self.shares * self.weights / (self.shares * self.weights).sum()
        logits = np.linspace(0, self.slope, len(self.weights))

        def excess(start: float) -> float:
            return float((of_weight * special.expit(start + logits)).sum()) - recall

        return np.asarray(special.expit(optimize.brentq(excess, -40, 40) + logits))


@dataclass(frozen=True)
class Clustering:
    """Clusters of a segment: how many, how different in size, and how correlated their rows."""

    n_clusters: int
    spread: float  # of the logarithm of their sizes
    correlation: float
    shared: bool  # by all segments


@dataclass(frozen=True)
class Segments:
    """Segments of labels with the same score; supports and recalls are (segments, labels)."""

    name: str
    supports: Counts
    recalls: Array
    weighting: Weighting | None = None
    clustering: Clustering | None = None

    @property
    def metric(self) -> str:
        """The metric whose true value is `score` in every segment."""
        return "recall" if self.supports.shape[1] == 1 else "balanced_accuracy"

    @property
    def score(self) -> float:
        """The true score."""
        return float(self.recalls[0].mean())

    @property
    def options(self) -> dict[str, object]:
        """Options of methods for this data."""
        of_weights = {"sample_weight": "w"} if self.weighting else {}
        of_clusters = {"cluster": "c"} if self.clustering else {}
        positive = {"pos_label": 1} if self.supports.shape[1] <= 2 else {}
        return {"by": "g", "counts": "n", **positive, **of_weights, **of_clusters}

    def draw(self, random: Random) -> pl.DataFrame:
        """Draw the rows of one sample: y, yhat, segment g, count n, weight w and cluster c."""
        if self.clustering is not None:
            return self._draw_clusters(self.clustering, random)
        if self.weighting is None:
            return cells(self.supports, random.binomial(self.supports, self.recalls))
        shape = (*self.supports.shape, len(self.weighting.weights))
        rows = random.multinomial(self.supports, np.broadcast_to(self.weighting.shares, shape))
        levels, where = np.unique(self.recalls, return_inverse=True)
        of_levels = np.array([self.weighting.recalls(level) for level in levels])
        recalls = of_levels[where.reshape(self.recalls.shape)]
        right = random.binomial(rows, recalls)
        return pl.concat(
            cells(rows[..., level], right[..., level]).with_columns(w=pl.lit(float(weight)))
            for level, weight in enumerate(self.weighting.weights)
        )

    def _draw_clusters(self, clustering: Clustering, random: Random) -> pl.DataFrame:
        n_segments, m = len(self.supports), clustering.n_clusters
        size = np.exp(random.normal(0, clustering.spread, m))
        shape = (*self.supports.shape, m)
        rows = random.multinomial(self.supports, np.broadcast_to(size / size.sum(), shape))
        mean = self.recalls[: 1 if clustering.shared else None, :, None]
        share = np.broadcast_to(mean, (1 if clustering.shared else n_segments, *shape[1:]))
        if clustering.correlation:
            scale = 1 / clustering.correlation - 1
            share = random.beta(share * scale, (1 - share) * scale)
        right = random.binomial(rows, np.broadcast_to(share, shape))
        parts = []
        number = pl.col("g").cast(pl.Int64) * m  # of the first cluster of a segment
        for cluster in range(m):
            own = cells(rows[..., cluster], right[..., cluster])
            name = pl.lit(cluster) if clustering.shared else number + cluster
            parts.append(own.with_columns(c=name))
        return pl.concat(parts)

    def draw_models(self, random: Random) -> pl.DataFrame:
        """Draw the rows of two models, a and b, with the same true score in every segment.

        Half of the errors of each are errors of the other, too.
        """
        wrong = 1 - self.recalls
        kinds = np.stack([1 - 1.5 * wrong, wrong / 2, wrong / 2, wrong / 2], axis=-1)
        is_possible = kinds[..., :1] > 0
        kinds = np.where(is_possible, kinds, np.array([0, 0.5, 0.5, 0.0]))
        counts = random.multinomial(self.supports, kinds / kinds.sum(axis=-1, keepdims=True))
        parts = []
        for kind, (a, b) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
            own = cells(counts[..., kind], counts[..., kind]).drop("yhat")
            other = _predicted(self.supports.shape[1])
            parts.append(
                own.with_columns(a=other if a else pl.col("y"), b=other if b else pl.col("y"))
            )
        return pl.concat(parts)


def _names(segments: Counts) -> list[str]:
    """Name segments, as by-columns of many numbers are taken for measurements."""
    return [f"{segment:02}" for segment in segments]


def _predicted(n_labels: int) -> pl.Expr:
    return (pl.col("y") - 1) % max(n_labels, 2)


def cells(rows: Counts, right: Counts) -> pl.DataFrame:
    """Write down how many rows are right; wrong ones have the label before their own.

    Rows of a single label are those of the positive one of two.
    """
    positive = 1 if rows.shape[1] == 1 else 0
    segment, label = (index.ravel() for index in np.indices(rows.shape))
    keys = pl.DataFrame({"g": _names(segment), "y": label + positive})
    parts = [
        keys.with_columns(yhat=pl.col("y"), n=right.ravel()),
        keys.with_columns(yhat=_predicted(rows.shape[1]), n=(rows - right).ravel()),
    ]
    return pl.concat(parts).filter(pl.col("n") > 0)


def segments(
    random: Random, *, swapped: bool = True, n_labels: int | None = None, least_labels: int = 1
) -> Segments:
    """Draw a design of segments: their number, sizes, labels and recalls.

    If `swapped`, segments may have the same score from different recalls.
    """
    n_segments, drawn = int(random.choice(N_SEGMENTS)), int(random.choice(N_LABELS))
    n_labels = max(drawn, least_labels) if n_labels is None else n_labels
    law, sizes = _sizes(n_segments, random)
    shares = np.ones(n_labels) if random.random() < 0.5 else np.geomspace(1, 10, n_labels)
    shares = shares / shares.max()
    supports = np.clip(np.round(sizes[:, None] * shares), 1, LARGEST).astype(np.int64)
    rate = float(random.choice(RATES))
    recalls = np.full(supports.shape, rate)
    text = f"recall {rate:g}"
    if n_labels > 1 and random.random() < 0.4:
        most = 0.9 * min(rate, 1 - rate)
        around = np.linspace(-most, most, n_labels)
        turned = swapped and random.random() < 0.5
        signs = np.where(np.arange(n_segments) % 2, -1, 1) if turned else np.ones(n_segments)
        recalls = rate + signs[:, None] * around
        text = f"recalls {rate - most:.3g} to {rate + most:.3g}" + (", swapped" if turned else "")
    labels = (
        "" if n_labels == 1 else f", {n_labels} labels" + ("" if shares.min() == 1 else " 1:10")
    )
    return Segments(f"{n_segments} x {law}{labels}, {text}", supports, recalls)


def _sizes(n_segments: int, random: Random) -> tuple[str, Array]:
    """Draw rows of the most frequent label of each segment."""
    law, few, many = random.integers(4), *np.sort(random.choice(N_ROWS, 2, replace=False))
    if law == 0:
        return f"{many} rows", np.full(n_segments, float(many))
    if law == 1:
        n_large = min(n_segments - 1, 3)
        sizes = np.r_[np.full(n_segments - n_large, float(few)), np.full(n_large, float(many))]
        return f"{few} rows, {n_large} of {many}", sizes
    if law == 2:
        return f"{few} to {many} rows", np.round(np.geomspace(few, many, n_segments))
    sizes = np.exp(random.normal(np.log(many), 1.5, n_segments))
    return f"about {many} rows, very different", np.clip(np.round(sizes), 1, LARGEST)


def weighted_segments(random: Random) -> Segments:
    """Draw a design of segments with importance weights, which may go with being right."""
    design = segments(random, swapped=False)
    design = replace(design, supports=np.maximum(design.supports, 30))
    law = str(random.choice(["uniform", "exponential", "few heavy", "two levels"]))
    middle = special.ndtri((np.arange(LEVELS) + 0.5) / LEVELS)
    weights, shares = {
        "uniform": (np.linspace(0.5, 1.5, LEVELS), np.full(LEVELS, 1 / LEVELS)),
        "exponential": (np.exp(middle), np.full(LEVELS, 1 / LEVELS)),
        "few heavy": (np.array([1.0, 10.0]), np.array([0.9, 0.1])),
        "two levels": (np.array([1.0, 4.0]), np.array([0.5, 0.5])),
    }[law]
    slope = float(random.choice([-2, 0, 0, 2]))
    name = f"{design.name}, weights {law}, log odds {slope:+g}"
    return replace(design, name=name, weighting=Weighting(law, weights, shares, slope))


def clustered_segments(random: Random) -> Segments:
    """Draw a design of segments whose rows are in clusters."""
    design = segments(random, swapped=False)
    m = int(random.choice([8, 12, 20, 40, 100]))
    supports = np.clip(design.supports, 5 * m, 2_000 * m)
    chosen = design.supports.shape[1] <= 5
    recalls = design.recalls if chosen else design.recalls[:, :5]
    clustering = Clustering(
        m,
        float(random.choice([0, 0.5, 1.2])),
        float(random.choice(CORRELATIONS)),
        bool(random.random() < 0.3),
    )
    score = recalls[0].mean()
    name = (
        f"{design.name}, {m} {'shared ' if clustering.shared else ''}clusters, sizes "
        f"{clustering.spread:g}, correlation {clustering.correlation:g}, score {score:.3g}"
    )
    few = supports if chosen else supports[:, :5]
    return replace(design, name=name, supports=few, recalls=recalls, clustering=clustering)


@dataclass(frozen=True)
class Scores:
    """Segments of rows with scores; `n` are (positives, negatives), and all have the same area."""

    name: str
    n: tuple[tuple[int, int], ...]
    shift: float
    spread: float  # of the positives

    def draw(self, random: Random) -> pl.DataFrame:
        """Draw the rows of one sample: y, score and segment g."""
        parts = []
        for segment, (positives, negatives) in enumerate(self.n):
            y = np.repeat([1, 0], [positives, negatives])
            score = random.standard_normal(len(y)) * np.where(y == 1, self.spread, 1)
            parts.append(pl.DataFrame({"g": segment, "y": y, "score": score + self.shift * y}))
        return pl.concat(parts)


def scores(random: Random, *, signal: bool = True) -> Scores:
    """Draw a design of scores; without `signal`, they ignore the labels."""
    n_segments = int(random.choice([1, 2, 6, 20]))
    few, many = (int(n) for n in np.sort(random.choice([5, 10, 20, 50, 200, 1_000], 2)))
    pair = (few, many) if random.random() < 0.7 else (many, few)
    area = float(random.choice([0.6, 0.8, 0.95])) if signal else 0.5
    spread = float(random.choice([0.5, 1, 2])) if signal else 1.0
    shift = float(special.ndtri(area) * np.hypot(1, spread))
    name = f"{n_segments} x {pair[0]} and {pair[1]}, area {area:g}, spread {spread:g}"
    return Scores(name, (pair,) * n_segments, shift, spread)


@dataclass(frozen=True)
class Probabilities:
    """Segments of rows whose scores are the probabilities of a positive label."""

    name: str
    n: tuple[int, ...]
    mean: float  # of the log odds
    deviation: float
    n_values: int  # distinct scores, 0 for no ties

    def draw(self, random: Random) -> pl.DataFrame:
        """Draw the rows of one sample: y, score and segment g."""
        segment = np.repeat(np.arange(len(self.n)), self.n)
        logits = random.normal(self.mean, self.deviation, len(segment))
        if self.n_values:
            steps = np.linspace(-2, 2, self.n_values) * self.deviation + self.mean
            logits = steps[random.integers(self.n_values, size=len(segment))]
        score = special.expit(logits)
        y = (random.random(len(segment)) < score).astype(np.int64)
        return pl.DataFrame({"g": _names(segment), "y": y, "score": score})


def probabilities(random: Random) -> Probabilities:
    """Draw a design of segments with right probabilities."""
    n_segments = int(random.choice([1, 2, 6, 20, 60]))
    _, sizes = _sizes(n_segments, random)
    sizes = np.clip(np.maximum(sizes, 5), 5, max(20_000 // n_segments, 20)).astype(np.int64)
    mean = float(random.choice([-6, -4, -2, 0, 2, 4]))
    deviation = float(random.choice([0.3, 1, 2]))
    n_values = int(random.choice([0, 0, 5, 10]))
    rows = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    name = f"{n_segments} x {rows} rows, log odds {mean:g} +- {deviation:g}"
    name += f", {n_values} distinct scores" if n_values else ""
    return Probabilities(name, tuple(map(int, sizes)), mean, deviation, n_values)


@dataclass(frozen=True)
class Selections:
    """Categories of which the same share is selected."""

    name: str
    n: Counts
    rate: float

    def draw(self, random: Random) -> pl.DataFrame:
        """Draw one sample: selected, category g and count n."""
        chosen = random.binomial(self.n, self.rate)
        categories = pl.DataFrame({"g": np.arange(len(self.n))})
        parts = [
            categories.with_columns(selected=pl.lit(value), n=pl.Series(n))
            for value, n in ((1, chosen), (0, self.n - chosen))
        ]
        return pl.concat(parts).filter(pl.col("n") > 0)


def selections(random: Random) -> Selections:
    """Draw a design of categories."""
    law, sizes = _sizes(int(random.choice([2, 3, 6, 12, 20])), random)
    n = np.clip(sizes, 10, LARGEST).astype(np.int64)
    rate = float(random.choice(RATES))
    return Selections(f"{len(n)} categories, {law}, rate {rate:g}", n, rate)


@dataclass(frozen=True)
class Columns:
    """Rows with columns to search, none of which matters; `errors` are those of each label."""

    name: str
    n: int
    n_levels: tuple[int, ...]
    errors: tuple[float, ...]
    copied: float  # share of rows with the level of the column before

    @property
    def metric(self) -> str:
        """The metric that is searched."""
        return "accuracy" if len(self.errors) == 1 else "balanced_accuracy"

    def draw(self, random: Random) -> pl.DataFrame:
        """Draw the rows of one sample: y, yhat and columns c0, c1, ..."""
        columns: dict[str, Counts] = {}
        for i, n_levels in enumerate(self.n_levels):
            level = random.integers(n_levels, size=self.n)
            if i:
                before = columns[f"c{i - 1}"] % n_levels
                level = np.where(random.random(self.n) < self.copied, before, level)
            columns[f"c{i}"] = level
        n_labels = max(2, len(self.errors))
        y = random.integers(n_labels, size=self.n)
        errors = np.resize(np.array(self.errors), n_labels)
        wrong = random.random(self.n) < errors[y]
        return pl.DataFrame({"y": y, "yhat": np.where(wrong, (y + 1) % n_labels, y), **columns})


def columns(random: Random) -> Columns:
    """Draw a design of columns to search."""
    n = int(random.choice([100, 300, 1_000, 3_000]))
    n_levels = tuple(int(k) for k in random.choice([2, 2, 3, 5, 10], int(random.integers(1, 5))))
    errors = tuple(
        float(e)
        for e in random.choice([0.001, 0.01, 0.05, 0.2, 0.5], int(random.choice([1, 1, 2, 4])))
    )
    copied = float(random.choice([0, 0.5]))
    wrong = ", ".join(f"{e:g}" for e in errors)
    levels = ", ".join(map(str, n_levels))
    name = f"{n} rows, columns of {levels} levels, errors {wrong}, {copied:g} copied"
    return Columns(name, n, n_levels, errors, copied)


def groups(random: Random) -> Columns:
    """Draw a design of two to four columns of groups, and of two labels."""
    design = columns(random)
    n_levels = (design.n_levels * 2)[: max(2, len(design.n_levels))]
    errors = (design.errors * 2)[:2]
    return replace(design, n_levels=n_levels, errors=errors, n=max(design.n, 300))


def streams(random: Random) -> Streams:
    """Draw a design of weeks of one stream, whose scores may vary, have a memory or a season."""
    supports = ((20, 20), (50, 200), (5, 50), (30,), (500, 500))[random.integers(5)]
    before = int(random.choice([26, 52]))
    law = random.integers(4)
    spread = (0.0, 0.01, 0.02, 0.02)[law]
    autocorrelation = (0.0, 0.0, 0.0, float(random.choice([0.3, 0.5, 0.7])))[law]
    return Streams(supports, 1, spread=spread, autocorrelation=autocorrelation, before=before)


def alike_streams(random: Random) -> Streams:
    """Draw a design of weeks of one stream, whose scores are alike."""
    return replace(streams(random), spread=0.0, autocorrelation=0.0)
