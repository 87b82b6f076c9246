// What this page is to the preview: the tag that was put into it says so.

export const tag = document.querySelector("script[data-blogsmith]");

// One path has one spelling, whatever was typed into the address bar.
export function decoded(path) {
  try {
    return decodeURI(path);
  } catch {
    // no UTF-8: it stays as it is
    return path;
  }
}

const pageOf = (path) => decoded(path).replace(/\/index\.html$/, "/");

export const isThisPage = (path) => pageOf(path) === pageOf(location.pathname);

// Asks the server to do something. Only pages that it served know the token.
export async function act(name, data) {
  const answer = await fetch(new URL(`do/${name}`, import.meta.url), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Blogsmith-Token": tag.dataset.token },
    body: JSON.stringify(data),
  });
  if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
  return answer.json();
}
