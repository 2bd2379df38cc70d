"""thermorbm: thermodynamics of spin configurations, read by restricted Boltzmann machines."""
