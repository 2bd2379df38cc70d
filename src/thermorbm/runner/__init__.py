"""Runs tasks: on processes of this computer, on a cluster or as shards of a batch array, and after any crash.

    run ──▶ executor ──▶ schedule                   which task is next
     │         └──▶ pool, or cluster ──▶ remote     who does it: `worker` processes, here or elsewhere
     └──▶ rundir ──▶ store, lock                    where everything lies; nothing else is remembered

It knows no physics: what a task does is a `Step`, which `study.steps` declares.
"""
