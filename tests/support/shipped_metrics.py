"""The names of the metrics of labels that balframe ships, and of two members of each family."""

from balframe.metrics.lookup import metric_families, registered_metrics

_NUMBERS = {
    "fbeta": ("0.5", "2"),
    "net_benefit": ("0.5", "0.2"),
    "cost": ("1, 1", "fn=5, fp=1"),
}
OF_FAMILIES = [
    f"{name}({numbers})"
    for name, family in metric_families.items()
    if "outcome" not in family.representative.needs
    for numbers in _NUMBERS[name]
]
SHIPPED = [
    *(one.name for one in registered_metrics() if one.is_shipped and "outcome" not in one.needs),
    *OF_FAMILIES,
]
