// A click on "Make interactive" loads a chart library from this site and draws the chart over its static form.

const loading = new Map();

function load(address) {
  if (!loading.has(address))
    loading.set(
      address,
      new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = () => failed(new Error(address));
        document.head.append(script);
      }),
    );
  return loading.get(address);
}

// The policy of the page allows no <style> elements, which libraries add. Their rules, which no other host can
// send, are applied as constructed style sheets.
const own = new WeakMap();
const others = new WeakMap();

function ownSheet(style) {
  if (!own.has(style)) own.set(style, { sheet: new CSSStyleSheet(), text: "" });
  const found = own.get(style);
  if (found.text !== style.textContent) {
    found.text = style.textContent;
    found.sheet.replaceSync(found.text);
  }
  return found.sheet;
}

function watchStyles() {
  if (others.has(document)) return;
  const { get } = Object.getOwnPropertyDescriptor(HTMLStyleElement.prototype, "sheet");
  const adopt = (root) => {
    const blocked = [...root.querySelectorAll("style")].filter((style) => !get.call(style));
    root.adoptedStyleSheets = [...others.get(root), ...blocked.map(ownSheet)];
  };
  const watch = (root) => {
    others.set(root, [...root.adoptedStyleSheets]);
    const changes = { childList: true, characterData: true, subtree: true };
    new MutationObserver(() => adopt(root)).observe(root === document ? document.head : root, changes);
    return root;
  };
  Object.defineProperty(HTMLStyleElement.prototype, "sheet", {
    get() {
      return get.call(this) ?? (this.isConnected ? ownSheet(this) : null);
    },
  });
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return watch(attach.call(this, options));
  };
  watch(document);
}

const DRAW = {
  plotly: (place, { data, layout }) =>
    Plotly.newPlot(place, data, { ...layout, autosize: true }, { responsive: true, displaylogo: false }),

  // the policy of the page allows no code made from text, so expressions are interpreted
  vega(place, spec) {
    const full = /vega-lite/.test(spec.$schema ?? "vega-lite") ? vegaLite.compile(spec).spec : spec;
    const view = new vega.View(vega.parse(full, null, { ast: true }), {
      expr: vega.expressionInterpreter,
      renderer: "svg",
      container: place,
      hover: true,
    });
    return view.runAsync();
  },

  bokeh(place, item) {
    place.id = `live-${item.root_id}`;
    return Bokeh.embed.embed_item({ ...item, target_id: place.id });
  },
};

async function show({ currentTarget: button }) {
  const still = button.parentElement;
  const place = document.createElement("div");
  place.className = "live-chart";
  button.disabled = true;
  try {
    const data = JSON.parse(button.querySelector("script").textContent);
    watchStyles();
    for (const address of button.dataset.scripts.split(" ")) await load(address);
    button.before(place);
    await DRAW[button.dataset.library](place, data);
    for (const other of [...still.children])
      if (other !== place && !other.matches("figcaption")) other.hidden = true;
  } catch (error) {
    console.error(error);
    place.remove();
    button.textContent = button.dataset.failed;
  }
}

function start() {
  for (const button of document.querySelectorAll(".live-button[hidden]:not(:disabled)")) {
    button.hidden = false;
    button.addEventListener("click", show, { once: true });
  }
}

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
