"""Redirects for Cloudflare Pages: old URLs are answered with status 301 instead of a page (`_redirects`)."""

from blogsmith.hooks import Hooks, SiteOutputs


def register(hooks: Hooks) -> None:
    @hooks.site_outputs
    def outputs(site: SiteOutputs) -> dict[str, str]:
        base_path = site.config.base_path
        lines = [
            f"{base_path}/{alias.lstrip('/')} {page.url} 301\n"
            for page in site.pages
            if page.path in site.documents
            for alias in site.documents[page.path].front.aliases
        ]
        return {"_redirects": "".join(lines)} if lines else {}
