// Lets the chains run.
const Clock = (function () {
  const get = App.get, state = App.state;
  function frame(now) {
    if (!state.running) return;
    const rate = Number(get("speed").value), elapsed = Math.min(0.25, (now - state.before) / 1000);
    state.before = now;
    if (rate > 0) {
      state.due = Math.min(state.due + rate * elapsed, rate);
      const n = Math.floor(state.due);
      state.due -= n;
      if (n) { Chains.advance(n); View.showAll(); }
    } else {
      const end = performance.now() + 30;
      do Chains.advance(1); while (state.ready && performance.now() < end);
      View.showAll();
    }
    requestAnimationFrame(frame);
  }

  function run(on) {
    if (on === state.running) return;
    state.running = on;
    get("run").textContent = on ? "Pause" : "Run";
    if (on) { state.before = performance.now(); requestAnimationFrame(frame); }
    else View.showAll(true);
  }

  return { run: run };
})();
