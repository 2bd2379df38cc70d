"""What tests of the explorer do in a browser."""

import json

import numpy as np

from thermorbm.explorer.content import contents
from thermorbm.lattice import Lattice
from thermorbm.observables.generation import generate
from thermorbm.report.run import read_run

# Energies per spin and |m| of independent chains after some steps; machine: kind, at the point in view.
CHAINS = """
const [kind, start, n, steps, seed] = arguments, done = arguments[arguments.length - 1];
(async function () {
  const spec = App.point().machines[kind], hamiltonian = App.state.hamiltonian;
  const bytes = await Thermorbm.unpack(document.getElementById(spec.id).textContent);
  const machine = Thermorbm.makeMachine(spec, bytes);
  const random = Thermorbm.generator(seed), values = [];
  for (let k = 0; k < n; k++) {
    const chain = Thermorbm.makeChain(machine, random);
    if (start === "random") chain.randomSpins(); else chain.fromHidden(App.hiddenProbability());
    for (let step = 0; step < steps; step++) chain.step();
    const m = Thermorbm.magnetizationOf(chain.v);
    values.push([Thermorbm.energyOf(hamiltonian, chain.v) / chain.v.length, Math.abs(m)]);
  }
  done(values);
})();
"""


def wait_for(driver, condition):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(driver, 60, poll_frequency=0.05).until(condition)


def open_page(driver, path):
    driver.get(path.as_uri())
    wait_for(driver, lambda d: d.execute_script("return App.state.ready"))


def choose(driver, family, point):
    """Goes to a family and a temperature by the page's own controls, and lets nothing run."""
    for name, value in (("family", family), ("value", point)):
        driver.execute_script(
            "const control = document.getElementById(arguments[0]);"
            "control.value = arguments[1]; control.dispatchEvent(new Event(arguments[2]));",
            name, str(value), "change" if name == "family" else "input",
        )  # fmt: skip
        wait_for(driver, lambda d: d.execute_script("return App.state.ready"))
    if driver.find_element("id", "run").text == "Pause":
        driver.find_element("id", "run").click()


def complaints(driver):
    """Errors and warnings of the console, and addresses that were asked for beyond the page itself."""
    logged = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return logged + [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def shown_machine(run, family, point, kind):
    content = next(item for item in contents(read_run(run)) if item.name == family)
    return content, content.points[point].machines[kind].load()


def compare_chains(browser, run, family, point, kind, start, n, steps=20):
    """Mean E/N and |m| after some steps of n independent chains, within four errors of the difference."""
    made = np.array(browser.execute_async_script(CHAINS, kind, start, n, steps, 11))
    content, machine = shown_machine(run, family, point, kind)
    lattice = Lattice(content.shape)
    if start == "random":
        spins = np.random.default_rng(3).choice(np.array([-1, 1], np.int8), (4 * n, lattice.n_sites))
        v = machine.gibbs(spins, steps, seed=4)
    else:
        p_h = (content.points[point].data.means["abs_magnetization"].value + 1) / 2
        v = generate(machine, p_h, 4 * n, steps, seed=4).spins()
    truth = np.stack([lattice.energy(v) / lattice.n_sites, np.abs(lattice.magnetization(v))], axis=1)
    errors = np.sqrt(made.var(axis=0, ddof=1) / n + truth.var(axis=0, ddof=1) / len(truth))
    assert (np.abs(made.mean(axis=0) - truth.mean(axis=0)) < 4 * errors).all()


class Silent:
    """A listener to whom everything may be told."""

    def note(self, text):
        pass

    def update(self, snapshot):
        pass
