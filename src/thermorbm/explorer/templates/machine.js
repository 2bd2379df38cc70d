"use strict";
// Random numbers, machines, Gibbs chains and energies in plain typed arrays. Knows nothing of the page.
const Thermorbm = (function () {
  // xoshiro128** of Blackman and Vigna; the seed is spread over its state by splitmix32.
  function generator(seed) {
    let mixed = seed >>> 0;
    function spread() {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let z = mixed;
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
      return z ^ (z >>> 16);
    }
    let a = spread(), b = spread(), c = spread(), d = spread();
    function next() {
      const scrambled = Math.imul(b, 5), result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
      const t = b << 9;
      c ^= a; d ^= b; b ^= c; a ^= d; c ^= t;
      d = (d << 11) | (d >>> 21);
      return result;
    }
    return { next: next, uniform: function () { return next() / 4294967296; } };
  }

  // Base64 of zlib's format, as Python wrote it.
  async function unpack(text) {
    const letters = atob(text), packed = new Uint8Array(letters.length);
    for (let k = 0; k < letters.length; k++) packed[k] = letters.charCodeAt(k);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function halfToNumber(bits) {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * Math.pow(2, -24);
    return sign * (1 + fraction / 1024) * Math.pow(2, exponent - 15);
  }

  // W (rows * columns), b and c of a machine; spec: how it is stored.
  function decode(bytes, spec) {
    const nB = spec.window ? 1 : spec.columns, nC = spec.rows, n = spec.rows * spec.columns;
    const b = new Float32Array(bytes.buffer.slice(0, 4 * nB));
    const c = new Float32Array(bytes.buffer.slice(4 * nB, 4 * (nB + nC)));
    const W = new Float32Array(n);
    let at = 4 * (nB + nC);
    if (spec.format === "int8") {
      const scales = new Float32Array(bytes.buffer.slice(at, at + 4 * nC));
      at += 4 * nC;
      const integers = new Int8Array(bytes.buffer, at, n);
      for (let k = 0; k < n; k++) W[k] = scales[Math.floor(k / spec.columns)] * integers[k];
    } else {
      const values = new Float32Array(65536);
      for (let bits = 0; bits < 65536; bits++) values[bits] = halfToNumber(bits);
      for (let k = 0; k < n; k++) W[k] = values[bytes[at + k] | (bytes[at + n + k] << 8)];
    }
    return { W: W, b: b, c: c };
  }

  // Every hidden unit sees every spin: inputs W v + c and W^T h + b.
  function denseMachine(spec, arrays) {
    const W = arrays.W, b = arrays.b, c = arrays.c, nHidden = spec.rows, nVisible = spec.columns;
    function hiddenInputs(v, x) {
      for (let i = 0, k = 0; i < nHidden; i++) {
        let sum = c[i];
        for (let j = 0; j < nVisible; j++, k++) sum += W[k] * v[j];
        x[i] = sum;
      }
    }
    function visibleInputs(h, y) {
      for (let j = 0; j < nVisible; j++) y[j] = b[j];
      for (let i = 0, k = 0; i < nHidden; i++) {
        const unit = h[i];
        for (let j = 0; j < nVisible; j++, k++) y[j] += W[k] * unit;
      }
    }
    const sums = new Float64Array(nHidden);
    for (let i = 0, k = 0; i < nHidden; i++) for (let j = 0; j < nVisible; j++, k++) sums[i] += W[k];
    return {
      kind: "dense", nHidden: nHidden, nVisible: nVisible, arrays: arrays, sums: sums,
      hiddenInputs: hiddenInputs, visibleInputs: visibleInputs
    };
  }

  // The sites that the window of each cell covers on a periodic lattice, nCells * nTaps, in C order; cells
  // may have several sites, numbered cell by cell.
  function windowSites(shape, window, nCell) {
    const nCells = shape.reduce(function (a, b) { return a * b; }, 1);
    const nTaps = nCell * window.reduce(function (a, b) { return a * b; }, 1);
    const sites = new Int32Array(nCells * nTaps);
    for (let i = 0; i < nCells; i++) {
      for (let a = 0; a < nTaps; a++) {
        let cell = 0, stride = 1, restOfCell = i, restOfTap = Math.floor(a / nCell);
        for (let axis = shape.length - 1; axis >= 0; axis--) {
          const side = shape[axis], width = window[axis], origin = Math.floor((width - 1) / 2);
          const x = (restOfCell % side) + (restOfTap % width) - origin;
          cell += stride * (((x % side) + side) % side);
          stride *= side;
          restOfCell = Math.floor(restOfCell / side);
          restOfTap = Math.floor(restOfTap / width);
        }
        sites[i * nTaps + a] = cell * nCell + a % nCell;
      }
    }
    return sites;
  }

  // The same filters at every cell: the inputs of hidden units are a convolution of v, those of spins the
  // transposed one of h. Hidden unit f * nCells + i is that of filter f at cell i.
  function symmetricMachine(spec, arrays) {
    const W = arrays.W, b = arrays.b, c = arrays.c, nFilters = spec.rows, nTaps = spec.columns;
    const sites = windowSites(spec.shape, spec.window, spec.n_cell), nCells = sites.length / nTaps;
    function hiddenInputs(v, x) {
      for (let f = 0; f < nFilters; f++) {
        for (let i = 0, k = 0; i < nCells; i++) {
          let sum = c[f];
          for (let a = 0; a < nTaps; a++, k++) sum += W[f * nTaps + a] * v[sites[k]];
          x[f * nCells + i] = sum;
        }
      }
    }
    function visibleInputs(h, y) {
      y.fill(b[0]);
      for (let f = 0; f < nFilters; f++) {
        for (let i = 0, k = 0; i < nCells; i++) {
          const unit = h[f * nCells + i];
          for (let a = 0; a < nTaps; a++, k++) y[sites[k]] += W[f * nTaps + a] * unit;
        }
      }
    }
    const sums = new Float64Array(nFilters * nCells);
    for (let f = 0; f < nFilters; f++) {
      let sum = 0;
      for (let a = 0; a < nTaps; a++) sum += W[f * nTaps + a];
      sums.fill(sum, f * nCells, (f + 1) * nCells);
    }
    return {
      kind: "symmetric", nHidden: nFilters * nCells, nVisible: nCells * spec.n_cell, arrays: arrays, sums: sums,
      hiddenInputs: hiddenInputs, visibleInputs: visibleInputs
    };
  }

  function makeMachine(spec, bytes) {
    const arrays = decode(bytes, spec);
    return spec.window ? symmetricMachine(spec, arrays) : denseMachine(spec, arrays);
  }

  // Units of +-1 with P(+1) = sigma(2 input).
  function draw(inputs, units, random) {
    for (let k = 0; k < units.length; k++) {
      units[k] = random.uniform() * (1 + Math.exp(-2 * inputs[k])) < 1 ? 1 : -1;
    }
  }

  // A Gibbs chain v -> h -> v -> ... with its layers v and h, which may be written to.
  function makeChain(machine, random) {
    const v = new Int8Array(machine.nVisible).fill(-1), h = new Int8Array(machine.nHidden).fill(-1);
    const x = new Float64Array(machine.nHidden), y = new Float64Array(machine.nVisible);
    function toVisible() { machine.visibleInputs(h, y); draw(y, v, random); }
    function step() { machine.hiddenInputs(v, x); draw(x, h, random); toVisible(); }
    function randomSpins() {
      for (let j = 0; j < v.length; j++) v[j] = random.next() & 1 ? 1 : -1;
    }
    // Each hidden unit follows the sign of its filter's sum with probability p, up to one common sign.
    function fromHidden(p) {
      const sign = random.next() & 1 ? 1 : -1;
      for (let i = 0; i < h.length; i++) {
        const pattern = machine.sums[i] < 0 ? -sign : sign;
        h[i] = random.uniform() < p ? pattern : -pattern;
      }
      toVisible();
    }
    return { v: v, h: h, step: step, randomSpins: randomSpins, fromHidden: fromHidden };
  }

  // H = -sum J prod s - sum field s; terms: sites, order of them for each coupling.
  function energyOf(hamiltonian, v) {
    let energy = 0;
    for (const term of hamiltonian.terms) {
      for (let t = 0, k = 0; t < term.couplings.length; t++) {
        let product = term.couplings[t];
        for (let n = 0; n < term.order; n++, k++) product *= v[term.sites[k]];
        energy -= product;
      }
    }
    for (let j = 0; j < hamiltonian.field.length; j++) energy -= hamiltonian.field[j] * v[j];
    return energy;
  }

  function magnetizationOf(v) {
    let sum = 0;
    for (let j = 0; j < v.length; j++) sum += v[j];
    return sum / v.length;
  }

  return {
    generator: generator, unpack: unpack, decode: decode, makeMachine: makeMachine, makeChain: makeChain,
    energyOf: energyOf, magnetizationOf: magnetizationOf
  };
})();
