"""Studies: what to compute (a strict TOML file), in which tasks, where the results lie, and who runs them.

    toml -> spec -> plan (tasks, each named by the hash of what determines it) -> executor -> run directory

Heavy modules are imported by the workers, where the work is done.
"""
