"""What decides how rows are counted, to be set so that few rows are counted in every way."""

_STRATEGY = "balframe.core.counting_strategy"
MANY_FOR_CORES = f"{_STRATEGY}.MIN_TO_SHARE"
MANY_FOR_A_HASH_TABLE = f"{_STRATEGY}.MIN_TO_HASH"
SMALL_TABLE, BLOCK = (
    f"{_STRATEGY}.SMALL_TABLE",
    f"{_STRATEGY}.BLOCK",
)
WIDE_TABLE, LARGEST = (
    f"{_STRATEGY}.WIDE_TABLE",
    f"{_STRATEGY}.LARGEST_TABLE",
)
NO_TABLE = {SMALL_TABLE: 0, LARGEST: 0}
LONG, SAMPLE = (
    f"{_STRATEGY}.LONG_COLUMN",
    f"{_STRATEGY}.SAMPLE",
)
WAYS = {
    "a table, on all cores": {MANY_FOR_CORES: 1, SMALL_TABLE: 10**9, BLOCK: 2},
    "runs or a large table": NO_TABLE,
    "runs, on all cores": {MANY_FOR_CORES: 1, BLOCK: 2, **NO_TABLE},
    "the engine or a hash table": {MANY_FOR_A_HASH_TABLE: 1, WIDE_TABLE: 0, **NO_TABLE},
    "after a wrong guess": {LONG: 1, SAMPLE: 1},
    "all of it": {MANY_FOR_A_HASH_TABLE: 1, MANY_FOR_CORES: 1, BLOCK: 2, LONG: 1, **NO_TABLE},
}
