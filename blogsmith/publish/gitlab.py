"""GitLab Pages: a pipeline of GitLab CI. Source: the references of `.gitlab-ci.yml` and of GitLab Pages."""

from __future__ import annotations

from collections.abc import Mapping

from .dependency_lock import LOCK
from .hosted_site import HostedSite, build_commands, install_commands, list_removal
from .quoting import quote_shell, quote_yaml, yaml_command

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
    """Return the files by path in the repository."""
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
    """Return the remaining steps for the user, one per line."""
    domain = () if not site.base_url else (f"on GitLab, Deploy → Pages: the domain of {site.base_url}",)
    return ("commit these files and _freeze/, and push", *domain)


def _commands(lines: tuple[str, ...] | list[str]) -> str:
    return "".join(f"\n    - {yaml_command(line)}" for line in lines)
