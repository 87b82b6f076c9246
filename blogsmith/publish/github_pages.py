"""GitHub Pages: a GitHub Actions workflow that builds the site and uploads it as an artifact.

Actions are pinned by commit, so nobody can change them by moving a tag. The only cache is that of pip, and
the lock verifies its files. Pull requests have no cache. In pull requests from forks, plugins are not
trusted: if the site has plugins, these pull requests are not built. Source: the workflow syntax of GitHub
Actions; the READMEs of `actions/configure-pages`, `actions/upload-pages-artifact` and `actions/deploy-pages`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .dependency_lock import LOCK
from .hosted_site import HostedSite, build_commands, install_commands, list_removal
from .quoting import quote_yaml, reject_expression, yaml_command

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
  build:{members}
    runs-on: ubuntu-latest
    permissions:
      contents: read{pages}{folder}
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false{checkout}
      - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0
        with:
          python-version: {python}
          cache: ${{{{ github.event_name != 'pull_request' && 'pip' || '' }}}}
          cache-dependency-path: {lock}{install}{configure}{builds}
      - run: {removal}
      - if: github.event_name != 'pull_request'
        uses: actions/upload-pages-artifact@fc324d3547104276b827a68afc52ff2a11cc49c9 # v5.0.0
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
        uses: actions/deploy-pages@cd2ce8fcbc39b97be8ca5fce6e763baed58fa128 # v5.0.0
"""
_MEMBERS = """
    # `blogsmith trust` allows plugins to run, but not those of a pull request from a fork
    if: >-
      github.event_name != 'pull_request' ||
      github.event.pull_request.head.repo.full_name == github.repository"""
_CONFIGURE = """
      # gives the URL of the site: github.io/name/, or its own domain
      - if: github.event_name != 'pull_request'
        id: pages
        uses: actions/configure-pages@983d7736d9b0ae728b81ab479565c72886d7745b # v5.0.0"""


def github_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file that the host needs."""
    files = {WORKFLOW: _workflow(site)}
    if site.host and not site.host.endswith(f".{_HOST}"):
        files[site.repository_path(CNAME)] = f"{site.host}\n"
    return files


def github_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    domain = ""
    if site.host and not site.host.endswith(f".{_HOST}"):
        domain = f"; Custom domain: {site.host}"
    return (
        f"on GitHub, Settings → Pages: Source: GitHub Actions{domain}",
        "commit these files and _freeze/, and push",
    )


def github_address(owner: str, name: str) -> str:
    """Return the URL of a GitHub Pages site that has no domain of its own."""
    home = f"https://{owner.lower()}.{_HOST}"
    return home if name.lower() == f"{owner.lower()}.{_HOST}" else f"{home}/{name}"


def _workflow(site: HostedSite) -> str:
    for text in (site.repository.branch, site.folder, site.output, site.base_url, site.source.url):
        reject_expression(text)
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
        members=_MEMBERS if site.needs_trust else "",
        folder=folder,
        checkout=checkout,
        python=quote_yaml(site.python),
        lock=quote_yaml(site.repository_path(LOCK)),
        install="".join(f"\n      - run: {yaml_command(command)}" for command in install_commands(site)),
        # configure-pages requests the URL from GitHub
        pages="" if site.base_url else "\n      pages: read",
        configure="" if site.base_url else _CONFIGURE,
        builds=_builds(site),
        removal=yaml_command(list_removal(site)),
        output=quote_yaml(site.repository_path(site.output)),
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
