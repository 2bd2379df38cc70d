"""What one machine says of one dataset: one reading for `thermorbm analyse`, for studies and from Python.

`values` has what is read, as typed values; `configurations` reads datasets alone; `machine`, `generation` and
`interactions` read machines; `entropy` brackets the entropy; `analysis` and `users` are what users call.
"""
