// Python for one page: Pyodide in a worker, loaded when the first block runs. What happens is told in messages:
// those of run_output.py as they are, and `progress`, `phase`, `start`, then one that ends the run: `done`, `failed`
// (something could not be loaded; it may be tried again) or `broken` (this Python is lost).

// What is fetched before Python starts, unpacked: for the bar only, so another version may differ a little.
const CORE_BYTES = 12.26e6;
const TEXT_BYTES = 1024 * 1024;
const EVERY_MS = 100;
const PACKAGE = "_blogsmith";

const load = fetch;
const troubles = new Map();
const spoiled = new Set();
let done = 0;
let total = CORE_BYTES;
let told = 0;
let python;
// bytes that C code may still print in this run
let left = 0;

const tell = (event, more) => postMessage({ event, ...more });
const host = (url) => new URL(url).host;

function count(bytes) {
  done += bytes;
  if (done < total && performance.now() - told < EVERY_MS) return;
  told = performance.now();
  tell("progress", { done, total });
}

// Counts the bytes of a copy: the response itself stays as it came, so that browsers compile it while it streams
// and keep what they compiled.
async function watch(response) {
  if (total !== CORE_BYTES) total += Number(response.headers.get("content-length"));
  const reader = response.clone().body.getReader();
  // not every browser can loop over a stream
  for (let step = await reader.read(); !step.done; step = await reader.read()) count(step.value.length);
}

// Browsers do not tell a wrong checksum from a broken connection: the same address without one does.
async function trouble(url, options) {
  if (!options?.integrity) return "no connection, or the address is blocked";
  const again = await load(url).catch(() => undefined);
  if (!again) return trouble(url);
  return again.ok ? "its checksum is wrong" : status(again);
}

const status = ({ status }) => (status === 404 ? "not found (404)" : `the server answers ${status}`);

globalThis.fetch = async (resource, options) => {
  const url = String(resource.url ?? resource);
  // what was wrong once is not taken from the browser's cache again
  const fully = spoiled.has(url) ? { ...options, cache: "reload" } : options;
  try {
    const response = await load(resource, fully);
    if (!response.ok) troubles.set(url, status(response));
    // whoever reads the response learns of a connection that breaks
    watch(response).catch(() => undefined);
    return response;
  } catch (error) {
    spoiled.add(url);
    troubles.set(url, await trouble(url, options));
    throw error;
  }
};

class Failed extends Error {}

// what a step gives; if it fails, `words` and the reason, as far as fetching knows it
async function step(words, url, work) {
  try {
    return await work();
  } catch (error) {
    const why = [...troubles.values()][0] ?? (url && (await missing(url))) ?? error.message;
    throw new Failed(`${words}: ${why}`);
  }
}

// a module that cannot be imported does not say why
async function missing(url) {
  await fetch(url).catch(() => undefined);
  return troubles.get(url);
}

const fileName = (url) => new URL(url).pathname.split("/").pop();

function text(url) {
  return step(`Cannot load ${fileName(url)} from ${host(url)}`, url, async () => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(status(response));
    return response.text();
  });
}

async function start({ pyodide, harness }) {
  const words = `Cannot load Python from ${host(pyodide)}`;
  const module = `${pyodide}pyodide.mjs`;
  const { loadPyodide } = await step(words, module, () => import(module));
  const options = { indexURL: pyodide, packageBaseUrl: pyodide, lockFileURL: `${pyodide}pyodide-lock.json` };
  const ready = await step(words, "", () => loadPyodide({ ...options, stdout() {}, stderr() {} }));
  const folder = `${ready.runPython("import sysconfig; sysconfig.get_path('purelib')")}/${PACKAGE}`;
  ready.FS.mkdirTree(folder);
  for (const url of harness) ready.FS.writeFile(`${folder}/${fileName(url)}`, await text(url));
  const runner = ready.pyimport(`${PACKAGE}.run`).Runner(postJson);
  runner.install();
  below(ready);
  return { ready, runner, isReady: true };
}

const postJson = (text) => postMessage(JSON.parse(text));

// What C code prints: Python cannot be asked to take it, for it waits meanwhile. There is nobody to answer `input()`.
function below(ready) {
  for (const [name, set] of [["stdout", "setStdout"], ["stderr", "setStderr"]]) {
    const decoder = new TextDecoder();
    ready[set]({
      write(bytes) {
        left -= bytes.length;
        if (left >= 0) tell("stream", { name, text: decoder.decode(bytes, { stream: true }) });
        return bytes.length;
      },
    });
  }
  ready.setStdin({ stdin: () => null });
}

const plain = (name) => name.toLowerCase().replace(/[-_.]+/g, "-");

async function packages({ ready }, { code, packages }, base) {
  const failed = new Map();
  let name;
  const options = {
    messageCallback: (text) => /^Loading /.test(text) && tell("phase", { words: text }),
    errorCallback(text) {
      const begins = /^The following error occurred while loading (.+):$/.exec(text);
      if (begins) name = begins[1];
      else if (name) failed.set(name, text);
    },
  };
  troubles.clear();
  done = total = 0;
  try {
    if (packages.length) await ready.loadPackage(packages, options);
    await ready.loadPackagesFromImports(code, options);
  } catch (error) {
    throw new Failed(`The packages of this code could not be loaded from ${host(base)}: ${error.message}`);
  }
  for (const [name, text] of failed) {
    const isOf = ([url]) => plain(fileName(url)).startsWith(`${plain(name)}-`);
    const why = [...troubles].find(isOf)?.[1] ?? text;
    throw new Failed(`The package ${name} could not be loaded from ${host(base)}: ${why}`);
  }
}

async function run(request) {
  const { code, session, file, line, seed, pyodide } = request;
  python ??= start(request);
  python = await python;
  await packages(python, request, pyodide);
  left = TEXT_BYTES;
  tell("start");
  const begun = performance.now();
  const status = await python.runner.run(code, session, file, line, seed);
  tell("done", { status, seconds: (performance.now() - begun) / 1000 });
}

addEventListener("message", async ({ data }) => {
  try {
    await run(data);
  } catch (error) {
    tell(error instanceof Failed ? "failed" : "broken", { why: error.message, isLost: !python?.isReady });
  }
});

// Python that dies does not answer: its last words come as a rejection that nobody waits for.
addEventListener("unhandledrejection", (event) => {
  const { reason } = event;
  const isEnd = reason instanceof WebAssembly.RuntimeError || reason instanceof RangeError;
  if (!isEnd && reason?.name !== "Exit" && reason?.name !== "ExitStatus") return;
  event.preventDefault();
  tell("broken", { why: reason.message });
});
