// Words by Pagefind, which knows the pages that it was given (blogsmith/search/pagefind.py).

let pagefind;

// Parts of pages, the best first. address: of Pagefind's own script.
export async function findWords(address, text, most) {
  pagefind ??= await import(address);
  const { results } = await pagefind.search(text);
  const found = await Promise.all(results.slice(0, most / 2).map((result) => result.data()));
  return found.flatMap(({ meta: { at, title }, sub_results: parts }) =>
    parts.slice(0, 2).map(({ anchor, title: heading }) => {
      const id = anchor?.element.startsWith("h2") ? anchor.id : "";
      return { page: at, title, heading: id && heading, id, url: id ? `${at}#${id}` : at };
    }),
  );
}
