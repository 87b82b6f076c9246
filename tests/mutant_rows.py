"""Faults that `make mutants` tries, each with the tests that must notice it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault in one place."""

    name: str
    file: str
    """Path below the package."""
    old: str
    """A string that occurs exactly once in the file."""
    new: str
    tests: tuple[str, ...]
    """Files or tests below `tests/`."""


GUARDS = (
    Mutant(
        "links lead out of the site",
        "base/storage/links.py",
        "if not target.is_relative_to(self.root):",
        "if not target.is_absolute():",
        (
            "security/test_links.py::test_row_28_links_that_are_not_followed",
            "security/test_links.py::test_row_28_nothing_from_outside_gets_into_the_site",
        ),
    ),
    Mutant(
        "links in the way of our folders are followed",
        "base/storage/folder.py",
        '_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))',
        '_PLAIN = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY"))',
        (
            "security/test_own_folders.py::test_row_28_no_command_leaves_the_site_through_a_folder",
            "security/test_own_folders.py::test_row_29_no_output_folder_lies_behind_a_link",
        ),
    ),
    Mutant(
        "templates come from outside the theme",
        "render/templates/files.py",
        "if (is_link or not is_plain) and not _is_inside(path, folder):",
        "if not is_plain and not _is_inside(path, folder):",
        (
            "test_theme.py::TestLookup::test_symbolic_link_out_of_the_theme",
            "security/test_templates.py::test_row_24_templates_that_are_links_out_of_the_site_are_not_read",
        ),
    ),
    Mutant(
        "text is not escaped",
        "render/prose.py",
        'text = text.replace("<", "&lt;")',
        'text = text.replace("<", "<")',
        ("test_cases.py",),
    ),
    Mutant(
        "formulas link to scripts",
        "tex/mathml/allowlist.py",
        "return _ADDRESS.fullmatch(url) is not None",
        'return _ADDRESS.fullmatch(url) is not None or url.startswith("javascript:")',
        ("test_tex_door.py",),
    ),
    Mutant(
        "pages post forms anywhere",
        "render/policy/policy.py",
        '_ALWAYS = frozenset(("default-src", "form-action", "base-uri"))',
        '_ALWAYS = frozenset(("default-src", "base-uri"))',
        ("test_page_policy.py",),
    ),
    Mutant(
        "a changed plugin stays trusted",
        "project/trust/consent.py",
        'return Consent("changed" if changes else "given", code, files, settings, changes)',
        'return Consent("given", code, files, settings, changes)',
        ("test_trust.py::test_changed_code_asks_again",),
    ),
    Mutant(
        "a cache that others may write is read",
        "base/storage/own_folder.py",
        "if status.st_mode & _OTHERS_WRITE:",
        "if status.st_mode & _OTHERS_WRITE == _OTHERS_WRITE:",
        ("security/test_kept_builds.py::test_row_44_what_others_may_write_is_not_read",),
    ),
    Mutant(
        "the cache of another site is read",
        "base/storage/cache_file.py",
        "if root != _text(real):",
        "if not root:",
        ("security/test_kept_builds.py::test_row_44_the_cache_of_another_folder_is_not_read",),
    ),
    Mutant(
        "rows that are damaged are believed",
        "base/storage/site_cache.py",
        "or crc32(data) != check_sum:",
        "or check_sum is None:",
        ("test_site_cache.py::test_a_row_that_is_damaged",),
    ),
    Mutant(
        "the preview answers to any name",
        "preview/http/guard.py",
        "if host.lower() not in hosts:",
        "if host.lower() not in hosts and not host:",
        ("test_preview_server_guard.py",),
    ),
    Mutant(
        "archives place files beside the site",
        "freeze/archive.py",
        'part == ".." or ',
        "",
        ("security/test_archives.py::test_row_36_an_archive_with_anything_else_in_it_is_refused_whole",),
    ),
    Mutant(
        "terminals obey what a site says",
        "base/diagnostics/format.py",
        "return acts or not is_visible(text, index)",
        "return acts and not is_visible(text, index)",
        ("security/test_characters.py",),
    ),
    Mutant(
        "the lock empties a file with a second name",
        "base/storage/folder.py",
        "if os.fstat(descriptor).st_nlink > 1:",
        "if os.fstat(descriptor).st_nlink > 9:",
        ("security/test_own_folders.py::test_row_28_no_lock_empties_a_file_with_two_names",),
    ),
    Mutant(
        "the preview opens links that are swapped in",
        "base/storage/folder.py",
        "        return folder.open_file(name)",
        '        return open(path, "rb")',
        ("security/test_preview_requests.py::test_row_02_links_put_in_the_way_are_not_followed",),
    ),
    Mutant(
        "a record of trust of another user is read",
        "base/storage/own_folder.py",
        "if status.st_uid != os.geteuid():",
        "if status.st_uid < 0:",
        ("test_trust.py::test_a_record_of_another_user_is_not_read",),
    ),
    Mutant(
        "others may read what a user keeps",
        "base/storage/own_folder.py",
        "FILE_MODE = 0o600",
        "FILE_MODE = 0o644",
        ("test_trust.py::test_whatever_the_umask_nobody_else_reads_or_writes_what_a_user_keeps",),
    ),
    Mutant(
        "another folder at the same path is trusted",
        "project/trust/consent.py",
        'if not isinstance(folder, dict) or read_identity(root, folder.get("mark")) != folder:',
        "if not isinstance(folder, dict):",
        ("test_trust.py::test_another_folder_at_the_same_path_is_not_trusted",),
    ),
    Mutant(
        "consent does not cover settings",
        "project/trust/consent.py",
        'for part, now in (("files", files), ("settings", settings)):',
        'for part, now in (("files", files),):',
        ("test_trust.py::test_changed_settings_of_execution_ask_again",),
    ),
    Mutant(
        "plugins import uncovered code of the site",
        "hooks/plugin_imports.py",
        "        if source is None:\n            raise self._rejection_error(inside[0])",
        "        if source is None:\n            return found",
        ("test_plugin_imports.py::test_code_that_is_not_covered_is_refused_while_loading",),
    ),
    Mutant(
        "an edited record is intact",
        "freeze/seals.py",
        "return whole.hexdigest().encode() == head[1]",
        "return True",
        ("test_seals.py::TestSeals::test_every_random_edit_is_found",),
    ),
    Mutant(
        "the sandbox is not switched on",
        "execute/worker/landlock.py",
        "        kernel.call(_RESTRICT_SELF, ruleset, 0)\n",
        "",
        ("test_worker_landlock.py::test_writing_ends_at_the_folder",),
    ),
    Mutant(
        "the sandbox allows TCP",
        "execute/worker/landlock.py",
        "tcp = _TCP if version >= _TCP_VERSION else 0",
        "tcp = 0",
        ("test_worker_landlock.py::test_tcp_is_refused",),
    ),
    Mutant(
        "the sandbox allows Unix sockets",
        "execute/worker/seccomp.py",
        "(_EQUAL, 5, 4 if has_network else 5, _AF_UNIX),",
        "(_EQUAL, 4, 4 if has_network else 5, _AF_UNIX),",
        ("test_sandbox_table.py",),
    ),
    Mutant(
        "cells read the memory of the builder",
        "execute/session/reaper.py",
        "ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)",
        "ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)",
        ("test_sandbox_table.py",),
    ),
    Mutant(
        "pages of other sites read the preview",
        "preview/http/guard.py",
        "if origin is not None and origin.lower() != f\"http://{request.headers['host']}\".lower():",
        'if origin == "null":',
        ("test_preview_server_guard.py",),
    ),
    Mutant(
        "images of other sites load from the preview",
        "preview/http/guard.py",
        "if not is_ours and (path.startswith(PREFIX) or not is_link):",
        "if not is_ours and path.startswith(PREFIX):",
        ("test_preview_server_guard.py",),
    ),
    Mutant(
        "an action needs no token",
        "preview/http/guard.py",
        "if not hmac.compare_digest(sent, token.encode()):",
        "if not sent and token:",
        ("test_preview_server_guard.py",),
    ),
    Mutant(
        "paths of the preview climb",
        "preview/http/guard.py",
        'if any(segment in (".", "..") for segment in decoded.split("/")):',
        'if ".." in decoded.split("/")[:1]:',
        ("test_preview_server_guard.py",),
    ),
    Mutant(
        "templates do not escape",
        "render/templates/environment.py",
        '"autoescape": True,',
        '"autoescape": False,',
        (
            "security/test_templates.py::test_row_23_expressions_in_data_are_words",
            "security/test_fields.py::test_row_15_markup_in_every_field_at_once_is_text",
        ),
    ),
    Mutant(
        "untrusted authors write HTML",
        "syntax/parser.py",
        '{"html": not options.untrusted, "maxNesting": MAX_NESTING}',
        '{"html": True, "maxNesting": MAX_NESTING}',
        ("security/test_untrusted_markup.py",),
    ),
    Mutant(
        "untrusted pages may load what they name",
        "render/policy/policy.py",
        "allowed = _builder_sources(found, config) if config.markup.untrusted else found",
        "allowed = found",
        ("test_page_policy.py",),
    ),
    Mutant(
        "untrusted results show HTML",
        "render/outputs/outputs.py",
        "if isinstance(html, str) and is_trusted:",
        "if isinstance(html, str):",
        ("test_outputs.py",),
    ),
    Mutant(
        "results turn the text around them",
        "render/outputs/ansi.py",
        "    if not _DIRECTION.search(text):\n        return text\n",
        "    return text\n",
        ("security/test_results.py::test_row_22_direction_controls_do_not_change_the_text_around_a_value",),
    ),
    Mutant(
        "drawings keep browsers busy",
        "render/svg/use_budget.py",
        "_count_drawn(_read_parts(data)) > MAX_ELEMENTS",
        "_count_drawn(_read_parts(data)) < 0",
        ("test_images.py::test_bad_files",),
    ),
    Mutant(
        "settings are longer than the limit",
        "base/schema/yaml_loader.py",
        'if len(text.encode("utf-8", "replace")) > MAX_BYTES:',
        "if len(text) < 0:",
        ("test_strict_yaml.py",),
    ),
    Mutant(
        "templates work without end",
        "render/templates/budget.py",
        "        if self.steps < 0:\n",
        "        if self.steps < -(10**12):\n",
        ("security/test_template_limits.py::test_endless_work_is_told_with_template_and_line",),
    ),
    Mutant(
        "images of any size are decoded",
        "write/photos/encoder.py",
        "if image.width * image.height > MOST_PIXELS:",
        "if not image.width:",
        ("test_pictures.py::test_a_picture_of_very_many_pixels_is_not_decoded",),
    ),
    Mutant(
        "imports read outside of their source",
        "importers/source_files.py",
        "        if not _is_below(real, self.resolved_root):\n            return False\n",
        "",
        ("security/test_import_sources.py::test_row_45_links_of_a_source",),
    ),
    Mutant(
        "private hosts are public",
        "network/connection.py",
        "return all(one.is_global and not one.is_multicast and not one.is_reserved for one in every)",
        "return bool(every)",
        ("test_remote_images.py::test_addresses_of_private_networks",),
    ),
    Mutant(
        "expressions of workflows are evaluated",
        "publish/quoting.py",
        'if "${{" in text:',
        'if "${{{" in text:',
        ("test_publish_setup.py::test_nothing_is_an_expression_of_github_but_what_we_write",),
    ),
    Mutant(
        "links lead to scripts",
        "site/index.py",
        'if written.startswith("//") or ":" in written.split("/", 1)[0].split("#", 1)[0]:',
        'if written.startswith("//"):',
        ("security/test_addresses.py::test_row_17_a_site_with_such_an_address_is_not_built",),
    ),
    Mutant(
        "other machines run actions of the preview",
        "preview/http/routes.py",
        "if not is_near:",
        "if not is_near and not body:",
        ("test_preview_server.py::test_actions_of_other_machines_are_refused",),
    ),
)
"""Checks that protect authors and readers, each missing."""

MUTANTS = (
    *GUARDS,
    Mutant(
        "a thin space in scripts",
        "tex/mathml/atoms.py",
        "kind == ORD or kind >= INTEGRAL or (kind == INNER and not in_script)",
        "kind == ORD or kind >= INTEGRAL or kind == INNER",
        ("test_tex_spacing.py",),
    ),
    Mutant(
        "a binary sign behind an opening one",
        "tex/mathml/atoms.py",
        "if previous == OPEN or (previous >= NONE and previous != INNER):",
        "if previous >= NONE and previous != INNER:",
        ("test_tex_spacing.py",),
    ),
    Mutant(
        "no deadline for a lexer",
        "render/lexing.py",
        "with alarm(deadline_s, LexTimeout, is_cpu_time=True):",
        "with alarm(10 * deadline_s, LexTimeout, is_cpu_time=True):",
        ("test_code.py", "test_process_builds.py::TestBuilds::test_code_that_takes_too_long"),
    ),
    Mutant(
        "an option that changes results is no part of the key",
        "freeze/keys.py",
        "return _digest(before, code, *(part for item in options.items() for part in item))",
        "return _digest(before, code)",
        ("test_freeze_keys.py",),
    ),
    Mutant(
        "the cells above are no part of the key",
        "freeze/keys.py",
        "return _digest(before, code, *(part for item in options.items() for part in item))",
        "return _digest(code, *(part for item in options.items() for part in item))",
        ("test_freeze_keys.py", "test_staleness.py"),
    ),
    Mutant(
        "files that code reads do not count",
        "freeze/staleness.py",
        "        yield from self.changes.file_reasons(match.index)\n",
        "",
        ("test_staleness.py", "test_performing.py"),
    ),
    Mutant(
        "pages keep what others said",
        "rows/trace.py",
        "return all(\n        lookup.is_valid(tools)\n",
        "return all(\n        True\n",
        ("test_preview_line.py", "test_page_edits.py"),
    ),
    Mutant(
        "a build does not look at what others did to its output",
        "build/last_build.py",
        "not record.extent.writes or record.outputs == _outputs_digest(record.extent.output)",
        "not record.extent.writes or Path(record.extent.output).exists()",
        ("test_unchanged_builds.py",),
    ),
    Mutant(
        "the caret stands one to the right",
        "base/diagnostics/format.py",
        'where = f"{diagnostic.path}:{place.line}:{place.column}" if place else diagnostic.path',
        'where = f"{diagnostic.path}:{place.line}:{place.column + 1}" if place else diagnostic.path',
        ("test_broken.py",),
    ),
    Mutant(
        "feeds are longer than the settings say",
        "site/feeds.py",
        "return [post for post in posts if post.date][:most]",
        "return [post for post in posts if post.date][: most + 1]",
        ("test_feeds.py",),
    ),
    Mutant(
        "pictures lose their ratio",
        "render/dimensions.py",
        "Dimensions(replace(info, width_px=across, height_px=down), style)",
        "Dimensions(replace(info, width_px=across), style)",
        ("test_images.py", "test_cases.py"),
    ),
    Mutant(
        "two write at once",
        "base/storage/lock.py",
        'raise LockBusyError(holder.decode() if holder.isdigit() else "")',
        "break",
        ("test_output.py",),
    ),
    Mutant(
        "links of one language lead to another",
        "site/index.py",
        'return path if own in group.values() else group.get(self.editions.get(own, ""), path)',
        "return path",
        ("test_editions.py",),
    ),
)
