// Words by Pagefind, which knows the pages that it was given (blogsmith/search/pagefind.py).

let pagefind;

// Parts of pages, each as the address of its page and its id, the best first. address: of Pagefind's own script.
export async function findWords(address, text, most) {
  pagefind ??= await import(address);
  const { results } = await pagefind.search(text);
  const found = await Promise.all(results.slice(0, most / 2).map((result) => result.data()));
  return found.flatMap(({ meta: { at }, sub_results: parts }) =>
    parts.slice(0, 2).map(({ anchor }) => [at, anchor?.element.startsWith("h2") ? anchor.id : ""]),
  );
}
