"use strict";
// The page is whole without this script. It adds: values under the pointer, one temperature in all curves, series
// that hide, scales that switch, and sections that open for links and for print.
(function () {
  const numbers = JSON.parse(document.getElementById("panel-data").textContent);
  const tip = document.getElementById("tip");
  const all = function (selector, root) { return Array.from((root || document).querySelectorAll(selector)); };

  // 2.2691(12): the error in units of the last two digits.
  function withError(value, error) {
    if (!(error > 0)) { return short(value); }
    const digits = 1 - Math.floor(Math.log10(error));
    const shown = digits <= 0 ? error.toFixed(0) : error < 1 ? String(Math.round(error * Math.pow(10, digits))) : error.toFixed(digits);
    return minus(value.toFixed(Math.min(Math.max(digits, 0), 20)) + "(" + shown + ")");
  }
  function short(value) { return minus(String(Number(value.toPrecision(4)))); }
  function minus(text) { return text.replace(/-/g, "\u2212"); }

  function scaled(axis, value) { return axis[2] ? Math.log10(value) : value; }
  function place(axis, value) {
    return (scaled(axis, value) - scaled(axis, axis[0])) / (scaled(axis, axis[1]) - scaled(axis, axis[0]));
  }
  function at(axis, share) {
    const value = scaled(axis, axis[0]) + share * (scaled(axis, axis[1]) - scaled(axis, axis[0]));
    return axis[2] ? Math.pow(10, value) : value;
  }

  function isHidden(svg, name) {
    return all(".curves > g", svg).some(function (g) { return g.dataset.name === name && g.classList.contains("off"); });
  }

  // Of each series the point nearest to x; of forests the rows nearest to y.
  function nearest(series, key, wanted) {
    let best = 0;
    series[key].forEach(function (value, index) {
      if (Math.abs(value - wanted) < Math.abs(series[key][best] - wanted)) { best = index; }
    });
    return best;
  }

  function line(svg, x) {
    const panel = numbers[svg.dataset.panel], share = place(panel.x, x);
    let cursor = svg.querySelector(".cursor");
    if (!cursor) {
      cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
      cursor.setAttribute("class", "cursor");
      svg.appendChild(cursor);
    }
    const inside = share >= 0 && share <= 1;
    cursor.setAttribute("d", inside ? "M" + (panel.box[0] + share * panel.box[2]) + " " + panel.box[1] + "v" + panel.box[3] : "");
  }
  function clear() {
    tip.hidden = true;
    all(".cursor").forEach(function (cursor) { cursor.setAttribute("d", ""); });
    all(".strip.near").forEach(function (strip) { strip.classList.remove("near"); });
  }

  // The same value of the control parameter in every curve and among the filters.
  function link(x) {
    all("svg.panel").forEach(function (svg) {
      if (svg.checkVisibility && !svg.checkVisibility()) { return; }
      if (numbers[svg.dataset.panel].control) { line(svg, x); }
    });
    const strips = all(".strip");
    if (!strips.length) { return; }
    strips.forEach(function (strip) { strip.classList.remove("near"); });
    strips.reduce(function (a, b) {
      return Math.abs(a.dataset.value - x) <= Math.abs(b.dataset.value - x) ? a : b;
    }).classList.add("near");
  }

  function row(name, value) { return "<tr><td>" + name + "</td><td>" + value + "</td></tr>"; }

  function write(svg, x, y) {
    const panel = numbers[svg.dataset.panel], rows = [];
    panel.series.forEach(function (series) {
      if (isHidden(svg, series.name)) { return; }
      if (panel.rows.length) {
        const index = nearest(series, "y", y);
        if (Math.round(series.y[index]) !== Math.round(y)) { return; }
        rows.push(row(series.name, withError(series.x[index], series.errors ? series.errors[index] : 0)));
      } else {
        const index = nearest(series, "x", x), off = Math.abs(place(panel.x, series.x[index]) - place(panel.x, x));
        if (off > 0.06) { return; }
        rows.push(row(series.name, withError(series.y[index], series.errors ? series.errors[index] : 0)));
      }
    });
    const head = panel.rows.length ? panel.rows[-Math.round(y)] || "" : panel.names[0] + " = " + short(x);
    tip.innerHTML = "<b>" + head + "</b><table>" + rows.join("") + "</table>";
    tip.hidden = !rows.length;
  }

  function showAt(svg, x, y, left, top) {
    const panel = numbers[svg.dataset.panel];
    clear();
    if (panel.control) { link(x); } else if (!panel.rows.length) { line(svg, x); }
    write(svg, x, y);
    const box = tip.getBoundingClientRect(), room = document.documentElement.clientWidth;
    tip.style.left = Math.max(4, Math.min(left + 14, room - box.width - 8)) + "px";
    tip.style.top = (top + 16 + box.height > window.innerHeight ? top - box.height - 12 : top + 16) + "px";
  }

  // A pointer snaps to the nearest value of x that some series has.
  function snap(panel, x) {
    const values = panel.series.map(function (series) { return series.x[nearest(series, "x", x)]; });
    return values.reduce(function (a, b) { return Math.abs(a - x) <= Math.abs(b - x) ? a : b; }, values[0]);
  }

  function follow(event) {
    const svg = event.currentTarget, panel = numbers[svg.dataset.panel], box = svg.getBoundingClientRect();
    const unit = svg.viewBox.baseVal.width / box.width;
    const x = ((event.clientX - box.left) * unit - panel.box[0]) / panel.box[2];
    const y = 1 - ((event.clientY - box.top) * unit - panel.box[1]) / panel.box[3];
    if (!panel.series.length || x < 0 || x > 1 || y < 0 || y > 1) { clear(); return; }
    showAt(svg, panel.rows.length ? at(panel.x, x) : snap(panel, at(panel.x, x)), at(panel.y, y), event.clientX, event.clientY);
  }

  // Arrows go from point to point of the series that has most.
  function step(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { clear(); }
    if (!by) { return; }
    const svg = event.currentTarget, panel = numbers[svg.dataset.panel];
    const forest = panel.rows.length, box = svg.getBoundingClientRect();
    if (!panel.series.length) { return; }
    const longest = panel.series.reduce(function (a, b) { return a.x.length >= b.x.length ? a : b; });
    const last = forest ? forest - 1 : longest.x.length - 1;
    const index = Math.min(Math.max(Number(svg.dataset.index || (by > 0 ? -1 : last + 1)) + by, 0), last);
    svg.dataset.index = index;
    event.preventDefault();
    showAt(svg, forest ? 0 : longest.x[index], forest ? -index : 0, box.left + box.width / 2, box.top + box.height / 3);
  }

  all("svg.panel").forEach(function (svg) {
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    svg.addEventListener("pointerleave", clear);
    svg.addEventListener("keydown", step);
    svg.addEventListener("blur", clear);
  });

  all(".legend").forEach(function (legend) {
    const panels = legend.previousElementSibling;
    all("button[data-name]", legend).forEach(function (button) {
      button.addEventListener("click", function () {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        all(".curves > g", panels).forEach(function (g) {
          if (g.dataset.name === button.dataset.name) { g.classList.toggle("off", !shown); }
        });
      });
    });
    const scale = legend.querySelector(".scale");
    if (!scale) { return; }
    scale.hidden = false;
    scale.addEventListener("click", function () {
      all(".place", panels).forEach(function (where) {
        const ways = Array.from(where.children).filter(function (child) { return child.tagName === "DIV"; });
        if (ways.length > 1) { ways.forEach(function (way) { way.hidden = !way.hidden; }); }
      });
    });
  });

  function openFor(hash) {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) { return; }
    all(":scope > details.fold", target).forEach(function (fold) { fold.open = true; });
    for (let place = target; place; place = place.parentElement) {
      if (place.tagName === "DETAILS") { place.open = true; }
    }
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", function () { openFor(location.hash); });
  document.addEventListener("click", function (event) {
    const link = event.target.closest && event.target.closest("a[href^='#']");
    if (link) { openFor(link.getAttribute("href")); }
  });
  openFor(location.hash);

  let closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all("details.fold:not([open])");
    closed.forEach(function (fold) { fold.open = true; });
  });
  window.addEventListener("afterprint", function () {
    closed.forEach(function (fold) { fold.open = false; });
  });
})();
