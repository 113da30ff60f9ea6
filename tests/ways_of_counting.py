"""What decides how rows are counted, to be set so that few rows are counted in every way."""

MANY_FOR_CORES = "balframe.core.ways.MANY_TO_SHARE"
MANY_FOR_A_HASH_TABLE = "balframe.core.ways.MANY_TO_HASH"
SMALL_TABLE, BLOCK = "balframe.core.ways.SMALL_TABLE", "balframe.core.ways.BLOCK"
WIDE_TABLE = "balframe.core.ways.WIDE_TABLE"
LONG, SAMPLE = "balframe.core.ways.LONG_COLUMN", "balframe.core.ways.SAMPLE"
WAYS = {
    "a table, on all cores": {MANY_FOR_CORES: 1, SMALL_TABLE: 10**9, BLOCK: 2},
    "runs or a large table": {SMALL_TABLE: 0},
    "runs, on all cores": {MANY_FOR_CORES: 1, SMALL_TABLE: 0, BLOCK: 2},
    "the engine or a hash table": {MANY_FOR_A_HASH_TABLE: 1, SMALL_TABLE: 0, WIDE_TABLE: 0},
    "after a wrong guess": {LONG: 1, SAMPLE: 1},
    "all of it": {MANY_FOR_A_HASH_TABLE: 1, MANY_FOR_CORES: 1, SMALL_TABLE: 0, BLOCK: 2, LONG: 1},
}
