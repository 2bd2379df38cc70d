"use strict";
// Draws each panel when it comes near the window; the legend toggles series, the mouse shows values.
(function () {
  document.documentElement.classList.remove("no-script");
  const panels = JSON.parse(document.getElementById("panel-data").textContent);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: "#1a1a1a" };
  const TOP = 46, PLOT = 240, AXIS = 50, LEGEND_ROW = 21, ROW = 24;
  const config = {
    responsive: true, displaylogo: false,
    displayModeBar: window.matchMedia("(hover: hover)").matches ? "hover" : false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg" }
  };
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "11.5px " + font.family;

  // Plotly sets legend entries in columns of equal width; how many lines that takes decides the height.
  function legendRows(traces, width) {
    const names = traces.filter(function (trace) { return trace.showlegend !== false; })
      .map(function (trace) { return trace.name.replace(/<[^>]*>/g, ""); });
    const widest = 48 + Math.max.apply(null, names.map(function (name) { return ruler.measureText(name).width; }));
    return Math.ceil(names.length / Math.max(1, Math.floor(width / widest)));
  }

  function layoutOf(spec, place) {
    const rows = spec.layout.meta ? spec.layout.meta.rows : 0;
    const top = spec.layout.title.text ? TOP : TOP - 18;
    const plot = rows ? 20 + ROW * rows : PLOT;
    const legend = LEGEND_ROW * legendRows(spec.data, place.clientWidth - 70) + 8;
    return Object.assign({
      font: font, paper_bgcolor: "#fff", plot_bgcolor: "#fff", hovermode: "closest",
      height: top + plot + AXIS + legend, margin: { l: 58, r: 12, t: top, b: AXIS + legend },
      legend: { orientation: "h", yanchor: "top", y: -(AXIS - 4) / plot, x: 0, font: { size: 11.5 } },
      hoverlabel: { bgcolor: "#fff", font: { size: 12 } }, dragmode: window.innerWidth < 640 ? false : "zoom"
    }, spec.layout, {
      title: Object.assign({ yref: "container", y: 1, yanchor: "top", pad: { t: 6 } }, spec.layout.title)
    });
  }

  function draw(place) {
    const spec = panels[place.dataset.panel];
    Plotly.newPlot(place, spec.data, layoutOf(spec, place), config);
    place.dataset.drawn = "yes";
  }

  const places = Array.from(document.querySelectorAll("[data-panel]"));
  if (!("IntersectionObserver" in window)) { places.forEach(draw); return; }
  const watcher = new IntersectionObserver(function (entries) {
    entries.filter(function (entry) { return entry.isIntersecting; }).forEach(function (entry) {
      watcher.unobserve(entry.target);
      draw(entry.target);
    });
  }, { rootMargin: "800px 0px" });
  places.forEach(function (place) { watcher.observe(place); });
})();
