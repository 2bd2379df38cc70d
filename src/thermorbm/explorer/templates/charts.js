// Charts as SVG elements, for the page and for figures. Texts are set as text: nothing in them is markup.
const Charts = (function () {
  const SPACE = "http://www.w3.org/2000/svg";
  const WIDTH = 600, HEIGHT = 250, LEFT = 62, MIDDLE = 420, RIGHT = 590, TOP = 30, BOTTOM = 208;

  function make(name, attributes, children) {
    const element = document.createElementNS(SPACE, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    (children || []).forEach(function (child) {
      element.append(typeof child === "string" ? document.createTextNode(child) : child);
    });
    return element;
  }

  function text(x, y, words, size, more) {
    return make("text", Object.assign({ x: x, y: y, "font-size": size, "stroke": "none" }, more || {}), [words]);
  }

  function ticks(low, high, count) {
    const raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = power * [1, 2, 5, 10].find(function (x) { return x * power >= raw * 0.999; });
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
    return found.map(function (x) { return { at: x, words: x.toFixed(digits).replace("-", "−") }; });
  }

  // All values in sight: bins of the data, and the last steps.
  function range(spec) {
    let low = Infinity, high = -Infinity;
    function see(x) { low = Math.min(low, x); high = Math.max(high, x); }
    if (spec.data) { see(spec.data.origin); see(spec.data.origin + spec.data.width * spec.data.counts.length); }
    spec.series.forEach(function (item) { item.values.forEach(see); });
    if (!(low < high)) { const middle = isFinite(low) ? low : 0; low = middle - 0.5; high = middle + 0.5; }
    const pad = 0.04 * (high - low);
    return [low - pad, high + pad];
  }

  // spec: label of the axis, data (histogram) or null, mean or null, series with name, colour, dash, steps,
  // values, counts (bin -> number) and total. ink: colour of axes and texts.
  function chart(spec, ink) {
    const limits = range(spec), low = limits[0], high = limits[1];
    const group = make("g", { fill: "none", stroke: ink, "font-family": "system-ui, sans-serif" });
    function y(value) { return BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low); }
    const add = function (element) { group.append(element); };
    addHistograms(spec, y, add);
    addTraces(spec, y, add);
    add(make("path", { d: "M" + LEFT + " " + TOP + "V" + BOTTOM + "H" + (MIDDLE - 12) + "M" + MIDDLE + " " + TOP + "V" + BOTTOM + "H" + RIGHT }));
    ticks(low, high, 5).forEach(function (tick) {
      add(make("path", { d: "M" + (LEFT - 5) + " " + y(tick.at).toFixed(1) + "h5" }));
      add(text(LEFT - 8, y(tick.at) + 4, tick.words, 12, { "text-anchor": "end", fill: ink }));
    });
    add(text(LEFT - 48, TOP - 12, spec.label, 14, { fill: ink, "font-weight": 600 }));
    add(text((LEFT + MIDDLE) / 2, BOTTOM + 34, "Gibbs step", 12, { "text-anchor": "middle", fill: ink }));
    add(text((MIDDLE + RIGHT) / 2, BOTTOM + 18, "share of steps", 12, { "text-anchor": "middle", fill: ink }));
    return group;

    function addTraces(spec, y, add) {
      const last = Math.max.apply(null, spec.series.map(function (s) { return s.steps.at(-1) || 0; }).concat(1));
      const first = Math.max(0, last - spec.window), end = Math.max(last, first + 10);
      function x(step) { return LEFT + (MIDDLE - 12 - LEFT) * (step - first) / (end - first); }
      if (spec.mean !== null) {
        add(make("path", { d: "M" + LEFT + " " + y(spec.mean).toFixed(1) + "H" + RIGHT, stroke: spec.dataColour, "stroke-dasharray": "6 4", "stroke-width": 1.5 }));
      }
      spec.series.forEach(function (item) {
        const points = item.values.map(function (value, k) { return x(item.steps[k]).toFixed(1) + "," + y(value).toFixed(1); });
        add(make("polyline", { points: points.join(" "), stroke: item.colour, "stroke-width": 1.6, "stroke-dasharray": item.dash, "stroke-linejoin": "round" }));
      });
      ticks(first, end, 5).forEach(function (tick) {
        if (tick.at !== Math.round(tick.at)) return;
        add(make("path", { d: "M" + x(tick.at).toFixed(1) + " " + BOTTOM + "v5" }));
        add(text(x(tick.at), BOTTOM + 18, String(tick.at), 12, { "text-anchor": "middle", fill: ink }));
      });
    }

    function addHistograms(spec, y, add) {
      if (!spec.data) return;
      const total = spec.data.counts.reduce(function (a, b) { return a + b; }, 0) || 1;
      const shares = [Math.max.apply(null, spec.data.counts) / total];
      spec.series.forEach(function (item) { item.counts.forEach(function (n) { shares.push(n / Math.max(20, item.total)); }); });
      const scale = (RIGHT - MIDDLE) / Math.max.apply(null, shares);
      function edge(bin) { return y(Math.max(low, Math.min(high, spec.data.origin + bin * spec.data.width))); }
      function outline(counts, total) {
        const bins = Array.from(counts.keys()).sort(function (a, b) { return a - b; });
        if (!bins.length) return "";
        let path = "M" + MIDDLE + " " + edge(bins[0]).toFixed(1);
        for (let bin = bins[0]; bin <= bins[bins.length - 1]; bin++) {
          const across = MIDDLE + scale * (counts.get(bin) || 0) / total;
          path += "H" + across.toFixed(1) + "V" + edge(bin + 1).toFixed(1);
        }
        return path + "H" + MIDDLE;
      }
      const own = new Map(spec.data.counts.map(function (n, bin) { return [bin, n]; }));
      add(make("path", { d: outline(own, total), fill: spec.dataColour, "fill-opacity": 0.35, stroke: spec.dataColour }));
      spec.series.forEach(function (item) {
        add(make("path", { d: outline(item.counts, Math.max(20, item.total)), stroke: item.colour, "stroke-width": 1.8, "stroke-dasharray": item.dash }));
      });
    }
  }

  function svg(group, label) {
    return make("svg", { viewBox: "0 0 " + WIDTH + " " + HEIGHT, role: "img", "aria-label": label }, [group]);
  }

  return { make: make, text: text, chart: chart, svg: svg, WIDTH: WIDTH, HEIGHT: HEIGHT };
})();
