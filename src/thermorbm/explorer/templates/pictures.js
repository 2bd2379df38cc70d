// Spins, hidden layers and filters as pictures: one pixel each, enlarged by the page.
const Pictures = (function () {
  const NOTHING = 154; // grey of places without a spin

  // Where spins go: planes as they are, the layers of a cube side by side, all others wrapped to a square.
  // place: pixel of each site. site: of each pixel, -1 where there is none.
  function layoutOf(shape, n) {
    const product = shape ? shape.reduce(function (a, b) { return a * b; }, 1) : 0;
    if (!shape || shape.length < 2 || product !== n) {
      const side = Math.ceil(Math.sqrt(n));
      return placed(n, side, Math.ceil(n / side), function (k) { return k; });
    }
    const width = shape[shape.length - 1], height = shape[shape.length - 2], layers = n / (width * height);
    const across = Math.ceil(Math.sqrt(layers)), columns = across * (width + 1) - 1;
    return placed(n, columns, Math.ceil(layers / across) * (height + 1) - 1, function (k) {
      const layer = Math.floor(k / (width * height)), rest = k % (width * height);
      const x = (layer % across) * (width + 1) + rest % width;
      return (Math.floor(layer / across) * (height + 1) + Math.floor(rest / width)) * columns + x;
    });
  }

  function placed(n, width, height, where) {
    const place = new Int32Array(n), site = new Int32Array(width * height).fill(-1);
    for (let k = 0; k < n; k++) { place[k] = where(k); site[place[k]] = k; }
    return { width: width, height: height, place: place, site: site };
  }

  // Tiles of one layout side by side with one pixel between them; tile k stands for number order[k].
  function tiledLayout(inner, order, columns) {
    const width = columns * (inner.width + 1) - 1;
    const height = Math.ceil(order.length / columns) * (inner.height + 1) - 1;
    return { inner: inner, order: order, columns: columns, width: width, height: height };
  }

  // Hidden units in the order of their filters: a square of them, or where each filter stands at all sites
  // (inner: their layout) a tile for each filter.
  function unitLayout(order, inner, columns) {
    const rank = new Int32Array(order.length);
    order.forEach(function (number, tile) { rank[number] = tile; });
    if (!inner) return placed(order.length, columns, Math.ceil(order.length / columns), function (k) { return rank[k]; });
    const tiles = tiledLayout(inner, order, columns), size = inner.place.length;
    return placed(order.length * size, tiles.width, tiles.height, function (k) {
      const tile = rank[Math.floor(k / size)], pixel = inner.place[k % size];
      const x = (tile % columns) * (inner.width + 1) + pixel % inner.width;
      return (Math.floor(tile / columns) * (inner.height + 1) + Math.floor(pixel / inner.width)) * tiles.width + x;
    });
  }

  function tileAt(layout, x, y) {
    const column = Math.floor(x / (layout.inner.width + 1)), row = Math.floor(y / (layout.inner.height + 1));
    const tile = row * layout.columns + column;
    return column < layout.columns && tile >= 0 && tile < layout.order.length ? tile : -1;
  }

  function begin(canvas, width, height) {
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const context = canvas.getContext("2d"), image = context.createImageData(width, height);
    image.data.fill(NOTHING);
    for (let k = 3; k < image.data.length; k += 4) image.data[k] = 255;
    return { context: context, image: image };
  }

  function put(image, pixel, red, green, blue) {
    image.data[4 * pixel] = red; image.data[4 * pixel + 1] = green; image.data[4 * pixel + 2] = blue;
  }

  // cursor: a site that is marked, or -1.
  function drawSpins(canvas, spins, layout, cursor) {
    const begun = begin(canvas, layout.width, layout.height);
    for (let k = 0; k < spins.length; k++) {
      const grey = spins[k] > 0 ? 0 : 255;
      put(begun.image, layout.place[k], grey, grey, grey);
    }
    if (cursor >= 0) put(begun.image, layout.place[cursor], 230, 159, 0);
    begun.context.putImageData(begun.image, 0, 0);
  }

  // A table of 256 colours between stops; values from -limit to limit.
  function colourTable(stops) {
    const table = new Uint8Array(3 * 256);
    for (let k = 0; k < 256; k++) {
      const at = k / 255 * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2), share = at - low;
      for (let c = 0; c < 3; c++) table[3 * k + c] = stops[low][c] * (1 - share) + stops[low + 1][c] * share;
    }
    return table;
  }

  // filters: number * size values; all tiles of the layout.
  function drawFilters(canvas, filters, size, layout, table, limit) {
    const begun = begin(canvas, layout.width, layout.height), inner = layout.inner;
    layout.order.forEach(function (number, tile) {
      const left = (tile % layout.columns) * (inner.width + 1);
      const top = Math.floor(tile / layout.columns) * (inner.height + 1);
      for (let k = 0; k < size; k++) {
        const x = inner.place[k] % inner.width, y = Math.floor(inner.place[k] / inner.width);
        const share = (filters[number * size + k] / limit + 1) / 2;
        const colour = 3 * Math.max(0, Math.min(255, Math.round(255 * share)));
        put(begun.image, (top + y) * layout.width + left + x, table[colour], table[colour + 1], table[colour + 2]);
      }
    });
    begun.context.putImageData(begun.image, 0, 0);
  }

  // A frame in the gaps around a tile; at the edge of the picture half of it is cut off.
  function markTile(canvas, layout, tile) {
    const context = canvas.getContext("2d"), width = layout.inner.width + 1, height = layout.inner.height + 1;
    context.strokeStyle = "#E69F00";
    context.strokeRect((tile % layout.columns) * width - 0.5, Math.floor(tile / layout.columns) * height - 0.5, width, height);
  }

  // Twice the root mean square, as in the report; 1 where all are zero.
  function limitOf(values) {
    let sum = 0;
    for (let k = 0; k < values.length; k++) sum += values[k] * values[k];
    return 2 * Math.sqrt(sum / Math.max(1, values.length)) || 1;
  }

  return {
    layoutOf: layoutOf, tiledLayout: tiledLayout, unitLayout: unitLayout, tileAt: tileAt, drawSpins: drawSpins,
    colourTable: colourTable, drawFilters: drawFilters, markTile: markTile,
    limitOf: limitOf
  };
})();
