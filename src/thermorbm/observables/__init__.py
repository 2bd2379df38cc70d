"""What is read off configurations and machines: arrays, datasets and machines in, arrays out.

Nothing here knows how a quantity depends on temperature; that is for `estimators`.
"""

from thermorbm.inverse_ising import (
    InferredCouplings,
    infer_couplings,
)
from thermorbm.observables.bracket import (
    EntropyBracket,
    entropy_bracket,
    negative_log_likelihood,
)
from thermorbm.observables.configurations import (
    ConfigurationSeries,
    RadialCurve,
    configuration_series,
    total_energies,
    two_point_correlation,
)
from thermorbm.observables.distributions import (
    Distribution,
    common_edges,
    distribution,
)
from thermorbm.observables.generation import (
    generate,
    linear_probability,
    magnetization_probability,
    stepwise_probability,
)
from thermorbm.observables.hidden import (
    HiddenEncoding,
    hidden_encoding,
    hidden_magnetization_histogram,
    permutation_difference,
    wrap_hidden,
)
from thermorbm.observables.interactions import (
    Interactions,
    coupling_estimates,
    hamiltonian_energy,
    interactions,
    pair_estimates,
    temperature_estimate,
)
from thermorbm.observables.likelihood import (
    VisibleEnergies,
    cross_entropy,
    pseudo_entropies,
    pseudo_likelihood,
    pseudo_likelihoods,
    visible_energies,
)
from thermorbm.observables.order_parameter import (
    mere_order,
    order_kind,
    order_parameters,
)
from thermorbm.observables.quality import (
    Comparison,
    Quality,
    quality,
)
from thermorbm.observables.weights import (
    UnitSums,
    couplings,
    filter_sums,
    inverse_filter_correlation,
    inverse_filter_sums,
    largest_domains,
    majority_shares,
    wrap_filters,
)

__all__ = [
    "Comparison",
    "ConfigurationSeries",
    "Distribution",
    "EntropyBracket",
    "HiddenEncoding",
    "InferredCouplings",
    "Interactions",
    "Quality",
    "RadialCurve",
    "UnitSums",
    "VisibleEnergies",
    "common_edges",
    "configuration_series",
    "coupling_estimates",
    "couplings",
    "cross_entropy",
    "distribution",
    "entropy_bracket",
    "filter_sums",
    "generate",
    "hamiltonian_energy",
    "hidden_encoding",
    "hidden_magnetization_histogram",
    "infer_couplings",
    "interactions",
    "inverse_filter_correlation",
    "inverse_filter_sums",
    "largest_domains",
    "linear_probability",
    "magnetization_probability",
    "majority_shares",
    "mere_order",
    "negative_log_likelihood",
    "order_kind",
    "order_parameters",
    "pair_estimates",
    "permutation_difference",
    "pseudo_entropies",
    "pseudo_likelihood",
    "pseudo_likelihoods",
    "quality",
    "stepwise_probability",
    "temperature_estimate",
    "total_energies",
    "two_point_correlation",
    "visible_energies",
    "wrap_filters",
    "wrap_hidden",
]
