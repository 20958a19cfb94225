"""New crawl: a form that writes a crawl file, a dry run of it, and its deletion."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from scrapy.settings import Settings

from lswc.crawl import checked_settings, crawl_file, profiles
from lswc.crawl.crawl_file import KEYS
from lswc.crawl.seed_files import list_of, seeds_in
from lswc.errors import ConfigError
from lswc.guest.control import InFolder, change, read
from lswc.guest.control.toml_text import value_of
from lswc.language import registry
from lswc.plurals import numbered
from lswc.safety.url_patterns import patterns_of
from lswc.urls import parse
from lswc.workbench.instructions import BY
from lswc.workbench.plans import Plan, plan, planned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lswc.workbench.crawls import Crawls

CHARACTERS_OF_A_LINE = 1_000
LINES_OF_A_LIST = 100_000
SECONDS_OF_AN_HOUR = 3_600
OFTEN_CHOSEN = ("adaptive", "corpus", "archive", "continuous")
"""Profiles that stand first; the others are the papers'."""


class Field(NamedTuple):
    """A field of the form: the setting, or the spider's argument, that it gives.

    ``read`` returns the value of what was typed, and raises ConfigError; ``shown`` is its inverse.
    """

    setting: str
    read: Callable[[str], Any]
    shown: Callable[[Any], str] = str


def _line(text: str) -> str:
    if len(text) > CHARACTERS_OF_A_LINE or not text.isprintable():
        raise ConfigError(f"write one line of at most {CHARACTERS_OF_A_LINE:,} characters")
    return text


def _language(text: str) -> str:
    codes = {registry.language(code).name.lower(): code for code in registry.known()}
    given = [one.strip() for one in _line(text).split(",") if one.strip()]
    return registry.wanted(",".join(codes.get(one.lower(), one) for one in given)).tag


def _contact(text: str) -> str:
    try:
        return checked_settings.contact(Settings({"LSWC_CONTACT": text}))
    except ConfigError as error:
        raise ConfigError(
            "write the address of a page about the crawl, https://…, or an e-mail address"
        ) from error


def _profile(text: str) -> str:
    if text not in strategies():
        raise ConfigError("choose one of those that are named here")
    return text


def _one_of(allowed: Iterable[str], text: str) -> str:
    if text not in allowed:
        raise ConfigError(f"choose one of {', '.join(allowed)}")
    return text


def _number(text: str) -> float:
    try:
        value = float(_line(text))
    except ValueError:
        value = -1
    if not 0 <= value < inf:
        raise ConfigError("write a number, such as 10 or 2.5")
    return int(value) if value.is_integer() else value


def _whole(text: str) -> int:
    value = _number(text)
    if not isinstance(value, int) or not value:
        raise ConfigError("write a whole number of at least 1")
    return value


def _hours(text: str) -> int:
    seconds: int = _positive(text, lambda hours: int(hours * SECONDS_OF_AN_HOUR))
    return seconds


def _days(text: str) -> float:
    visits: float = _positive(text, lambda days: float(f"{1 / days:.6g}"))
    if visits > checked_settings.MOST_VISITS:
        raise ConfigError(f"write at least {1 / checked_settings.MOST_VISITS:.2} days: an hour")
    return visits


def _positive(text: str, made: Callable[[float], Any]) -> Any:
    value = _number(text)
    if not value or not made(value):
        raise ConfigError("write a number above 0")
    return made(value)


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > LINES_OF_A_LIST:
        raise ConfigError(f"write at most {LINES_OF_A_LIST:,} lines")
    return list(map(_line, lines))


def _domains(text: str) -> list[str]:
    hosts = []
    for line in _lines(text):
        url = parse(f"https://{line}")
        if url is None or url.href != f"https://{url.hostname}/":
            raise ConfigError(f"{line[:100]!r} is no domain: write one like example.co.th")
        hosts.append(url.hostname)
    return hosts


def _patterns(text: str) -> list[str]:
    lines = _lines(text)
    patterns_of(lines)
    return lines


def _per_unit(unit: float, value: float) -> str:
    return f"{value / unit:.6g}"


_shown_lines = "\n".join

FIELDS = {
    "language": Field("lang", _language),
    "contact": Field("LSWC_CONTACT", _contact),
    "profile": Field("LSWC_PROFILE", _profile),
    "pages": Field("CLOSESPIDER_ITEMCOUNT", _whole),
    "seconds": Field("CLOSESPIDER_TIMEOUT", _hours, partial(_per_unit, SECONDS_OF_AN_HOUR)),
    "depth": Field("DEPTH_LIMIT", _whole),
    "domains": Field("LSWC_ALLOWED_DOMAINS", _domains, _shown_lines),
    "include": Field("LSWC_INCLUDE", _patterns, _shown_lines),
    "exclude": Field("LSWC_EXCLUDE", _patterns, _shown_lines),
    "archive": Field("LSWC_ARCHIVE", partial(_one_of, checked_settings.ARCHIVED)),
    "operator": Field("LSWC_OPERATOR", _line),
    "description": Field("LSWC_DESCRIPTION", _line),
    "web": Field("LSWC_WEB", partial(_one_of, ("demo",))),
    "delay": Field("DOWNLOAD_DELAY", _number),
    "requests": Field("CONCURRENT_REQUESTS", _whole),
    "revisit": Field("LSWC_REVISIT", _days, lambda visits: f"{1 / visits:.6g}"),
}
"""All that the form can give besides name, seeds, an earlier crawl and hours: nothing that runs."""

AT_FIRST = {"profile": "adaptive", "archive": "relevant", "zone": "UTC"}


class Draft(NamedTuple):
    """What was typed: values by the names of fields, and what is wrong, by those, too.

    ``seeds`` is a list's text, "" for the shipped one; ``hours`` those in which the crawl fetches.
    """

    values: dict[str, Any]
    seeds: str
    hours: str
    wrong: dict[str, str]


def strategies() -> dict[str, str]:
    """Return the profiles that have a strategy, with what each does in a sentence."""
    modules = {name: profiles.module(name) for name in profiles.names()}
    known = {
        name: " ".join((module.__doc__ or "").split("\n\n")[0].split())
        for name, module in modules.items()
        if hasattr(module, "LSWC_STRATEGY")
    }
    return {name: known[name] for name in dict.fromkeys((*OFTEN_CHOSEN, *known))}


def draft_of(body: Mapping[str, Any], crawls: Crawls) -> Draft:
    """Return what a form says; nothing else of a request's body counts."""
    draft = Draft({}, "", "", {})
    texts = {name: value.strip() for name, value in body.items() if isinstance(value, str)}
    for name, field in FIELDS.items():
        if texts.get(name):
            _take(draft, name, partial(field.read, texts[name]))
    if "language" not in draft.values:
        draft.wrong.setdefault("language", "say which language, such as Thai, or Thai, Lao")
    if "contact" not in draft.values and draft.values.get("web") is None:
        draft.wrong.setdefault("contact", "say who crawls: servers' owners must find somebody")
    seeds, hours = texts.get("seeds", ""), _hours_of_day(texts)
    _take(draft, "seeds", partial(_seeds, seeds, draft.values))
    if hours:
        _take(draft, "from", partial(_checked_hours, hours))
    if texts.get("recrawl"):
        _take(draft, "recrawl", partial(_earlier, texts["recrawl"], crawls))
    return draft._replace(seeds=f"{seeds}\n" if seeds else "", hours=hours)


def _take(draft: Draft, name: str, read_it: Callable[[], Any]) -> None:
    try:
        draft.values[name] = read_it()
    except ConfigError as error:
        draft.wrong[name] = str(error)


def _seeds(text: str, values: Mapping[str, Any]) -> str:
    """Return "" for seeds that can be used. Raises ConfigError."""
    if text:
        seeds_in("seeds", text)
        text.encode()
    elif "language" in values and values.get("web") is None:
        for language in registry.wanted(values["language"]).languages:
            if list_of(language) is None:
                raise ConfigError(f"lswc has no list for {language.name}: write addresses here")
    return ""


def _hours_of_day(texts: Mapping[str, str]) -> str:
    begin, end, zone = (texts.get(name, "") for name in ("from", "to", "zone"))
    return f"{begin}-{end} {zone or 'UTC'}" if begin or end else ""


def _checked_hours(hours: str) -> str:
    try:
        value_of("hours", hours, place="")
    except ConfigError as error:
        like = "such as 22:00, 06:00 and Asia/Bangkok"
        raise ConfigError(f"write both hours and the name of a time zone, {like}") from error
    return hours


def _earlier(name: str, crawls: Crawls) -> list[str]:
    return [str(crawls.folder.resolve() / crawls.path(name).name)]


def save(crawls: Crawls, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the crawl file of a form; or return its mistakes, by field. Raises LswcError."""
    draft, name = draft_of(body, crawls), str(body.get("name", "")).strip()
    before = str(body.get("version", ""))
    try:
        chosen = planned(crawls.folder, name) if before else plan(crawls.folder, name)
    except ConfigError as error:
        draft.wrong["name"] = str(error) if name else "give it a name"
    if draft.wrong:
        number = numbered(len(draft.wrong), "field")
        return {"mistakes": draft.wrong, "error": f"{number} to change; nothing is written yet"}
    chosen.write(_text(chosen, draft), draft.seeds, before)
    _give_hours(chosen, draft.hours)
    return {"goto": _address(name)}


def _text(chosen: Plan, draft: Draft) -> str:
    values, settings = {"folder": str(chosen.folder)}, dict[str, Any]()
    if draft.seeds:
        values["seeds"] = str(chosen.seeds)
    for name, field in FIELDS.items():
        if name in draft.values and name in KEYS:
            values[name] = draft.values[name]
        elif name in draft.values:
            settings[field.setting] = draft.values[name]
    if "recrawl" in draft.values:
        settings["LSWC_RECRAWL"] = draft.values["recrawl"]
    return crawl_file.new(str(chosen.file), values, settings)


def _give_hours(chosen: Plan, hours: str) -> None:
    """Give the crawl the hours in which it fetches, or take them back."""
    where = InFolder(chosen.folder)
    if not hours and (where.version() is None or read(where).hours is None):
        return
    chosen.folder.mkdir(exist_ok=True)
    change(where, "hours", hours or None, by=BY)


def form(crawls: Crawls, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the fields of a new crawl, or those of one that hasn't begun."""
    name, fields = given.get("crawl", ""), dict[str, str]()
    version = ""
    if name:
        fields, version = fields_of(planned(crawls.folder, name), crawls)
    known = {code: registry.language(code).name for code in registry.known()}
    names = ("name", "seeds", "from", "to", "zone", "recrawl", *FIELDS)
    shown = dict.fromkeys(names, "") | AT_FIRST | fields
    return {
        "fields": shown, "version": version, "profiles": strategies(), "often": OFTEN_CHOSEN,
        "archived": checked_settings.ARCHIVED, "languages": known, "crawls": crawls.names(),
    }  # fmt: skip


def fields_of(chosen: Plan, crawls: Crawls) -> tuple[dict[str, str], str]:
    """Return what the form shows of a plan, and the plan's version.

    Raises ConfigError for a file that says what the form can't.
    """
    version, file = chosen.version, crawl_file.read(chosen.file)
    given = {**file.arguments, **file.settings}
    fields = {"name": chosen.name, "zone": "UTC"}
    if given.pop("seeds", "") == str(chosen.seeds) and chosen.seeds.is_file():
        fields["seeds"] = chosen.seeds.read_text("utf-8")
    elif "seeds" in file.arguments:
        given["seeds"] = file.arguments["seeds"]
    if given.get("LSWC_CRAWL") == str(chosen.folder):
        del given["LSWC_CRAWL"]
    earlier = {(str(chosen.file.parent / name),): name for name in crawls.names()}
    if (known := earlier.get(tuple(given.get("LSWC_RECRAWL", ())))) is not None:
        fields["recrawl"] = known
        del given["LSWC_RECRAWL"]
    for name, field in FIELDS.items():
        if field.setting in given and _is_kept(field, given[field.setting]):
            fields[name] = field.shown(given.pop(field.setting))
    if given:
        others = ", ".join(map(file.key_of, given))
        raise ConfigError(f"{chosen.file} says what this form doesn't know: {others}: edit it")
    hours = read(InFolder(chosen.folder)).hours
    if hours is not None:
        times = {"from": f"{hours.begin:%H:%M}", "to": f"{hours.end:%H:%M}", "zone": hours.zone}
        fields |= times
    return fields, version


def _is_kept(field: Field, value: Any) -> bool:
    """Tell whether the form gives a value as it is."""
    try:
        return bool(field.read(field.shown(value)) == value)
    except (ConfigError, TypeError, ValueError):
        return False


def shown(crawls: Crawls, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what is shown of a crawl that hasn't begun."""
    chosen = planned(crawls.folder, given.get("crawl", ""))
    text, hours = chosen.file.read_text("utf-8", "replace"), read(InFolder(chosen.folder)).hours
    version, printed = crawls.dry_runs.get(chosen.name, ("", ""))
    return {
        "title": chosen.name, "plan": chosen, "text": text, "hours": str(hours or ""),
        "dry_run": printed if version == chosen.version else "",
        "starts": crawls.is_starting(chosen.name),
    }  # fmt: skip


def dry_run(crawls: Crawls, body: Mapping[str, Any]) -> None:
    """Run a crawl dry, and keep what that prints until its plan changes. Raises LswcError."""
    chosen = planned(crawls.folder, str(body.get("crawl", "")))
    version = chosen.version
    crawls.dry_runs[chosen.name] = version, chosen.dry_run()


def delete(crawls: Crawls, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Delete a crawl that hasn't begun. Raises LswcError."""
    chosen = planned(crawls.folder, str(body.get("crawl", "")))
    if crawls.is_starting(chosen.name):
        raise ConfigError(f"{chosen.name} is starting: stop it first")
    chosen.delete()
    return {"goto": "./"}


def _address(name: str) -> str:
    return f"plan?crawl={quote(name)}"


def start(crawls: Crawls, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Start a crawl, or go on with one; the list of crawls shows it. Raises LswcError."""
    crawls.start(str(body.get("name", "")))
    return {"goto": "./"}
