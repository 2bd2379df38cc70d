// A figure for a lecture: 1280 x 720, black on white, all of it vectors.
const Figure = (function () {
  const WIDTH = 1280, HEIGHT = 720, SIDE = 290, BESIDE = 126, INK = "#1a1a1a", SOFT = "#565656";
  const make = Charts.make, text = Charts.text;

  // Runs of one sign in each row of a picture as one path; a unit is a pixel.
  function runs(spins, layout, sign) {
    let path = "";
    for (let y = 0; y < layout.height; y++) {
      for (let x = 0; x < layout.width; x++) {
        const start = x;
        while (x < layout.width && isIt(x, y)) x++;
        if (x > start) path += "M" + start + " " + y + "h" + (x - start) + "v1h-" + (x - start) + "z";
      }
    }
    return path;
    function isIt(x, y) {
      const site = layout.site[y * layout.width + x];
      return site >= 0 && spins[site] === sign;
    }
  }

  // Units of +-1 in a frame, at most width x SIDE.
  function spins(item, x, width) {
    const layout = item.layout, scale = Math.min(width / layout.width, SIDE / layout.height);
    const size = { width: layout.width, height: layout.height };
    return make("g", { transform: "translate(" + x + " 0) scale(" + scale + ")" }, [
      make("rect", Object.assign({ fill: "#9a9a9a", stroke: SOFT, "stroke-width": 1 / scale }, size)),
      make("path", { d: runs(item.spins, layout, -1), fill: "#fff", "shape-rendering": "crispEdges" }),
      make("path", { d: runs(item.spins, layout, 1), fill: "#000", "shape-rendering": "crispEdges" })
    ]);
  }

  function picture(item, x) {
    const parts = [
      make("rect", { x: 0, y: -20, width: 13, height: 13, fill: item.colour }),
      text(20, -8, item.name, 17, { fill: INK }), spins(item, 0, SIDE), text(0, SIDE + 22, item.words, 15, { fill: SOFT })
    ];
    if (item.hidden) {
      const layout = item.hidden.layout, height = Math.min(SIDE, BESIDE / layout.width * layout.height);
      parts.push(spins(item.hidden, SIDE + 10, BESIDE), text(SIDE + 10, Math.min(SIDE, height + 16), "hidden layer", 13, { fill: SOFT }));
    }
    return make("g", { transform: "translate(" + x + " 92)" }, parts);
  }

  // spec: title, caption, charts, pictures (name, colour, words, spins, layout, and of machines the same of
  // the hidden layer).
  function makeFigure(spec) {
    const svg = make("svg", {
      xmlns: "http://www.w3.org/2000/svg", viewBox: "0 0 " + WIDTH + " " + HEIGHT, width: WIDTH, height: HEIGHT,
      "font-family": "Helvetica, Arial, DejaVu Sans, sans-serif"
    }, [make("rect", { width: WIDTH, height: HEIGHT, fill: "#fff" }), text(40, 46, spec.title, 28, { fill: INK, "font-weight": 600 })]);
    let left = 40;
    spec.pictures.forEach(function (item) {
      svg.append(picture(item, left));
      left += SIDE + 28 + (item.hidden ? BESIDE + 10 : 0);
    });
    spec.charts.forEach(function (chart, k) {
      svg.append(make("g", { transform: "translate(" + (40 + k * 610) + " 425) scale(0.98)" }, [chart]));
    });
    svg.append(text(40, 704, spec.caption, 14, { fill: SOFT }));
    return new XMLSerializer().serializeToString(svg);
  }

  function save(content, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "image/svg+xml" }));
    link.download = name.replace(/[^A-Za-z0-9._-]+/g, "-");
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }

  return { makeFigure: makeFigure, save: save };
})();
