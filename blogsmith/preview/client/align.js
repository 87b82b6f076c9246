// Which of two lists of sibling nodes belong together. What is equal is found first and never moves: the longest
// common run of nodes that occur once on either side, as in a patience diff. What lies between is paired by
// likeness, so that an edited paragraph stays the same paragraph.

const MANY = 2500;

const pathOf = (address) => address.replace(/[?#].*/, "");

// Elements of the head have no text to be like each other in.
function nameOf(element) {
  const attribute = (name) => element.getAttribute(name) ?? "";
  switch (element.localName) {
    case "link":
      return attribute("rel") + pathOf(attribute("href")) + attribute("hreflang");
    case "meta":
      return attribute("name") + attribute("property") + attribute("http-equiv") + attribute("media");
    case "script":
      return attribute("type") + pathOf(attribute("src"));
    default:
      return "";
  }
}

// How much of the longer text is the same at its beginning or its end.
function commonShare(one, other) {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let first = 0;
  while (first < short.length && short[first] === long[first]) first += 1;
  let last = 0;
  while (last < short.length - first && short.at(-1 - last) === long.at(-1 - last)) last += 1;
  return long.length ? (first + last) / long.length : 1;
}

// 0: never a pair.
function likeness(was, now) {
  if (was.nodeName !== now.nodeName) return 0;
  if (was.nodeType !== Node.ELEMENT_NODE) return was.data.trim() || now.data.trim() ? 0.5 : 1;
  if (nameOf(was) !== nameOf(now)) return 0;
  const isSameId = was.id && was.id === now.id;
  return (isSameId ? 1 : 0) + 0.2 + commonShare(was.textContent, now.textContent);
}

const steps = (was, now) => [...was.map((node) => ({ was: node })), ...now.map((node) => ({ now: node }))];

// The pairs of the greatest likeness that keep the order of both lists.
function paired(was, now) {
  if (was.length * now.length > MANY) return steps(was, now);
  const like = was.map((one) => now.map((other) => likeness(one, other)));
  const best = Array.from({ length: was.length + 1 }, () => new Float64Array(now.length + 1));
  for (let i = was.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const pair = like[i][j] && like[i][j] + best[i + 1][j + 1];
      best[i][j] = Math.max(pair, best[i + 1][j], best[i][j + 1]);
    }
  }
  const made = [];
  let [i, j] = [0, 0];
  while (i < was.length && j < now.length) {
    if (like[i][j] && best[i][j] === like[i][j] + best[i + 1][j + 1]) made.push({ was: was[i++], now: now[j++] });
    else if (best[i][j] === best[i + 1][j]) made.push({ was: was[i++] });
    else made.push({ now: now[j++] });
  }
  return [...made, ...steps(was.slice(i), now.slice(j))];
}

// Text → where it stands, for nodes whose like is not to be found twice. Space between blocks holds nothing fast.
function once(nodes) {
  const places = new Map();
  nodes.forEach((node, place) => {
    if (node.nodeType !== Node.ELEMENT_NODE && !node.data.trim()) return;
    const text = node.outerHTML ?? node.nodeName + node.data;
    places.set(text, places.has(text) ? -1 : place);
  });
  return places;
}

// The longest run of [place, place] that rises on both sides.
function anchors(was, now) {
  if (was.length === 1 && now.length === 1) return [];
  const others = once(now);
  const common = [...once(was)]
    .map(([text, place]) => [place, others.get(text) ?? -1])
    .filter(([one, other]) => one >= 0 && other >= 0);
  const ends = [];
  for (const pair of common) {
    let at = ends.length;
    while (at > 0 && ends[at - 1].pair[1] > pair[1]) at -= 1;
    ends[at] = { pair, before: ends[at - 1] };
  }
  const run = [];
  for (let end = ends.at(-1); end; end = end.before) run.unshift(end.pair);
  return run;
}

function between(was, now) {
  if (!was.length || !now.length) return steps(was, now);
  const fixed = anchors(was, now);
  if (!fixed.length) return paired(was, now);
  const made = [];
  let [i, j] = [0, 0];
  for (const [one, other] of fixed) {
    made.push(...align(was.slice(i, one), now.slice(j, other)), { was: was[one], now: now[other], isEqual: true });
    [i, j] = [one + 1, other + 1];
  }
  return [...made, ...align(was.slice(i), now.slice(j))];
}

// Steps in order: {was, now} for a pair, with isEqual where nothing changed, {was} alone for what goes and {now}
// for what comes.
export function align(was, now) {
  const short = Math.min(was.length, now.length);
  let first = 0;
  while (first < short && was[first].isEqualNode(now[first])) first += 1;
  let last = 0;
  while (last < short - first && was.at(-1 - last).isEqualNode(now.at(-1 - last))) last += 1;
  const equal = (node, place, shift) => ({ was: node, now: now[place + shift], isEqual: true });
  const tail = was.length - last;
  return [
    ...was.slice(0, first).map((node, place) => equal(node, place, 0)),
    ...between(was.slice(first, tail), now.slice(first, now.length - last)),
    ...was.slice(tail).map((node, place) => equal(node, place, now.length - last)),
  ];
}
