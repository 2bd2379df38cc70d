// The chains of both panes, and what they have passed.
const Chains = (function () {
  const get = App.get, point = App.point, panes = App.panes, state = App.state;
  const WINDOW = 300, EVERY = 20, KEPT = 6;

  function restart() {
    const seed = Number(get("seed").value) >>> 0;
    const start = state.start === "data" && !state.spins.length ? "random" : state.start, p = App.hiddenProbability();
    panes.forEach(function (pane) {
      pane.chain = pane.machine ? Thermorbm.makeChain(pane.machine, Thermorbm.generator(2 * seed + pane.index)) : null;
      pane.count = 0; pane.seconds = 0; pane.timed = 0; pane.snapshots = [];
      pane.trace = { energy: makeTrace(), magnetization: makeTrace() };
      if (!pane.chain) return;
      if (start === "random") pane.chain.randomSpins();
      else if (start === "hidden") pane.chain.fromHidden(p === null ? 0.5 : p);
      else if (start === "data") pane.chain.v.set(state.spins[state.real]);
      record(pane);
    });
    state.due = 0;
  }

  function makeTrace() { return { steps: [], values: [], counts: new Map(), sum: 0 }; }

  function advance(n) {
    if (!state.ready) return; // another temperature is being read
    panes.forEach(function (pane) {
      if (!pane.chain) return;
      for (let k = 0; k < n; k++) {
        const began = performance.now();
        pane.chain.step();
        pane.seconds += (performance.now() - began) / 1000;
        pane.timed += 1;
        pane.count += 1;
        record(pane);
        if (pane.count % EVERY === 0) pane.snapshots = pane.snapshots.concat([pane.chain.v.slice()]).slice(-KEPT);
      }
    });
  }

  function record(pane) {
    const v = pane.chain.v, data = point().data, m = Thermorbm.magnetizationOf(v);
    add(pane.trace.magnetization, pane.count, m, data && data.magnetization, Math.abs(m));
    if (!state.hamiltonian) return;
    const energy = Thermorbm.energyOf(state.hamiltonian, v) / v.length;
    add(pane.trace.energy, pane.count, energy, data && data.energy, energy);
  }

  // The start itself is drawn and not counted.
  function add(trace, step, value, bins, averaged) {
    trace.steps.push(step); trace.values.push(value);
    if (trace.steps.length > WINDOW + 1) { trace.steps.shift(); trace.values.shift(); }
    if (step === 0) return;
    trace.sum += averaged;
    if (!bins) return;
    const bin = Math.floor((value - bins.origin) / bins.width);
    trace.counts.set(bin, (trace.counts.get(bin) || 0) + 1);
  }

  return { restart: restart, advance: advance, WINDOW: WINDOW, KEPT: KEPT };
})();
