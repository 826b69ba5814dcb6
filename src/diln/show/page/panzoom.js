// Moving over a plane: wheel, pinch, drag, double click and keys.
//
//   openZoom(node, {size, least, most, wheel, onChange, onTap, onDrag}) -> zoom
//     zoom.k, zoom.x, zoom.y   screen = k * place + (x, y), where `place` is the screen place at k = 1
//     zoom.by(factor, x, y)    zooms about a point of the screen; zoom.pan(dx, dy); zoom.reset()
//     zoom.to({k, x, y})       goes there smoothly (at once where reduced motion is asked for)
//     zoom.key(event)          + - 0, and arrows with Shift; true if used
//     zoom.moving              whether a gesture or a flight is under way
//   zoomButtons(zoom) -> an element with buttons to zoom in, to zoom out and to show all
//   onChange() after every change and once at rest; onTap(event, x, y) for a click that was no drag;
//   onDrag(event, x, y) may take a drag for itself (a node of a network) by returning {move(x, y), end()}.

import { clamp } from "diln/scale.js";
import { html } from "diln/svg.js";

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Calls step(t) for t from 0 to 1, eased; returns a function that stops it.
export function animate(duration, step, done = () => {}) {
  if (calm() || duration <= 0) {
    step(1);
    done();
    return () => {};
  }
  let frame = 0;
  const start = performance.now();
  const tick = (now) => {
    const t = clamp((now - start) / duration, 0, 1);
    step(t < 0.5 ? 2 * t * t : 1 - (2 - 2 * t) ** 2 / 2);
    if (t < 1) frame = requestAnimationFrame(tick);
    else done();
  };
  frame = requestAnimationFrame(tick);
  return () => cancelAnimationFrame(frame);
}

// Keeps a pointer's events coming when it leaves the node; a pointer that is gone by now needs no keeping.
export function capture(node, pointer) {
  try {
    if (!node.hasPointerCapture(pointer)) node.setPointerCapture(pointer);
  } catch (error) {
    if (error.name !== "NotFoundError") throw error;
  }
}

// Buttons for those who have no wheel and no keys.
export function zoomButtons(zoom) {
  const button = (name, text, call) =>
    html("button", { type: "button", "aria-label": name, title: name, onclick: call }, text);
  return html(
    "div", { class: "view-zoom" }, button("Zoom in", "+", () => zoom.by(1.6)),
    button("Zoom out", "−", () => zoom.by(1 / 1.6)), button("Show all", "⌂", () => zoom.reset()),
  );
}

export function openZoom(node, { size, least = 0.6, most = 500, wheel = "always", onChange, onTap, onDrag }) {
  const zoom = { k: 1, x: 0, y: 0, moving: false };
  const pointers = new Map();
  let grip = null; // where a drag or a pinch began
  let taken = null; // a drag that the owner has taken
  let stop = () => {};
  let rest = 0;
  let lastTap = { at: 0, x: 0, y: 0 };

  // At least a part of the plane stays in sight.
  function bound() {
    const { width, height } = size();
    zoom.k = clamp(zoom.k, least, most);
    zoom.x = clamp(zoom.x, width * 0.2 - width * zoom.k, width * 0.8);
    zoom.y = clamp(zoom.y, height * 0.2 - height * zoom.k, height * 0.8);
  }
  function changed() {
    bound();
    zoom.moving = true;
    clearTimeout(rest);
    rest = setTimeout(settled, 160);
    onChange();
  }
  function settled() {
    if (pointers.size > 0) return;
    zoom.moving = false;
    onChange();
  }

  zoom.by = (factor, x, y) => {
    const { width, height } = size();
    const px = x ?? width / 2;
    const py = y ?? height / 2;
    const k = clamp(zoom.k * factor, least, most);
    zoom.x = px - ((px - zoom.x) * k) / zoom.k;
    zoom.y = py - ((py - zoom.y) * k) / zoom.k;
    zoom.k = k;
    changed();
  };
  zoom.pan = (dx, dy) => {
    zoom.x += dx;
    zoom.y += dy;
    changed();
  };
  // Flies in the logarithm of k, so that near and far take the same time.
  zoom.to = (goal, duration = 450) => {
    stop();
    const { width, height } = size();
    const from = { k: zoom.k, cx: (width / 2 - zoom.x) / zoom.k, cy: (height / 2 - zoom.y) / zoom.k };
    const k = clamp(goal.k, least, most);
    const until = { cx: (width / 2 - goal.x) / goal.k, cy: (height / 2 - goal.y) / goal.k };
    stop = animate(duration, (t) => {
      zoom.k = from.k * (k / from.k) ** t;
      zoom.x = width / 2 - zoom.k * (from.cx + (until.cx - from.cx) * t);
      zoom.y = height / 2 - zoom.k * (from.cy + (until.cy - from.cy) * t);
      changed();
    });
  };
  // Shows the place (x, y), as it is on the screen at k = 1, in the middle.
  zoom.centre = (x, y, k) => {
    const { width, height } = size();
    zoom.to({ k, x: width / 2 - k * x, y: height / 2 - k * y });
  };
  zoom.reset = () => zoom.to({ k: 1, x: 0, y: 0 });
  zoom.key = (event) => {
    const step = 60;
    const ways = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.key === "+" || event.key === "=") zoom.by(1.4);
    else if (event.key === "-" || event.key === "_") zoom.by(1 / 1.4);
    else if (event.key === "0") zoom.reset();
    else if (event.shiftKey && ways[event.key]) zoom.pan(...ways[event.key]);
    else return false;
    return true;
  };

  const place = (event) => {
    const box = node.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const awake = () => wheel === "always" || document.activeElement === node;
  const touch = () => { node.style.touchAction = awake() ? "none" : "pan-y"; };
  touch();
  node.addEventListener("focus", touch);
  node.addEventListener("blur", touch);

  node.addEventListener("wheel", (event) => {
    if (!awake() && !event.ctrlKey) return;
    event.preventDefault();
    stop();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 160 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0016;
    zoom.by(Math.exp(-clamp(event.deltaY * unit, -240, 240) * speed), ...place(event));
  }, { passive: false });

  const ours = (event) => !event.target.closest("button, a, input, select");
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !ours(event)) return;
    stop();
    pointers.set(event.pointerId, place(event));
    begin();
    if (pointers.size === 1) {
      grip.first = grip.middle;
      grip.far = 0;
      taken = (onDrag && onDrag(event, ...grip.middle)) || null;
    } else if (taken) {
      taken.end();
      taken = null;
    }
  });
  function begin() {
    const all = [...pointers.values()];
    const middle = [0, 1].map((axis) => all.reduce((sum, one) => sum + one[axis], 0) / all.length);
    const apart = all.length > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0;
    grip = { ...(grip ?? {}), middle, apart };
  }
  node.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, place(event));
    const old = grip;
    begin();
    grip.far = Math.max(old.far ?? 0, Math.hypot(grip.middle[0] - old.first[0], grip.middle[1] - old.first[1]),
      pointers.size > 1 ? 9 : 0);
    if (grip.far < 4) {
      grip.middle = old.middle;
      return;
    }
    // Captured only now: a capture at once would take clicks from what is inside.
    capture(node, event.pointerId);
    if (taken) taken.move(...grip.middle);
    else {
      zoom.x += grip.middle[0] - old.middle[0];
      zoom.y += grip.middle[1] - old.middle[1];
      if (old.apart > 0 && grip.apart > 0) zoom.by(grip.apart / old.apart, ...grip.middle);
      else changed();
    }
  });
  const lift = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (taken && pointers.size === 0) {
      taken.end();
      taken = null;
    }
    if (pointers.size > 0) {
      begin();
      return;
    }
    const tapped = event.type === "pointerup" && (grip.far ?? 0) < 4;
    const [x, y] = place(event);
    grip = null;
    clearTimeout(rest);
    settled();
    if (!tapped) return;
    const again = event.timeStamp - lastTap.at < 350 && Math.hypot(x - lastTap.x, y - lastTap.y) < 24;
    lastTap = again ? { at: 0, x, y } : { at: event.timeStamp, x, y };
    if (again) zoom.to(about(2.2, x, y), 250);
    else onTap(event, x, y);
  };
  const about = (factor, x, y) => {
    const k = clamp(zoom.k * factor, least, most);
    return { k, x: x - ((x - zoom.x) * k) / zoom.k, y: y - ((y - zoom.y) * k) / zoom.k };
  };
  node.addEventListener("pointerup", lift);
  node.addEventListener("pointercancel", lift);

  zoom.close = () => {
    stop();
    clearTimeout(rest);
  };
  return zoom;
}
