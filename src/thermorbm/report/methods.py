"""What the report says in sentences."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.certificates import certificates
from thermorbm.report.labels import control_label
from thermorbm.report.run import Run


def lead(run: Run) -> Markup:
    """One paragraph: what was done."""
    n_machines = sum(len(family.values.get("machines", [])) for family in run.families)
    n_data = sum(len(family.values.get("data", [])) for family in run.families)
    n_energies = sum(len(family.values.get("energies", [])) for family in run.families)
    energies = f", energies at {n_energies} further temperatures" if n_energies else ""
    return Markup(
        "{} restricted Boltzmann machines were trained on {} sets of spin configurations{}. This page "
        "shows what they learned: their weights, hidden layers, visible energies and pseudo-likelihoods, "
        "and where each of them puts the transition. Curves answer to the mouse; a click on a name in a "
        "legend hides or shows a series.{}"
    ).format(n_machines, n_data, energies, _control(run))


def _control(run: Run) -> Markup:
    """What stands in the place of the temperature, if something does."""
    name = str((run.study.get("control") or {}).get("name", "temperature"))
    if name == "temperature":
        return Markup("")
    return Markup(
        " The control parameter is {}, {}; where the page speaks of temperatures, it is meant."
    ).format(name, control_label(run).markup)


def warnings(run: Run) -> list[Markup]:
    """What a reader must know before anything else."""
    found = []
    tasks = run.results.get("tasks") or {}
    failed, missing = tasks.get("failed") or [], tasks.get("missing") or []
    if failed:
        names = ", ".join(str(item.get("task")) for item in failed[:5])
        found.append(Markup("{} of {} tasks failed ({}{}).").format(
            len(failed), tasks.get("total"), names, ", …" if len(failed) > 5 else ""))  # fmt: skip
    if missing:
        found.append(Markup("{} of {} tasks are not done yet.").format(len(missing), tasks.get("total")))
    bad = [
        f"{family.name} at {row['value']:g}"
        for family in run.families
        for row in certificates(family)
        if not row["passed"]
    ]
    if bad:
        found.append(
            Markup("The certificate of these configurations did not pass: {}.").format(", ".join(bad))
        )
    return found + _not_converged(run)


def _not_converged(run: Run) -> list[Markup]:
    machines = [machine for family in run.families for machine in family.values.get("machines", [])]
    open_ones = [m for m in machines if (m.get("verdict") or {}).get("status") != "converged"]
    if not open_ones:
        return []
    return [
        Markup(
            "{} of {} machines are not converged: trained as long again, their <i>L̃</i> may change by "
            "0.002 per spin or more. The table of machines says which."
        ).format(len(open_ones), len(machines))
    ]


def paragraphs(run: Run) -> list[Markup]:
    """Methods, as far as they are the same in every study."""
    found = [
        Markup(
            "<b>Configurations.</b> Ising configurations are sampled on periodic lattices by checkerboard "
            "Metropolis updates of many independent replicas (or by cluster updates where the study says "
            "so). Burn-in and spacing come from measured autocorrelation times, and every dataset carries "
            "a certificate. A random global sign makes both signs of <i>m</i> equally frequent unless the "
            "study says otherwise."
        ),
        Markup(
            "<b>Machines.</b> Units are ±1; <i>E</i><sub>θ</sub>(<i>v</i>, <i>h</i>) = −<i>b·v</i> − "
            "<i>c·h</i> − <i>h·Wv</i>. The visible energy is ℰ<sub>θ</sub>(<i>v</i>) = −<i>b·v</i> − "
            "Σ<sub>i</sub> ln 2 cosh(<i>w<sub>i</sub>·v</i> + <i>c<sub>i</sub></i>), the pseudo-likelihood "
            "<i>L̃</i> = −⟨Σ<sub>i</sub> ln <i>p</i>(<i>v<sub>i</sub></i> | rest)⟩ over all sites, the "
            "pseudo-entropy <i>S̃</i> the same with the Ising model's own conditionals. <i>L̃</i> and "
            "cross entropy are those of held-out configurations."
        ),
        Markup(
            "<b>What <i>L̃</i> measures.</b> Conditioning lowers entropy, so that <i>S̃</i> ≤ <i>S</i>, "
            "and a perfect machine has <i>L̃</i> = <i>S̃</i>, not <i>S</i>. Where <i>L̃</i> of a small "
            "machine comes close to <i>S</i>, two errors cancel."
        ),
        Markup(
            "<b>Critical temperatures.</b> Each indicator is fitted by smooth random curves through its "
            "points; the spread of their maxima is the error. Heat-capacity-like indicators are set "
            "against the peak of the exact heat capacity of the same lattice, magnetisation-like ones "
            "against the peak of the susceptibility of |<i>m</i>|; the distance from the infinite lattice "
            "is shown beside it."
        ),
        Markup(
            "<b>Where the printed paper is corrected.</b> The pseudo-entropy has a logarithm; the linear "
            "interpolation of <i>p</i><sub>h</sub> falls from 1 at <i>T</i><sub>L</sub> to 1/2 at "
            "<i>T</i><sub>H</sub>; exact curves are those of the finite lattice (Kaufman), not of the "
            "infinite one (Onsager)."
        ),
    ]
    if any(not family.is_ising for family in run.families):
        found.append(
            Markup(
                "<b>Unknown Hamiltonian.</b> Where the Hamiltonian is not known, energies, heat "
                "capacities, exact curves, entropies and pseudo-entropies are left out."
            )
        )
    return found


def certificate_text(run: Run) -> Markup:
    found = [row for family in run.families for row in certificates(family)]
    if not found:
        return Markup("There are no certificates: all configurations are users' own.")
    passed = sum(bool(row["passed"]) for row in found)
    return Markup(
        "{} of {} sets of sampled configurations passed: agreement of chains that started differently "
        "(R̂), enough effective samples, and where exact results exist the mean energy (z) and the whole "
        "distribution of energies (p)."
    ).format(passed, len(found))


def machine_text(run: Run) -> Markup:
    return Markup(
        "Every machine with its recipe, and whether training converged. <i>L̃</i> and CE (cross entropy) "
        "are those of held-out configurations, visible energies those of training configurations, per spin."
    )
