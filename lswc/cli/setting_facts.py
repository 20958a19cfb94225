"""Facts of settings: name, default and meaning of each, as the settings file writes them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill

from lswc import settings
from lswc.errors import ConfigError


@dataclass
class SettingsSection:
    """A part of the settings file: its heading, and (name, default, meaning) of each setting."""

    title: str
    settings: list[tuple[str, str, str]] = field(default_factory=list)


def sections(source: str) -> list[SettingsSection]:
    """Return the sections of a settings file.

    A comment with a blank line below it is a section's title; one with a setting below it is
    the setting's meaning.
    """
    assigned = {node.lineno: node for node in ast.parse(source).body if _name(node)}
    found: list[SettingsSection] = []
    comment: list[str] = []
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            comment.append(line.removeprefix("#").strip())
            continue
        node = assigned.get(number)
        if node is not None:
            default = _default("\n".join(lines[number - 1 : node.end_lineno]))
            found[-1].settings.append((_name(node), default, " ".join(comment)))
        elif not line and comment:
            found.append(SettingsSection(" ".join(comment)))
        comment = []
    return found


def explained(name: str) -> str:
    """Return the meaning of a setting, or the settings whose names have that part.

    Raises ConfigError.
    """
    found = sections(Path(settings.__file__).read_text(encoding="utf-8"))
    rows = {row[0]: row for section in found for row in section.settings}
    wanted = name.upper()
    if wanted in rows:
        _, default, meaning = rows[wanted]
        return f"{wanted}, default: {default.strip('`')}\n\n{fill(meaning, 78)}"
    lines = [
        f"  {row[0]:31}{row[1].strip('`')[:47]}" if wanted in row[0] else ""
        for section in found
        for row in section.settings
    ]
    if not any(lines):
        near = get_close_matches(wanted, rows, 1)
        hint = f"do you mean {near[0]}?" if near else "`lswc settings` names them"
        raise ConfigError(f"{name} isn't a setting that lswc has or changes; {hint}")
    return "\n".join(filter(None, lines))


def _name(node: ast.stmt) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


def _default(assignment: str) -> str:
    value = getattr(ast.parse(assignment).body[0], "value", None)
    if isinstance(value, ast.Dict):
        return "as in the file"
    if isinstance(value, ast.JoinedStr):  # the version, which no page repeats
        return "`" + "".join(_part(part) for part in value.values) + "`"
    text = ast.get_source_segment(assignment, value) if value else ""
    return {'""': "empty", "[]": "none", "True": "on", "False": "off"}.get(text or "", f"`{text}`")


def _part(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "<version>"
