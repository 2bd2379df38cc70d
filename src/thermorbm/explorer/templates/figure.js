// A figure for a lecture: 1280 x 720, black on white, all of it vectors.
const Figure = (function () {
  const WIDTH = 1280, HEIGHT = 720, SIDE = 290, INK = "#1a1a1a", SOFT = "#565656";
  const make = Charts.make, text = Charts.text;

  // Runs of +1 in each row of a picture as one path; a unit is a pixel.
  function runs(spins, layout) {
    let path = "";
    for (let y = 0; y < layout.height; y++) {
      for (let x = 0; x < layout.width; x++) {
        const start = x;
        while (x < layout.width && isUp(x, y)) x++;
        if (x > start) path += "M" + start + " " + y + "h" + (x - start) + "v1h-" + (x - start) + "z";
      }
    }
    return path;
    function isUp(x, y) {
      const site = layout.site[y * layout.width + x];
      return site >= 0 && spins[site] > 0;
    }
  }

  function picture(item, x) {
    const layout = item.layout, scale = SIDE / Math.max(layout.width, layout.height);
    const frame = { width: layout.width, height: layout.height, fill: "#fff", stroke: SOFT, "stroke-width": 1 / scale };
    return make("g", { transform: "translate(" + x + " 92)" }, [
      make("rect", { x: 0, y: -20, width: 13, height: 13, fill: item.colour }),
      text(20, -8, item.name, 17, { fill: INK }),
      make("g", { transform: "scale(" + scale + ")" }, [
        make("rect", frame), make("path", { d: runs(item.spins, layout), fill: "#000", "shape-rendering": "crispEdges" })
      ]),
      text(0, SIDE * layout.height / Math.max(layout.width, layout.height) + 22, item.words, 15, { fill: SOFT })
    ]);
  }

  // spec: title, caption, pictures (name, colour, words, spins, layout), charts.
  function makeFigure(spec) {
    const svg = make("svg", {
      xmlns: "http://www.w3.org/2000/svg", viewBox: "0 0 " + WIDTH + " " + HEIGHT, width: WIDTH, height: HEIGHT,
      "font-family": "Helvetica, Arial, DejaVu Sans, sans-serif"
    }, [make("rect", { width: WIDTH, height: HEIGHT, fill: "#fff" }), text(40, 46, spec.title, 28, { fill: INK, "font-weight": 600 })]);
    const gap = (WIDTH - 80 - 3 * SIDE) / 2;
    spec.pictures.forEach(function (item, k) { svg.append(picture(item, 40 + k * (SIDE + gap))); });
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
