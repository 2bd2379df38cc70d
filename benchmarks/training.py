"""Seconds per epoch of CD-5 at the paper's size, beside bare matrix products and other programs, in one run.

    python -m benchmarks.training [--hidden 400,1600,2500] [--tensorflow PYTHON] [--json]

n_v = 4096, batch 128, 390 updates per epoch (50 000 configurations). Programs take turns, each in two ways
that keep both cores busy: two single-threaded processes with a machine each ("two"), and one process with two
threads ("one"). The time is that of one machine, in the first way divided by two because two are trained.

gemm       the 13 matrix products of an update in the precision that thermorbm uses, and nothing else
thermorbm  the `paper` recipe
int8       the same with products of 8-bit integers
pytorch    the same update written plainly: float32, torch.bernoulli
rbms       the package of that name, its own batch function with 5 Gibbs steps
tensorflow the way of the paper's authors (github.com/Jing-DS/isingrbm) in the TensorFlow that they use, eager
           like theirs: visible energies are differentiated for one parameter at a time, units drawn by
           NumPy's binomial on the host, metrics taken on all data every epoch; run by the interpreter PYTHON
           of an environment with thermorbm and tensorflow-cpu, which wants another h5py than rbms does
autodiff   the same in PyTorch, with metrics that are spared the loop over configurations
"""

import argparse
import json
import os
import subprocess
import sys
from functools import partial

N_VISIBLE, BATCH, STEPS = 4096, 128, 5
PROGRAMS = ("gemm", "thermorbm", "int8", "pytorch", "rbms", "autodiff")
SECONDS, TURNS = 4.0, 2


def pytorch(n_hidden):
    import torch

    W = torch.randn(n_hidden, N_VISIBLE) * 0.02
    b, c = torch.zeros(N_VISIBLE), torch.zeros(n_hidden)
    data = torch.randn(4 * BATCH, N_VISIBLE).sign()

    def draw(x):
        return 2 * torch.bernoulli(torch.sigmoid(2 * x)) - 1

    def update():
        v0 = data[torch.randint(len(data), (BATCH,))]
        v = v0
        for _ in range(STEPS):
            v = draw(draw(v @ W.T + c) @ W + b)
        t0, t = torch.tanh(v0 @ W.T + c), torch.tanh(v @ W.T + c)
        W.add_((t0.T @ v0 - t.T @ v) / BATCH, alpha=1e-4)
        b.add_((v0 - v).mean(0), alpha=1e-4)
        c.add_((t0 - t).mean(0), alpha=1e-4)

    return update


def rbms(n_hidden):
    import torch
    from rbms.bernoulli_bernoulli.classes import BBRBM
    from rbms.training.pcd import fit_batch_pcd

    machine = BBRBM(torch.randn(N_VISIBLE, n_hidden) * 0.02, torch.zeros(N_VISIBLE), torch.zeros(n_hidden))
    machine.init_grad()
    optimizer = torch.optim.SGD(machine.parameters(), lr=1e-4, maximize=True)
    data = torch.randint(0, 2, (4 * BATCH, N_VISIBLE)).float()
    state = {"chains": machine.init_chains(BATCH)}

    def update():
        batch = data[torch.randint(len(data), (BATCH,))], torch.ones(BATCH, 1)
        state["chains"], _ = fit_batch_pcd(batch, state["chains"], machine, STEPS, 1.0, centered=False)
        optimizer.step()

    return update


def tensorflow(n_hidden):
    import numpy as np
    import tensorflow as tf

    threads = int(os.environ["OMP_NUM_THREADS"])
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    parameters = [
        tf.Variable(tf.random.normal([n_hidden, N_VISIBLE], stddev=0.02)),
        tf.Variable(tf.zeros([N_VISIBLE])),
        tf.Variable(tf.zeros([n_hidden])),
    ]
    W, b, c = parameters
    rng = np.random.RandomState(0)
    data = rng.choice(np.array([-1, 1], dtype=np.int8), (4 * BATCH, N_VISIBLE))

    def inputs(v):
        return tf.matmul(v, tf.transpose(W)) + c

    def energy(v):
        down, up = tf.clip_by_value(-inputs(v), -50.0, 50), tf.clip_by_value(inputs(v), -50.0, 50)
        return -tf.linalg.matvec(v, b) - tf.reduce_sum(tf.math.log(tf.exp(down) + tf.exp(up)), axis=1)

    def probability(x):
        return 1 / (1 + tf.exp(-tf.clip_by_value(2 * x, -250, 250)))

    def draw(p):
        return tf.Variable((rng.binomial(n=1, p=p, size=p.shape) - 0.5) * 2, dtype="float32")

    def gradients(v):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(energy(v))
        return [tape.gradient(loss, parameter) for parameter in parameters]

    def metrics(spins):
        v = tf.Variable(spins, dtype="float32")
        p = probability(tf.matmul(draw(probability(inputs(v))), W) + b)
        is_up = v / 2 + 0.5
        up, down = (tf.math.log(tf.clip_by_value(x, 1e-6, 1)) for x in (p, 1 - p))
        tf.reduce_mean(is_up * up + (1 - is_up) * down)
        flipped = []
        for row in spins:
            copy = row.copy()
            copy[rng.randint(N_VISIBLE)] *= -1
            flipped.append(copy)
        difference = energy(tf.Variable(flipped, dtype="float32")) - energy(v)
        np.log(probability(difference / 2).numpy()).mean()
        tf.reduce_mean(energy(v)).numpy()

    def update():
        spins = data[rng.randint(len(data), size=BATCH)]
        v = v0 = tf.Variable(spins, dtype="float32")
        positive = gradients(v0)
        for _ in range(STEPS):
            v = draw(probability(tf.matmul(draw(probability(inputs(v))), W) + b))
        for parameter, data_term, model_term in zip(parameters, positive, gradients(v), strict=True):
            parameter.assign_sub(1e-4 * (data_term - model_term))
        metrics(spins)  # once per configuration and epoch

    return update


def autodiff(n_hidden):
    import numpy as np
    import torch

    parameters = [
        (torch.randn(n_hidden, N_VISIBLE) * 0.02).requires_grad_(),
        torch.zeros(N_VISIBLE, requires_grad=True),
        torch.zeros(n_hidden, requires_grad=True),
    ]
    W, b, c = parameters
    data = torch.randn(4 * BATCH, N_VISIBLE).sign()
    rng = np.random.RandomState(0)

    def energy(v):
        down, up = torch.clip(-(v @ W.T + c), -50, 50), torch.clip(v @ W.T + c, -50, 50)
        return -(v @ b) - torch.log(torch.exp(down) + torch.exp(up)).sum(1)

    def probability(x):
        return 1 / (1 + torch.exp(-torch.clip(2 * x, -250, 250)))

    def draw(p):
        return torch.tensor((rng.binomial(n=1, p=p.numpy(), size=p.shape) - 0.5) * 2, dtype=torch.float32)

    def gradients(v):
        loss = energy(v).mean()
        return [torch.autograd.grad(loss, parameter, retain_graph=True)[0] for parameter in parameters]

    def metrics(v):
        """Cross entropy, one-site pseudo-likelihood and visible energy, which they take over all data."""
        p = probability(draw(probability(v @ W.T + c)) @ W + b)
        torch.where(v > 0, torch.log(p.clip(1e-6)), torch.log((1 - p).clip(1e-6))).mean()
        flipped = v.clone()
        flipped[torch.arange(len(v)), torch.randint(N_VISIBLE, (len(v),))] *= -1
        torch.log(probability((energy(flipped) - energy(v)) / 2)).mean()

    def update():
        v = v0 = data[torch.randint(len(data), (BATCH,))]
        positive = gradients(v0)
        with torch.no_grad():
            for _ in range(STEPS):
                v = draw(probability(draw(probability(v @ W.T + c)) @ W + b))
        negative = gradients(v)
        with torch.no_grad():
            for parameter, data_term, model_term in zip(parameters, positive, negative, strict=True):
                parameter.sub_(data_term - model_term, alpha=1e-4)
            metrics(v0)  # once per configuration and epoch

    return update


def time_updates(program, n_hidden, threads):
    """Seconds per epoch of one program in this process."""
    import torch

    from thermorbm.trials import epoch_seconds, products_update, training_update

    torch.set_num_threads(threads)
    makers = {"gemm": products_update, "thermorbm": training_update} | globals()
    makers["int8"] = partial(training_update, precision="int8")
    return epoch_seconds(makers[program](n_hidden), SECONDS)


def both_cores(program, n_hidden, n_processes, python):
    """Seconds per epoch and machine with `n_processes` processes on two cores."""
    threads = 2 // n_processes
    command = [python, "-m", "benchmarks.training", "--one", program, str(n_hidden), str(threads)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(n_processes)
    ]
    seconds = [float(process.communicate()[0]) for process in processes]
    return sum(seconds) / n_processes**2


def measure(n_hidden, pythons):
    """{program: {"two": seconds, "one": seconds}}, the better of two turns; pythons: by program."""
    turns = [
        {
            p: {"two": both_cores(p, n_hidden, 2, x), "one": both_cores(p, n_hidden, 1, x)}
            for p, x in pythons.items()
        }
        for _ in range(TURNS)
    ]
    return {p: {way: min(turn[p][way] for turn in turns) for way in ("two", "one")} for p in pythons}


def show(n_hidden, seconds):
    ours, floor = min(seconds["thermorbm"].values()), seconds["gemm"]["two"]
    for program, ways in seconds.items():
        print(
            f"{n_hidden:>5} {program:>10} {ways['two']:9.2f} {ways['one']:9.2f} "
            f"{ways['two'] / floor:9.2f}x {min(ways.values()) / ours:11.1f}x {ways['one'] / ours:13.1f}x"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hidden", default="400,1600,2500")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter that has it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        program, n_hidden, threads = options.one
        print(time_updates(program, int(n_hidden), int(threads)))
        return
    pythons = dict.fromkeys(PROGRAMS, sys.executable)
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    results = {int(size): measure(int(size), pythons) for size in options.hidden.split(",")}
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print("  n_h    program  two, s    one, s   over gemm  best/ours   one/ours")
    for n_hidden, seconds in results.items():
        show(n_hidden, seconds)


if __name__ == "__main__":
    main()
