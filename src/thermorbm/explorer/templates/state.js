// What is chosen and what runs; the other files read and change it.
const App = (function () {
  document.documentElement.classList.remove("no-script");
  const page = JSON.parse(document.getElementById("explorer-data").textContent);
  const get = function (id) { return document.getElementById(id); };

  // family, point, real: indices of what is shown. start: of the chains. spins: real configurations at the
  // point. layout: of its lattice. turn: counts choices. ready: whether all
  // of the last one is read. due, before: of the clock.
  const state = {
    family: 0, point: 0, real: 0, start: "hidden", running: false, cursor: -1, spins: [], hamiltonian: null,
    layout: null, turn: 0, ready: false, due: 0, before: 0
  };

  // One of the two machines side by side, with its elements, its chain and what it has passed.
  function makePane(index) {
    const place = get("pane-" + index), filters = get("filters-" + index);
    return {
      index: index, place: place, spins: place.querySelector("canvas.spins"), select: place.querySelector("select"),
      hidden: place.querySelector("canvas.hidden"), missing: place.querySelector(".missing"),
      numbers: place.querySelector(".numbers"), ofHidden: place.querySelector(".of-hidden"),
      swatch: place.querySelector(".swatch"), filters: filters, mosaic: filters.querySelector(".mosaic"),
      kind: null, spec: null, machine: null, chain: null, chosen: 0, tiles: null, units: null
    };
  }

  const panes = [0, 1].map(makePane);
  function family() { return page.families[state.family]; }
  function point() { return family().points[state.point]; }
  function at(value) { return page.control.symbol + " = " + Number(value.toPrecision(6)); }
  // Words of our own, in which "_" lowers the letter after it: T_c.
  function lowered(words) {
    return words.split(/_(\w)/).map(function (part, k) {
      if (k % 2 === 0) return part;
      const letter = document.createElement("sub");
      letter.textContent = part;
      return letter;
    });
  }
  function number(x) { return (x < 0 ? "−" : "") + Math.abs(x).toFixed(4); }
  // -1.229(15): the error in units of the last digits, two of them; without one where it is not known.
  function measured(x, error) {
    if (!(error > 0 && error < 1)) return number(x);
    const digits = 1 - Math.floor(Math.log10(error));
    return (x < 0 ? "−" : "") + Math.abs(x).toFixed(digits) + "(" + Math.round(error * Math.pow(10, digits)) + ")";
  }
  function kindName(key) {
    const kind = family().kinds.find(function (item) { return item.key === key; });
    return kind ? kind.name : "";
  }
  function complain(words) { get("problem").textContent = words; get("problem").hidden = false; }

  // p_h of the paper: (<|m|> + 1) / 2; null where <|m|> is not known.
  function hiddenProbability() {
    const mean = point().data && point().data.means.abs_magnetization;
    return mean ? (mean.value + 1) / 2 : null;
  }

  return {
    page: page, state: state, panes: panes, get: get, family: family, point: point, at: at, lowered: lowered, number: number, measured: measured,
    kindName: kindName, complain: complain, hiddenProbability: hiddenProbability
  };
})();
