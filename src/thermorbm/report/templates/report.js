"use strict";
// Draws each panel when it comes near the window; the legend toggles series, the mouse shows values.
(function () {
  document.documentElement.classList.remove("no-script");
  const panels = JSON.parse(document.getElementById("panel-data").textContent);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: "#1a1a1a" };
  const config = {
    responsive: true, displaylogo: false, displayModeBar: window.matchMedia("(hover: hover)").matches ? "hover" : false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg" }
  };

  function layoutOf(layout) {
    return Object.assign({
      font: font, paper_bgcolor: "#fff", plot_bgcolor: "#fff", hovermode: "closest",
      margin: { l: 58, r: 12, t: 34, b: 10 },
      legend: { orientation: "h", yanchor: "top", y: -0.2, x: 0, font: { size: 11.5 } },
      hoverlabel: { bgcolor: "#fff", font: { size: 12 } }, dragmode: window.innerWidth < 640 ? false : "zoom"
    }, layout);
  }

  function draw(place) {
    const spec = panels[place.dataset.panel];
    Plotly.newPlot(place, spec.data, layoutOf(spec.layout), config);
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
