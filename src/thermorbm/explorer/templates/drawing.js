// Drawing by mouse, touch and keys, and the choice of a filter.
const Drawing = (function () {
  const get = App.get, state = App.state, panes = App.panes;
  const HINTS = {
    hidden: "Each hidden unit begins with the sign of its filter sum with probability p_h = (1 + ⟨|m|⟩)/2, else with the other sign; ⟨|m|⟩ is that of the data.",
    drawing: "Draw on either machine with the mouse, a finger, or the arrow keys and space; then press Run."
  };
  function showStart() {
    const drawing = state.start === "drawing";
    document.querySelectorAll(".start").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.start === state.start));
    });
    get("brush").hidden = !drawing;
    get("hint").replaceChildren(...App.lowered(HINTS[state.start] || ""));
    panes.forEach(function (pane) {
      pane.spins.classList.toggle("drawable", drawing);
      pane.spins.tabIndex = drawing ? 0 : -1;
    });
  }

  function paint(site) {
    const layout = state.layout, pixel = layout.place[site], radius = Number(get("brush-size").value);
    const x = pixel % layout.width, y = Math.floor(pixel / layout.width), sign = Number(get("brush-sign").value);
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const inside = x + dx >= 0 && x + dx < layout.width && y + dy >= 0 && y + dy < layout.height;
        const near = inside && dx * dx + dy * dy <= radius * radius + 1;
        const other = near ? layout.site[(y + dy) * layout.width + x + dx] : -1;
        if (other >= 0) panes.forEach(function (pane) { if (pane.chain) pane.chain.v[other] = sign; });
      }
    }
    View.showAll(true);
  }

  function siteUnder(canvas, event) {
    const box = canvas.getBoundingClientRect(), layout = state.layout;
    const x = Math.floor((event.clientX - box.left) / box.width * layout.width);
    const y = Math.floor((event.clientY - box.top) / box.height * layout.height);
    return x >= 0 && x < layout.width && y >= 0 && y < layout.height ? layout.site[y * layout.width + x] : -1;
  }

  function listenToDrawing(canvas) {
    let active = false;
    canvas.addEventListener("pointerdown", function (event) {
      if (!state.ready || state.start !== "drawing") return;
      Clock.run(false);
      active = true;
      canvas.setPointerCapture(event.pointerId);
      draw(event);
    });
    canvas.addEventListener("pointermove", function (event) {
      if (active) (event.getCoalescedEvents ? event.getCoalescedEvents() : [event]).forEach(draw);
    });
    ["pointerup", "pointercancel"].forEach(function (name) { canvas.addEventListener(name, function () { active = false; }); });
    function draw(event) {
      const site = siteUnder(canvas, event);
      if (site >= 0) paint(site);
    }
    canvas.addEventListener("keydown", function (event) {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (state.start !== "drawing" || !(event.key in moves || event.key === " ")) return;
      event.preventDefault();
      Clock.run(false);
      const layout = state.layout, pixel = layout.place[Math.max(0, state.cursor)];
      if (event.key === " ") { state.cursor = Math.max(0, state.cursor); paint(state.cursor); return; }
      const x = pixel % layout.width + moves[event.key][0], y = Math.floor(pixel / layout.width) + moves[event.key][1];
      const inside = x >= 0 && x < layout.width && y >= 0 && y < layout.height;
      const site = inside ? layout.site[y * layout.width + x] : -1;
      state.cursor = site >= 0 ? site : Math.max(0, state.cursor);
      View.showAll(true);
    });
  }

  function listenToFilters(pane) {
    function choose(tile) {
      if (!pane.tiles || tile < 0 || tile >= pane.tiles.order.length) return;
      pane.chosen = tile;
      View.showFilters(pane);
    }
    pane.mosaic.addEventListener("click", function (event) {
      const box = pane.mosaic.getBoundingClientRect(), layout = pane.tiles.layout;
      const x = (event.clientX - box.left) / box.width * layout.width, y = (event.clientY - box.top) / box.height * layout.height;
      choose(Pictures.tileAt(layout, x, y));
    });
    pane.mosaic.addEventListener("keydown", function (event) {
      const columns = pane.tiles ? pane.tiles.layout.columns : 1;
      const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
      if (!(event.key in moves)) return;
      event.preventDefault();
      choose(pane.chosen + moves[event.key]);
    });
  }

  return { showStart: showStart, listenToDrawing: listenToDrawing, listenToFilters: listenToFilters };
})();
