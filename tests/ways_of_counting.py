"""What decides how rows are counted, to be set so that few rows are counted in every way."""

MANY_FOR_CORES = "balframe.core.ways.MANY_TO_SHARE"
MANY_FOR_A_HASH_TABLE = "balframe.core.ways.MANY_TO_HASH"
SMALL_TABLE, BLOCK = "balframe.core.ways.SMALL_TABLE", "balframe.core.ways.BLOCK"
WIDE_TABLE, LARGEST = "balframe.core.ways.WIDE_TABLE", "balframe.core.ways.LARGEST_TABLE"
NO_TABLE = {SMALL_TABLE: 0, LARGEST: 0}
LONG, SAMPLE = "balframe.core.ways.LONG_COLUMN", "balframe.core.ways.SAMPLE"
WAYS = {
    "a table, on all cores": {MANY_FOR_CORES: 1, SMALL_TABLE: 10**9, BLOCK: 2},
    "runs or a large table": NO_TABLE,
    "runs, on all cores": {MANY_FOR_CORES: 1, BLOCK: 2, **NO_TABLE},
    "the engine or a hash table": {MANY_FOR_A_HASH_TABLE: 1, WIDE_TABLE: 0, **NO_TABLE},
    "after a wrong guess": {LONG: 1, SAMPLE: 1},
    "all of it": {MANY_FOR_A_HASH_TABLE: 1, MANY_FOR_CORES: 1, BLOCK: 2, LONG: 1, **NO_TABLE},
}
