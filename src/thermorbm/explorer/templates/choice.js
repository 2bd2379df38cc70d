// Reads what is chosen out of the page: configurations, Hamiltonians, machines, filters.
const Choice = (function () {
  const page = App.page, get = App.get, state = App.state, panes = App.panes, family = App.family, point = App.point, at = App.at, kindName = App.kindName;
  const MEMORY = 6, machines = new Map(); // by the id of their weights: the last few

  async function floats(text) { return text ? new Float32Array((await Thermorbm.unpack(text)).buffer) : new Float32Array(0); }

  async function hamiltonianOf(index) {
    if (index === null) return null;
    const stored = family().hamiltonians[index];
    if (!stored.ready) {
      const terms = [];
      for (const term of stored.terms) {
        const sites = new Int32Array((await Thermorbm.unpack(term.sites)).buffer);
        terms.push({ order: term.order, sites: sites, couplings: await floats(term.couplings) });
      }
      stored.ready = { terms: terms, field: await floats(stored.field) };
    }
    return stored.ready;
  }

  async function configurations(data) {
    if (!data) return [];
    const bits = await Thermorbm.unpack(data.spins), n = family().n_sites, found = [];
    for (let k = 0; k < data.n_spins; k++) {
      const spins = new Int8Array(n);
      for (let j = 0; j < n; j++) spins[j] = bits[(k * n + j) >> 3] >> ((k * n + j) & 7) & 1 ? 1 : -1;
      found.push(spins);
    }
    return found;
  }

  async function machineOf(spec) {
    if (!machines.has(spec.id)) {
      const bytes = await Thermorbm.unpack(get(spec.id).textContent);
      machines.set(spec.id, Thermorbm.makeMachine(spec, bytes));
      if (machines.size > MEMORY) machines.delete(machines.keys().next().value);
    }
    return machines.get(spec.id);
  }

  // Whether it is still what is wanted when all is read.
  async function choosePoint() {
    const turn = ++state.turn, data = point().data;
    const ready = {
      spins: await configurations(data), hamiltonian: await hamiltonianOf(data ? data.hamiltonian : null), machines: []
    };
    for (const pane of panes) {
      const spec = point().machines[pane.select.value];
      ready.machines.push(spec && spec.id ? await machineOf(spec) : null);
    }
    if (turn !== state.turn) return false; // another choice came in between
    state.spins = ready.spins; state.hamiltonian = ready.hamiltonian; state.real = 0;
    state.layout = Pictures.layoutOf(family().shape, family().n_sites);
    for (const pane of panes) await choosePane(pane, ready.machines[pane.index]);
    return turn === state.turn;
  }

  async function choosePane(pane, machine) {
    const key = pane.select.value, spec = point().machines[key];
    pane.kind = key; pane.spec = spec || null; pane.machine = machine; pane.chosen = 0;
    pane.colour = page.colours[key] || page.colours.data;
    pane.dash = pane.index && panes[0].select.value === key ? "5 3" : "none";
    pane.swatch.style.background = pane.colour;
    pane.place.hidden = !key;
    pane.missing.hidden = machine !== null;
    const reason = point().missing[key] || "it is not in this page";
    pane.missing.textContent = "No chain at " + at(point().value) + ": " + reason + ".";
    for (const part of [pane.spins, pane.hidden, pane.hidden.previousElementSibling, pane.numbers, pane.ofHidden]) part.hidden = machine === null;
    await arrangeFilters(pane);
  }

  // Filters sorted by their sums; where weights are missing, those that were kept.
  async function arrangeFilters(pane) {
    const spec = pane.spec, kept = spec && spec.filters ? await floats(spec.filters) : null;
    const values = pane.machine ? pane.machine.arrays.W : kept;
    pane.filters.querySelector("h3").textContent = kindName(pane.kind);
    pane.filters.hidden = !values;
    pane.tiles = null;
    if (!values) return;
    const shared = Boolean(pane.machine && spec.window), size = shared ? spec.columns : family().n_sites;
    const count = values.length / size, sums = new Float64Array(count);
    for (let k = 0; k < values.length; k++) sums[Math.floor(k / size)] += values[k];
    const order = Array.from(sums.keys()).sort(function (a, b) { return sums[b] - sums[a]; });
    const inner = Pictures.layoutOf(shared ? cellsBeside(spec.window, spec.n_cell) : family().shape, size);
    const columns = shared ? Math.min(count, 8) : Math.ceil(Math.sqrt(count));
    pane.tiles = {
      layout: Pictures.tiledLayout(inner, order, columns), values: values, size: size, sums: sums, order: order,
      limit: Pictures.limitOf(values), shared: shared, isPart: !pane.machine
    };
    const cells = shared ? Pictures.layoutOf(spec.shape, pane.machine.nHidden / count) : null;
    pane.units = Pictures.unitLayout(order, cells, shared ? Math.min(count, 2) : columns);
  }

  // Sides of a window with the sites of a cell side by side.
  function cellsBeside(window, nCell) {
    return window.slice(0, -1).concat(window[window.length - 1] * nCell);
  }

  return { choosePoint: choosePoint };
})();
