// The chains of both panes, and what they have passed.
const Chains = (function () {
  const get = App.get, point = App.point, panes = App.panes, state = App.state;
  const WINDOW = 300, EVERY = 20, KEPT = 6, FEWEST = 16;

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

  function makeTrace() { return { steps: [], values: [], counts: new Map(), average: makeAverage() }; }

  // The mean of all values of a chain with its error from blocks. There are always 16 to 31 of them, so that
  // they grow with the chain and come to be longer than its memory.
  function makeAverage() {
    let sum = 0, count = 0, length = 1, open = 0, inOpen = 0, blocks = [];
    function add(value) {
      sum += value; count += 1; open += value; inOpen += 1;
      if (inOpen < length) return;
      blocks.push(open / length); open = 0; inOpen = 0;
      if (blocks.length < 2 * FEWEST) return;
      blocks = Array.from({ length: FEWEST }, function (_, k) { return (blocks[2 * k] + blocks[2 * k + 1]) / 2; });
      length *= 2;
    }
    function error() {
      const n = blocks.length, mean = blocks.reduce(function (a, b) { return a + b; }, 0) / n;
      const squares = blocks.reduce(function (total, block) { return total + (block - mean) * (block - mean); }, 0);
      return n < FEWEST ? undefined : Math.sqrt(squares / (n - 1) / n);
    }
    return { add: add, mean: function () { return sum / count; }, error: error };
  }

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
    trace.average.add(averaged);
    if (!bins) return;
    const bin = Math.floor((value - bins.origin) / bins.width);
    trace.counts.set(bin, (trace.counts.get(bin) || 0) + 1);
  }

  return { restart: restart, advance: advance, makeAverage: makeAverage, WINDOW: WINDOW, KEPT: KEPT };
})();
