"""Settings for Cloudflare, Netlify and GitLab Pages, and files of the built site with headers and redirects.

Sources: Cloudflare's documentation of Workers static assets and the schema of `wrangler.toml` in wrangler;
Netlify's documentation of `netlify.toml`, `_headers` and `_redirects`; the references of `.gitlab-ci.yml` and
of GitLab Pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .dependency_lock import LOCK
from .hosted_site import TRUST, HostedSite, build_commands, install_commands, list_removal
from .quoting import quote_shell, quote_toml, quote_yaml, yaml_command

PIPELINE = ".gitlab-ci.yml"
_PIPELINE = """\
# Publishes the site on GitLab Pages. Written by `blogsmith publish setup gitlab`; change it as you like.
stages: [build, deploy]

.site:
  image: {image}
  variables:
    PIP_CACHE_DIR: "$CI_PROJECT_DIR/.cache/pip"{variables}
  before_script:{before}

# branches and merge requests: built, not published
site:
  extends: .site
  stage: build
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      when: never{members}
    - if: $CI_PIPELINE_SOURCE == "merge_request_event" || $CI_COMMIT_BRANCH
  script:{checks}

pages:
  extends: .site
  stage: deploy
  cache:
    key:
      files: [{lock}]
    # packages only, which the lock checks: never .blogsmith/ or a record of trust
    paths: [.cache/pip/]
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:{builds}
  pages:
    publish: {output}
  artifacts:
    paths: [{output}]
"""
_MEMBERS = """
    # `blogsmith trust` allows plugins to run, but not those of a merge request from a fork
    - if: $CI_MERGE_REQUEST_SOURCE_PROJECT_PATH && $CI_MERGE_REQUEST_SOURCE_PROJECT_PATH != $CI_PROJECT_PATH
      when: never"""
_COMPRESS = (
    r"find {output} -type f -regextype posix-extended "
    r"-regex '.*\.(css|html|js|json|md|svg|txt|xml)' -exec gzip -9 --force --keep {{}} +"
)


def gitlab_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file that GitLab needs."""
    enter = (f"cd {quote_shell(site.folder)}",) if site.folder else ()
    builds = build_commands(site, "CI_PAGES_URL")
    variables = "\n    # dates of pages come from git\n    GIT_DEPTH: 0" if site.needs_history else ""
    image = (
        f"python:{site.python}"
        if site.needs_history or site.has_large_files or site.source.kind == "git"
        else f"python:{site.python}-slim"
    )
    compress = _COMPRESS.format(output=quote_shell(site.output))
    return {
        PIPELINE: _PIPELINE.format(
            image=quote_yaml(image),
            variables=variables,
            members=_MEMBERS if site.needs_trust else "",
            lock=quote_yaml(site.repository_path(LOCK)),
            before=_commands((*enter, *install_commands(site))),
            checks=_commands([line.replace(' --base-url "$CI_PAGES_URL"', "") for line in builds]),
            builds=_commands((*builds, list_removal(site), compress)),
            output=quote_yaml(site.repository_path(site.output)),
        )
    }


def gitlab_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    domain = () if not site.base_url else (f"on GitLab, Deploy → Pages: the domain of {site.base_url}",)
    return ("commit these files and _freeze/, and push", *domain)


def _commands(lines: tuple[str, ...] | list[str]) -> str:
    return "".join(f"\n    - {yaml_command(line)}" for line in lines)


NETLIFY_SETTINGS = "netlify.toml"
_NETLIFY_SETTINGS = """\
# Publishes the site on Netlify. Written by `blogsmith publish setup netlify`; change it as you like.
# Every build writes the headers and redirects into the site, by `publish:` in blogsmith.yaml.
[build]
{base}command = {command}
publish = {output}

[build.environment]
PYTHON_VERSION = {python}

# preview of a pull request, at its own URL{note}
[context.deploy-preview]
command = {preview}
"""

_NO_TRUST = f"""
# It fails without `{TRUST}`, which would run the plugins of anybody who opens a pull request."""


def netlify_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file that Netlify needs."""
    install, builds = " && ".join(install_commands(site)), build_commands(site, "URL")
    # Netlify has no variable that distinguishes pull requests from forks
    previews = [line.replace('"$URL"', '"$DEPLOY_PRIME_URL"') for line in builds if line != TRUST]
    return {
        NETLIFY_SETTINGS: _NETLIFY_SETTINGS.format(
            base=f"base = {quote_toml(site.folder)}\n" if site.folder else "",
            command=quote_toml(" && ".join((install, *builds))),
            note=_NO_TRUST if site.needs_trust else "",
            preview=quote_toml(" && ".join((install, *previews))),
            output=quote_toml(site.output),
            python=quote_toml(site.python),
        )
    }


def netlify_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    return (
        "commit these files and _freeze/, and push",
        "on Netlify, Add new project → Import an existing project: its settings are those of netlify.toml",
    )


SETTINGS = "wrangler.toml"
_SETTINGS = """\
# Publishes the site on Cloudflare. Written by `blogsmith publish setup cloudflare`; change it as you like.
# Every build writes the headers and redirects into the site, by `publish:` in blogsmith.yaml.
name = {name}
compatibility_date = {date}

[build]
command = {command}

[assets]
directory = {output}
html_handling = "auto-trailing-slash"
not_found_handling = "404-page"
"""


def cloudflare_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file that Cloudflare needs."""
    return {
        site.repository_path(SETTINGS): _SETTINGS.format(
            name=quote_toml(_worker_name(site)),
            date=quote_toml(site.date),
            command=quote_toml(" && ".join((*install_commands(site), *build_commands(site)))),
            output=quote_toml(f"./{site.output}"),
        )
    }


def cloudflare_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    root = f", root directory {site.folder}" if site.folder else ""
    return (
        "commit these files and _freeze/, and push",
        f"on Cloudflare, Compute → Workers: Create, Import a repository{root}; no build command, "
        "deploy command npx wrangler deploy",
        f"build variable PYTHON_VERSION: {site.python}",
        f"Settings → Domains & Routes: {site.host}",
    )


def _worker_name(site: HostedSite) -> str:
    """Return a valid Worker name, which becomes part of a URL: at most 54 letters, digits and hyphens."""
    wanted = site.host if site.host else site.repository.name
    return re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:54].strip("-") or "site"
