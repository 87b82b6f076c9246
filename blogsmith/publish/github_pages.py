"""GitHub Pages: a workflow of GitHub Actions that builds the site and hands it over as an artifact.

Source: the workflow syntax of GitHub Actions; the READMEs of `actions/configure-pages`,
`actions/upload-pages-artifact` and `actions/deploy-pages`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .build_commands import build_commands, install_command, list_removal
from .hosted_site import HostedSite
from .quoting import quote_yaml, refuse_expression, yaml_command

WORKFLOW = ".github/workflows/publish.yml"
CNAME = "static/CNAME"
_HOST = "github.io"
_WORKFLOW = """\
# Publishes the site on GitHub Pages. Written by `blogsmith publish setup github-pages`.
name: Publish
on:
  push:
    branches: [{branch}]
  # built, not published
  pull_request:
  workflow_dispatch:
permissions:
  contents: read
concurrency:
  group: publish-${{{{ github.ref }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}
jobs:
  build:
    runs-on: ubuntu-latest
    permissions:
      contents: read
      pages: read{folder}
    steps:
      - uses: actions/checkout@v6
        with:
          persist-credentials: false{checkout}
      - uses: actions/setup-python@v6
        with:
          python-version: {python}
          cache: pip
          cache-dependency-path: {requirements}
      # what builds keep of pages and pictures, with the key that says it is their own
      - uses: actions/cache@v5
        with:
          path: |
            {cache}
            ~/.local/state/blogsmith
          key: blogsmith-${{{{ hashFiles({hashed}) }}}}-${{{{ github.run_id }}}}
          restore-keys: blogsmith-${{{{ hashFiles({hashed}) }}}}-
      - run: {install}{configure}{builds}
      - run: {removal}
      - if: github.event_name != 'pull_request'
        uses: actions/upload-pages-artifact@v5
        with:
          path: {output}
          # .well-known/, if the site has it
          include-hidden-files: true
  publish:
    if: github.event_name != 'pull_request'
    needs: build
    runs-on: ubuntu-latest
    permissions:
      pages: write
      id-token: write
    environment:
      name: github-pages
      url: ${{{{ steps.publish.outputs.page_url }}}}
    steps:
      - id: publish
        uses: actions/deploy-pages@v5
"""
_CONFIGURE = """
      # says where the site will live: github.io/name/, or its own domain
      - if: github.event_name != 'pull_request'
        id: pages
        uses: actions/configure-pages@v5"""


def github_files(site: HostedSite) -> Mapping[str, str]:
    """Path in the repository → text."""
    files = {WORKFLOW: _workflow(site)}
    if site.host and not site.host.endswith(f".{_HOST}"):
        files[site.at(CNAME)] = f"{site.host}\n"
    return files


def github_steps(site: HostedSite) -> tuple[str, ...]:
    """What is left to do, a line each."""
    domain = ""
    if site.host and not site.host.endswith(f".{_HOST}"):
        domain = f"; Custom domain: {site.host}"
    return (
        f"on GitHub, Settings → Pages: Source: GitHub Actions{domain}",
        "commit these files and _freeze/, and push",
    )


def github_address(owner: str, name: str) -> str:
    """Where GitHub Pages shows a repository without a domain of its own."""
    home = f"https://{owner.lower()}.{_HOST}"
    return home if name.lower() == f"{owner.lower()}.{_HOST}" else f"{home}/{name}"


def _workflow(site: HostedSite) -> str:
    for text in (site.repository.branch, site.folder, site.output, site.base_url):
        refuse_expression(text)
    folder, checkout = "", ""
    if site.folder:
        path = quote_yaml(site.folder)
        folder = f"\n    defaults:\n      run:\n        working-directory: {path}"
    if site.needs_history:
        checkout += "\n          # dates of pages come from git\n          fetch-depth: 0"
    if site.has_large_files:
        checkout += "\n          lfs: true"
    return _WORKFLOW.format(
        branch=quote_yaml(site.repository.branch),
        folder=folder,
        checkout=checkout,
        python=quote_yaml(site.python),
        requirements=quote_yaml(site.at(site.requirements)),
        cache=site.at(".blogsmith"),
        hashed=f"'{site.at(site.requirements)}'",
        install=yaml_command(install_command(site)),
        configure="" if site.base_url else _CONFIGURE,
        builds=_builds(site),
        removal=yaml_command(list_removal(site)),
        output=quote_yaml(site.at(site.output)),
    )


def _builds(site: HostedSite) -> str:
    *before, build = build_commands(site, "BASE_URL")
    text = "".join(f"\n      - run: {yaml_command(command)}" for command in before)
    if site.base_url:
        return f"{text}\n      - run: {yaml_command(build)}"
    elsewhere = yaml_command(build.replace(' --base-url "$BASE_URL"', ""))
    return (
        f"{text}\n      - if: github.event_name != 'pull_request'\n        run: {yaml_command(build)}"
        "\n        env:\n          BASE_URL: ${{ steps.pages.outputs.base_url }}"
        f"\n      - if: github.event_name == 'pull_request'\n        run: {elsewhere}"
    )
