// The beginning: fills the controls and listens to them.
(function () {
  const page = App.page, get = App.get, state = App.state, panes = App.panes, family = App.family, point = App.point, at = App.at;
  const BATCH = 200;

  async function choose() {
    state.ready = false;
    if (!await Choice.choosePoint()) return;
    View.showPoint();
    restart();
  }

  function restart() {
    Chains.restart();
    state.ready = true;
    Drawing.showStart();
    View.showAll(true);
  }

  function figure() {
    const words = { random: "random spins", hidden: "p_h", data: "a real configuration", drawing: "a drawing" }[state.start];
    const pictures = state.spins.length
      ? [{ name: "Data", colour: page.colours.data, spins: state.spins[state.real], layout: state.layout, words: get("data-numbers").textContent }] : [];
    panes.forEach(function (pane) {
      if (pane.chain) pictures.push({ name: App.kindName(pane.kind), colour: pane.colour, spins: pane.chain.v, layout: state.layout, words: pane.numbers.textContent, hidden: { spins: pane.chain.h, layout: pane.units } });
    });
    const names = state.hamiltonian ? [["energy", "E/N"], ["magnetization", "m"]] : [["magnetization", "m"]];
    return Figure.makeFigure({
      title: (page.title || page.study) + ", " + at(point().value), pictures: pictures,
      charts: names.map(function (item) { return Charts.chart(View.chartSpec(item[0], item[1]), "#1a1a1a"); }),
      caption: "Gibbs chains from " + words + ", seed " + get("seed").value + "; +1 is black. Histograms: shares of all steps, the data in grey. thermorbm, study " + page.study + ", family " + family().name + "."
    });
  }

  function fill(select, names) {
    select.replaceChildren(...names.map(function (item) {
      const option = document.createElement("option");
      option.value = item.key;
      option.textContent = item.name;
      return option;
    }));
  }

  // The first family of which a chain can run; without one the first.
  function firstThatRuns() {
    return Math.max(0, page.families.findIndex(function (item) {
      return item.points.some(function (each) { return Object.values(each.machines).some(function (spec) { return spec.id; }); });
    }));
  }

  async function chooseFamily() {
    const kinds = family().kinds, points = family().points, critical = family().critical;
    panes.forEach(function (pane) {
      fill(pane.select, kinds);
      pane.select.value = kinds[pane.index] ? kinds[pane.index].key : "";
    });
    get("value").max = points.length - 1;
    const distance = points.map(function (item) { return Math.abs(item.value - (critical === null ? points[Math.floor(points.length / 2)].value : critical)); });
    state.point = distance.indexOf(Math.min.apply(null, distance));
    get("value").value = state.point;
    await choose();
  }

  function listen() {
    const retry = function (promise) { promise.catch(function (error) { App.complain("The page failed: " + error.message); }); };
    get("family").addEventListener("change", function () { state.family = Number(this.value); retry(chooseFamily()); });
    get("value").addEventListener("input", function () { state.point = Number(this.value); retry(choose()); });
    panes.forEach(function (pane) {
      pane.select.addEventListener("change", function () { retry(choose()); });
      Drawing.listenToDrawing(pane.spins);
      Drawing.listenToFilters(pane);
    });
    get("run").addEventListener("click", function () { Clock.run(!state.running); });
    get("step").addEventListener("click", function () { Clock.run(false); Chains.advance(1); View.showAll(true); });
    get("steps").addEventListener("click", function () { Clock.run(false); Chains.advance(BATCH); View.showAll(true); });
    get("seed").addEventListener("change", function () { if (state.ready) restart(); });
    document.querySelectorAll(".start").forEach(function (button) {
      button.addEventListener("click", function () {
        if (!state.ready) return;
        state.start = button.dataset.start;
        if (state.start === "drawing") Clock.run(false);
        restart();
        if (state.start === "drawing" && panes[0].chain) panes[0].spins.focus();
      });
    });
    get("next").addEventListener("click", function () { turnPage(1); });
    get("previous").addEventListener("click", function () { turnPage(-1); });
    get("figure").addEventListener("click", function () { Figure.save(figure(), "explore-" + family().name + "-" + at(point().value) + ".svg"); });
    get("controls").addEventListener("submit", function (event) { event.preventDefault(); });
  }

  function turnPage(by) {
    state.real = (state.real + by + state.spins.length) % state.spins.length;
    View.showReal();
  }

  async function begin() {
    if (typeof DecompressionStream === "undefined") {
      App.complain("This browser cannot unpack the machines (it has no DecompressionStream). Versions of Chrome since 80, Firefox since 113 and Safari since 16.4 can.");
      return;
    }
    const unit = page.control.unit;
    get("control-name").textContent = page.control.name;
    if (unit) get("control-name").append(" (", ...(unit === "J/k_B" ? App.lowered(unit) : [unit]), ")");
    document.querySelectorAll("[data-colour]").forEach(function (swatch) { swatch.style.background = page.colours[swatch.dataset.colour]; });
    fill(get("family"), page.families.map(function (item, k) { return { key: String(k), name: item.name + (item.shape ? " " + item.shape.join("×") : "") }; }));
    get("family-label").hidden = page.families.length < 2;
    listen();
    state.family = firstThatRuns();
    get("family").value = String(state.family);
    await chooseFamily();
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) Clock.run(true);
  }

  begin().catch(function (error) { App.complain("The page failed: " + error.message); });
})();
