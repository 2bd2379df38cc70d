// Shows what the chains do.
const View = (function () {
  const page = App.page, get = App.get, state = App.state, panes = App.panes, family = App.family, point = App.point, at = App.at, number = App.number, measured = App.measured, kindName = App.kindName;
  const table = Pictures.colourTable(page.scale);
  function small(x) { return x === 0 ? "0" : x.toPrecision(2); }

  function showPoint() {
    const value = point().value, critical = family().critical;
    get("value-text").textContent = at(value);
    if (critical !== null) {
      get("value-text").append((value < critical ? " (below " : " (above ") + page.control.symbol, ...App.lowered("_c = " + critical.toFixed(3) + ")"));
    }
    get("value").setAttribute("aria-valuetext", at(value));
    const p = App.hiddenProbability();
    get("p-h").textContent = p === null ? "" : " = " + p.toFixed(3);
    document.querySelector("[data-start=hidden]").disabled = p === null;
    document.querySelector("[data-start=data]").disabled = state.spins.length === 0;
    showReal();
    panes.forEach(showFilters);
    for (const id of ["run", "step", "steps"]) get(id).disabled = panes.every(function (pane) { return pane.machine === null; });
    get("filters").hidden = panes.every(function (pane) { return pane.tiles === null; });
    showExactness();
  }

  let drawnAt = 0;
  function showAll(always) {
    if (!state.ready) return;
    panes.forEach(showPane);
    const now = performance.now();
    if (state.running && !always && now - drawnAt < 120) return; // texts and charts need no more
    drawnAt = now;
    panes.forEach(showNumbers);
    showChart("energy", "E/N", get("energy-chart"));
    showChart("magnetization", "m", get("magnetization-chart"));
    showAverages();
    showGallery();
    showSpeed();
  }

  function showReal() {
    const canvas = get("data-card").querySelector("canvas"), data = point().data, spins = state.spins[state.real];
    const there = spins !== undefined;
    for (const part of [canvas, get("previous"), get("next")]) part.hidden = !there;
    get("data-index").textContent = there ? (state.real + 1) + " of " + state.spins.length : "";
    if (!there) { get("data-numbers").textContent = "No configurations at " + at(point().value) + " are kept in this run directory."; return; }
    Pictures.drawSpins(canvas, spins, state.layout, -1);
    let words = "m " + number(Thermorbm.magnetizationOf(spins));
    if (state.hamiltonian) words = "E/N " + number(Thermorbm.energyOf(state.hamiltonian, spins) / spins.length) + " · " + words;
    const shape = family().shape;
    if (shape && shape.length === 3) words += " · all " + shape[0] + " layers side by side";
    get("data-numbers").textContent = words;
    canvas.setAttribute("aria-label", "Real configuration at " + at(point().value) + ": " + words);
  }

  function showPane(pane) {
    if (!pane.chain) return;
    const drawing = state.start === "drawing";
    Pictures.drawSpins(pane.spins, pane.chain.v, state.layout, drawing ? state.cursor : -1);
    pane.hidden.style.maxWidth = pane.tiles.shared ? "" : "14em";
    Pictures.drawSpins(pane.hidden, pane.chain.h, pane.units, -1);
  }

  function showNumbers(pane) {
    if (!pane.chain) return;
    const energy = pane.trace.energy.values.at(-1), m = pane.trace.magnetization.values.at(-1);
    const words = (energy === undefined ? "" : "E/N " + number(energy) + " · ") + "m " + number(m);
    pane.numbers.textContent = "step " + pane.count + " · " + words;
    pane.spins.setAttribute("aria-label", "Configuration made by the machine " + kindName(pane.kind) + " at step " + pane.count + ": " + words);
    const up = pane.chain.h.reduce(function (sum, unit) { return sum + (unit > 0); }, 0);
    pane.ofHidden.textContent = up + " of " + pane.chain.h.length + " units are +1";
    pane.hidden.setAttribute("aria-label", "Hidden layer: " + pane.ofHidden.textContent);
  }

  function chartSpec(name, label) {
    const data = point().data, mean = name === "energy" && data ? data.means.energy : null;
    return {
      label: label, data: data ? data[name] : null, mean: mean ? mean.value : null, window: Chains.WINDOW,
      dataColour: page.colours.data,
      series: panes.filter(function (pane) { return pane.chain; }).map(function (pane) {
        const trace = pane.trace[name];
        return { name: kindName(pane.kind), colour: pane.colour, dash: pane.dash, steps: trace.steps, values: trace.values, counts: trace.counts, total: pane.count };
      })
    };
  }

  function showChart(name, label, place) {
    const spec = chartSpec(name, label);
    if (!spec.data && !spec.series.length) {
      place.textContent = name === "energy" ? "No chain runs here, and no histogram of the data is kept." : "";
      return;
    }
    if (name === "energy" && !state.hamiltonian && !spec.data) {
      place.textContent = "The energy is not shown: " + (point().data ? "the Hamiltonian of these configurations is not known." : "no configurations are kept here.");
      return;
    }
    const last = spec.series.map(function (item) { return item.values.length ? item.name + " " + number(item.values.at(-1)) : ""; });
    place.replaceChildren(Charts.svg(Charts.chart(spec, "currentColor"), label + " of the chains against the data: " + last.join(", ")));
  }

  function showAverages() {
    const data = point().data, rows = [];
    if (data) {
      const energy = data.means.energy, m = data.means.abs_magnetization;
      rows.push([page.colours.data, "Data", energy ? energy.text.replace("-", "−") : "–", m ? m.text : "–", data.n_counted ? data.n_counted + " configurations" : "the whole dataset"]);
    }
    panes.forEach(function (pane) {
      if (!pane.chain) return;
      const n = pane.count;
      const mean = function (trace) { return n && trace.values.length ? measured(trace.average.mean(), trace.average.error()) : "–"; };
      rows.push([pane.colour, kindName(pane.kind), mean(pane.trace.energy), mean(pane.trace.magnetization), n + " steps"]);
    });
    get("averages").hidden = rows.length === 0;
    get("averages").querySelector("tbody").replaceChildren(...rows.map(function (row) {
      const line = document.createElement("tr");
      row.slice(1).forEach(function (words, k) {
        const cell = document.createElement(k ? "td" : "th");
        if (!k) cell.scope = "row";
        cell.textContent = words;
        line.append(cell);
      });
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = row[0];
      line.firstChild.prepend(swatch);
      return line;
    }));
  }

  function showGallery() {
    const rows = state.spins.length ? [{ name: "Data", pictures: state.spins.slice(0, Chains.KEPT) }] : [];
    panes.forEach(function (pane) {
      if (pane.chain) rows.push({ name: kindName(pane.kind), pictures: pane.snapshots });
    });
    const place = get("gallery");
    place.parentElement.hidden = rows.length === 0;
    while (place.children.length > rows.length) place.lastChild.remove();
    rows.forEach(function (row, k) {
      const line = place.children[k] || place.appendChild(newRow());
      line.firstChild.textContent = row.name;
      for (let n = 0; n < Chains.KEPT; n++) {
        const canvas = line.children[n + 1], spins = row.pictures[n];
        canvas.style.visibility = spins ? "visible" : "hidden";
        if (spins && canvas.spins !== spins) { Pictures.drawSpins(canvas, spins, state.layout, -1); canvas.spins = spins; }
        canvas.setAttribute("aria-label", row.name + ", configuration " + (n + 1));
      }
    });
  }

  function newRow() {
    const line = document.createElement("div");
    line.className = "row";
    line.append(document.createElement("span"));
    for (let n = 0; n < Chains.KEPT; n++) {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      line.append(canvas);
    }
    return line;
  }

  function showFilters(pane) {
    if (!pane.tiles) return;
    const tiles = pane.tiles, inner = tiles.layout.inner;
    Pictures.drawFilters(pane.mosaic, tiles.values, tiles.size, tiles.layout, table, tiles.limit);
    if (!tiles.shared) Pictures.markTile(pane.mosaic, tiles.layout, pane.chosen);
    pane.mosaic.setAttribute("aria-label", tiles.order.length + " filters of the machine " + kindName(pane.kind) + ", sorted by their sum");
    pane.mosaic.style.maxWidth = tiles.shared ? 90 * tiles.layout.columns + "px" : "";
    const number = tiles.order[pane.chosen], one = Pictures.tiledLayout(inner, [number], 1);
    const canvas = pane.filters.querySelector(".chosen canvas");
    Pictures.drawFilters(canvas, tiles.values, tiles.size, one, table, tiles.limit);
    const words = "Filter " + (pane.chosen + 1) + " of " + tiles.order.length + ", sum " + tiles.sums[number].toFixed(3)
      + "; the colours end at ±" + tiles.limit.toPrecision(3) + (tiles.isPart ? ". Weights of chains are not in the run directory; these filters are what was kept." : ".");
    canvas.setAttribute("aria-label", words);
    pane.filters.querySelector(".chosen p").textContent = words;
  }

  function showExactness() {
    const lines = panes.filter(function (pane) { return pane.machine; }).map(function (pane) {
      const spec = pane.spec, line = document.createElement("li");
      line.textContent = kindName(pane.kind) + " at " + at(point().value) + ": weights as " + spec.format
        + ", no weight off by more than " + small(spec.weight_error)
        + (spec.energy_error === null ? "" : "; visible energies of the data change by σ = " + small(spec.energy_error) + " nats") + ". "
        + spec.facts.join(" ");
      return line;
    });
    get("exactness").replaceChildren(...lines);
  }

  function showSpeed() {
    const words = panes.filter(function (pane) { return pane.timed; }).map(function (pane) {
      const rate = pane.seconds > 0 ? Math.round(pane.timed / pane.seconds) : "too many to measure";
      return kindName(pane.kind) + " (" + pane.machine.nVisible + " spins, " + pane.machine.nHidden + " hidden units) " + rate;
    });
    get("speed-report").textContent = words.length ? "Gibbs steps per second that this browser computes: " + words.join("; ") + "." : "";
  }

  return { showPoint: showPoint, showAll: showAll, showReal: showReal, showFilters: showFilters, chartSpec: chartSpec };
})();
