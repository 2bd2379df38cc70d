"""What is read off configurations and machines: arrays, datasets and machines in, arrays out.

Nothing here knows how a quantity depends on temperature; that is for `estimators`.
"""

from thermorbm.inverse_ising import (
    InferredCouplings as InferredCouplings,
    infer_couplings as infer_couplings,
)
from thermorbm.observables.bracket import (
    EntropyBracket as EntropyBracket,
    entropy_bracket as entropy_bracket,
    negative_log_likelihood as negative_log_likelihood,
)
from thermorbm.observables.configurations import (
    ConfigurationSeries as ConfigurationSeries,
    RadialCurve as RadialCurve,
    configuration_series as configuration_series,
    total_energies as total_energies,
    two_point_correlation as two_point_correlation,
)
from thermorbm.observables.distributions import (
    Distribution as Distribution,
    common_edges as common_edges,
    distribution as distribution,
)
from thermorbm.observables.generation import (
    generate as generate,
    linear_probability as linear_probability,
    magnetization_probability as magnetization_probability,
    stepwise_probability as stepwise_probability,
)
from thermorbm.observables.hidden import (
    HiddenEncoding as HiddenEncoding,
    hidden_encoding as hidden_encoding,
    hidden_magnetization_histogram as hidden_magnetization_histogram,
    permutation_difference as permutation_difference,
    wrap_hidden as wrap_hidden,
)
from thermorbm.observables.interactions import (
    Interactions as Interactions,
    coupling_estimates as coupling_estimates,
    hamiltonian_energy as hamiltonian_energy,
    interactions as interactions,
    pair_estimates as pair_estimates,
    temperature_estimate as temperature_estimate,
)
from thermorbm.observables.likelihood import (
    VisibleEnergies as VisibleEnergies,
    cross_entropy as cross_entropy,
    pseudo_entropies as pseudo_entropies,
    pseudo_likelihood as pseudo_likelihood,
    pseudo_likelihoods as pseudo_likelihoods,
    visible_energies as visible_energies,
)
from thermorbm.observables.order_parameter import (
    mere_order as mere_order,
    order_kind as order_kind,
    order_parameters as order_parameters,
)
from thermorbm.observables.quality import (
    Comparison as Comparison,
    Quality as Quality,
    quality as quality,
)
from thermorbm.observables.weights import (
    UnitSums as UnitSums,
    couplings as couplings,
    filter_sums as filter_sums,
    inverse_filter_correlation as inverse_filter_correlation,
    inverse_filter_sums as inverse_filter_sums,
    largest_domains as largest_domains,
    majority_shares as majority_shares,
    wrap_filters as wrap_filters,
)
