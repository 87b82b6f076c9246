"""What programs read: `llms.txt`, a list of the posts, and each post's Markdown as `index.md` beside it.

The form of `llms.txt` is that of https://llmstxt.org: a title, a summary, a list of links.
"""

from blogsmith.hooks import Config, Document, Hooks, PageView, SiteOutputs


def register(hooks: Hooks) -> None:
    @hooks.site_outputs
    def outputs(site: SiteOutputs) -> dict[str, str]:
        base_path = site.config.base_path
        posts = [page for page in site.pages if page.path and page.kind in ("post", "page")]
        files = {
            f"{post.url.removeprefix(base_path).strip('/')}/index.md": _markdown(
                post, site.documents[post.path]
            )
            for post in posts
            if post.path in site.documents
        }
        newest_first = sorted(posts, key=lambda post: (post.date is None, -_moment(post), post.url))
        return {"llms.txt": _list(site.config, newest_first), **files}


def _moment(post: PageView) -> float:
    return post.date.timestamp() if post.date else 0


def _list(config: Config, posts: list[PageView]) -> str:
    head = f"# {config.title}\n"
    summary = f"\n> {config.description}\n" if config.description else ""
    lines = [_line(config, post) for post in posts]
    return f"{head}{summary}\n## Posts\n\n" + "".join(lines) if lines else f"{head}{summary}"


def _line(config: Config, post: PageView) -> str:
    words = " ".join(post.description.split())
    url = (
        f"{config.base_url.rstrip('/')}{post.url.removeprefix(config.base_path)}"
        if config.base_url
        else post.url
    )
    return f"- [{_plain(post.title)}]({url}index.md)" + (f": {words}" if words else "") + "\n"


def _plain(title: str) -> str:
    return title.replace("[", "\\[").replace("]", "\\]")


def _markdown(post: PageView, document: Document) -> str:
    date = f"{post.date:%Y-%m-%d}\n\n" if post.date else ""
    return f"# {post.title}\n\n{date}{document.body.strip()}\n"
