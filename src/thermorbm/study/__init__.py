"""Studies: what to compute, in which steps, and what came of it.

    toml ─▶ spec ─▶ plan ─▶ tasks, each of one of `steps` ─▶ runner ─▶ collect ─▶ results

`quantities` says what is averaged and how it is called, `results` what a study leaves. Heavy modules are
imported by the workers, where the work is done.
"""
