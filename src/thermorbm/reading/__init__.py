"""What one machine says of one dataset: one reading for `thermorbm analyse`, for studies and from Python.

`values` has what is read, as typed values; `configurations` reads datasets alone; `machine` and `generation`
read machines; `entropy` brackets the entropy; `analysis` sums up a machine or a training for a user.
"""

MOST_HELD_OUT = 5000


def default_held_out(n_samples: int) -> int:
    """How many configurations are held out where nothing is said: a tenth, at most 5000."""
    return min(MOST_HELD_OUT, n_samples // 10)
