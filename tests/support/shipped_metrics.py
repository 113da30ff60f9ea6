"""The names of the metrics that balframe ships; of a family, one member on each side of 1."""

from balframe.metrics.lookup import metric_families, registered_metrics

OF_FAMILIES = [f"{name}({number})" for name in metric_families for number in (0.5, 2)]
SHIPPED = [
    *(one.name for one in registered_metrics() if one.is_shipped),
    *OF_FAMILIES,
]
