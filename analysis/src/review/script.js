"use strict";
(function () {
  var drawings = JSON.parse(document.getElementById("data").textContent);
  var steps = [0, 0.01, 0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9];
  function each(list, f) { Array.prototype.forEach.call(list, f); }
  function step(v) { var s = 0; for (var i = 0; i < steps.length; i++) if (v >= steps[i]) s = i; return s; }
  function pct(v) { return v === null || isNaN(v) ? "-" : (100 * v).toFixed(1) + " %"; }

  document.getElementById("theme").addEventListener("click", function () {
    var root = document.documentElement, now = root.getAttribute("data-theme");
    var dark = now ? now === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.setAttribute("data-theme", dark ? "light" : "dark");
  });

  /* tables: headings sort, fields filter */
  function key(cell) {
    if (!cell) return "";
    var v = cell.getAttribute("data-v");
    return v === null ? cell.textContent : parseFloat(v);
  }
  each(document.querySelectorAll("table.sorts"), function (table) {
    each(table.tHead.rows[0].cells, function (th, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (th.firstChild) button.appendChild(th.firstChild);
      if (!button.textContent) return;
      th.appendChild(button);
      button.addEventListener("click", function () {
        var up = th.getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
        each(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", up ? "ascending" : "descending");
        var rows = Array.prototype.slice.call(body.rows).map(function (row, at) {
          return { row: row, at: at, key: key(row.cells[column]) };
        });
        rows.sort(function (a, b) {
          var x = a.key, y = b.key, n;
          if (typeof x === "number" && typeof y === "number") n = x - y;
          else if (typeof x === "number") return -1;
          else if (typeof y === "number") return 1;
          else n = x < y ? -1 : x > y ? 1 : 0;
          return n ? (up ? n : -n) : a.at - b.at;
        });
        rows.forEach(function (one) { body.appendChild(one.row); });
      });
    });
  });
  each(document.querySelectorAll("[data-filter]"), function (field) {
    var table = document.getElementById(field.getAttribute("data-filter"));
    field.addEventListener("input", function () {
      var wanted = field.value.toLowerCase();
      each(table.tBodies[0].rows, function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
      });
    });
  });

  /* bytes of congestion: base64, runs of zeros in two bytes */
  function bytes(text) {
    var packed = atob(text), out = [];
    for (var i = 0; i < packed.length; i++) {
      var b = packed.charCodeAt(i);
      if (b) out.push(b);
      else for (var n = packed.charCodeAt(++i); n > 0; n--) out.push(0);
    }
    return Uint8Array.from(out);
  }

  each(document.querySelectorAll(".tools[data-drawing]"), function (tools) {
    var number = tools.getAttribute("data-drawing"), run = drawings[number];
    var svg = document.getElementById("fabric" + number), told = document.getElementById("told" + number);
    var is = {};
    each(tools.querySelectorAll("[data-is]"), function (el) { is[el.getAttribute("data-is")] = el; });
    var lines = svg.querySelectorAll(".ln"), devices = svg.querySelectorAll(".dev");
    var titles = Array.prototype.map.call(lines, function (line) { return line.querySelector("title"); });
    var frames = {}, timer = null, fullest = null, means = {};

    function variant() { return run.variants[is.variant.value]; }
    function moving() { return of(is.variant.value); }
    function of(at) {
      var f = run.variants[at].frames;
      if (!f) return null;
      if (!frames[at]) frames[at] = { t: f.t, use: bytes(f.use), wait: bytes(f.wait), held: bytes(f.held), stop: bytes(f.stop), waits: f.waits, stops: f.stops };
      return frames[at];
    }
    function options() {
      var old = is.flow.value;
      while (is.flow.options.length > 1) is.flow.remove(1);
      variant().flows.forEach(function (flow, i) {
        var o = document.createElement("option");
        o.value = i; o.textContent = flow[0];
        is.flow.appendChild(o);
      });
      is.flow.value = old < variant().flows.length ? old : "";
      var f = moving();
      if (is.time) { is.time.max = f ? f.t.length - 1 : -1; is.time.disabled = is.play.disabled = !f; }
    }
    /* the most packets that the receive buffers of a port hold, in any variant */
    function full() {
      if (fullest === null) run.variants.forEach(function (one, at) {
        var f = of(at);
        if (f) f.held.forEach(function (n) { if (n > fullest) fullest = n; });
      });
      return fullest || 0;
    }
    /* what they hold on average over the run */
    function mean(port) {
      var at = is.variant.value, f = moving(), count = run.ports.length;
      if (!f) return NaN;
      if (!means[at]) means[at] = run.ports.map(function (_, p) {
        return f.t.reduce(function (sum, end, i) { return sum + f.held[i * count + p] * (end - (i ? f.t[i - 1] : 0)); }, 0) / f.t[f.t.length - 1];
      });
      return means[at][port];
    }
    function value(port) {
      var v = variant(), m = is.measure.value;
      if (m === "held") return mean(port);
      if (m.indexOf("less") === 0) return v.use[port] - run.variants[+m.slice(4)].use[port];
      return v[m][port];
    }
    function round(n) { return n < 99.5 ? String(+n.toPrecision(3)) : String(Math.round(n)); }
    function shown(v) {
      if (v === null || isNaN(v)) return "-";
      if (is.measure.value === "blocked") return v.toPrecision(3) + " packet-µs";
      if (is.measure.value === "held") return "at most " + v.toPrecision(3) + " packets in its receive buffers";
      return is.measure.value.indexOf("less") === 0 ? (v > 0 ? "+" : "") + (100 * v).toFixed(1) + " points" : pct(v);
    }
    function describe(i) {
      var line = run.lines[i], f = frame(), ends = line[1].slice(0, 16);
      var text = line[0] + (f ? ", until " + f.t[f.at] + " µs" : "") + "\n";
      return text + ends.map(function (p) {
        if (!f) return "from " + run.ports[p] + ": " + shown(value(p));
        var at = f.at * run.ports.length + p;
        return "from " + run.ports[p] + ": " + pct(f.use[at] / 255) + ", " + f.wait[at] + " waiting, " + f.stop[at] + " queues stopped, " + f.held[at] + " in its receive buffers";
      }).join("\n") + (line[1].length > 16 ? "\nand " + (line[1].length - 16) + " more directions" : "");
    }
    function frame() {
      if (!is.time || +is.time.value < 0) return null;
      var f = moving();
      if (!f) return null;
      f.at = +is.time.value;
      return f;
    }
    function paint() {
      var f = frame(), count = run.ports.length, most = 0, m = is.measure.value;
      if (!f && m === "blocked") variant().blocked.forEach(function (v) { if (v > most) most = v; });
      if (m === "held") most = full();
      var way = null;
      if (is.flow.value !== "") {
        way = {};
        variant().flows[is.flow.value][1].forEach(function (part) { way[part] = true; });
      }
      each(lines, function (path, i) {
        var ports = run.lines[i][1], high = 0, stopped = false, hit = false, less = false;
        ports.forEach(function (p) {
          var v = !f ? value(p) : m === "held" ? f.held[f.at * count + p] : f.use[f.at * count + p] / 255;
          if (m === "held" || !f && m === "blocked") v = most ? v / most : 0;
          if (!f && m.indexOf("less") === 0 && Math.abs(v) > high) less = v < 0;
          if (Math.abs(v) > high) high = Math.abs(v);
          if (f && f.stop[f.at * count + p]) stopped = true;
          if (way && way[p]) hit = true;
        });
        path.setAttribute("class", "ln u" + step(high) + (stopped || less ? " stopped" : "") + (way ? (hit ? " way" : " away") : ""));
        titles[i].textContent = describe(i);
      });
      each(devices, function (g, i) {
        var node = run.nodes[i], held = 0;
        if (f) node[1].forEach(function (p) { held += f.held[f.at * count + p]; });
        var s = f ? (held ? Math.min(8, 1 + Math.floor(Math.log2(held))) : 0) : 0;
        g.querySelector(".dv").setAttribute("class", "dv u" + s);
        g.querySelector("title").textContent = node[0] + (f ? ": at most " + held + " packets in receive buffers" : "");
      });
      var holds = m === "held" ? " Colours are parts of the most packets that any receive buffers hold: " + most + "." : "";
      if (way) {
        var flow = variant().flows[is.flow.value];
        told.textContent = flow[0] + ": " + (flow[1].length ? flow[1].length + " directions of links on its ways" : "its ways are not in this page, or it names no destination before the run") + "\n" + flow[2];
      } else if (f) {
        /* bytes of ports are rounded up, so their sums are not what there is */
        var sums = f.waits && f.stops ? ": " + round(f.waits[f.at]) + " packets wait, " + round(f.stops[f.at]) + " staging queues are stopped, on average over this part. " : ". ";
        told.textContent = "Until " + f.t[f.at] + " µs" + sums + "Dashed lines are links with a stopped queue." + holds;
      } else {
        told.textContent = m.indexOf("less") === 0 ? "Dashed lines: less than there." : m === "blocked" ? "Colours are parts of the most blocked direction: head-of-line blocking in receive buffers and packets held by backpressure." : holds;
      }
      if (is.time) is.time.setAttribute("aria-valuetext", f ? "until " + f.t[f.at] + " µs" : "whole run");
    }
    each(lines, function (path, i) {
      path.setAttribute("tabindex", "0");
      path.setAttribute("role", "img");
      path.setAttribute("aria-label", run.lines[i][0]);
      function tell() { told.textContent = describe(i); }
      path.addEventListener("focus", tell);
      path.addEventListener("click", tell);
    });
    function stop() { if (timer) clearInterval(timer); timer = null; if (is.play) is.play.textContent = "Play"; }
    ["variant", "measure", "flow"].forEach(function (name) {
      is[name].addEventListener("change", function () {
        if (name === "variant") options();
        if (name === "measure" && is.time) { stop(); is.time.value = -1; }
        paint();
      });
    });
    if (is.time) {
      is.time.addEventListener("input", paint);
      is.play.addEventListener("click", function () {
        if (timer) { stop(); return; }
        is.play.textContent = "Pause";
        if (+is.time.value >= +is.time.max) is.time.value = -1;
        timer = setInterval(function () {
          if (+is.time.value >= +is.time.max) { stop(); return; }
          is.time.value = +is.time.value + 1;
          paint();
        }, 120);
      });
    }
    /* rows of the table of flows show the way of their flow */
    var table = document.getElementById("flows" + run.section);
    if (table) each(table.tBodies[0].rows, function (row) {
      var cell = row.cells[1], name = cell.textContent;
      var v = run.variants.findIndex(function (one) { return one.name === row.cells[0].textContent; });
      var at = v < 0 ? -1 : run.variants[v].flows.findIndex(function (flow) { return flow[0] === name; });
      if (at < 0) return;
      var button = document.createElement("button");
      button.type = "button"; button.textContent = name;
      button.setAttribute("aria-label", "Show the way of " + name);
      cell.textContent = ""; cell.appendChild(button);
      button.addEventListener("click", function () {
        is.variant.value = v; options(); is.flow.value = at; paint();
        svg.scrollIntoView({ block: "center" });
      });
    });
    options();
    paint();
  });
})();
