"""Sites whose pages their scripts make, each by another method; ``PAGES`` has their sizes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from typing_extensions import override

from tests.scenarios.host_web import HostWeb
from tests.scenarios.site import THAI, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.scenarios.host_web import Answered, Asked

PAGES = {
    "history": 61, "articles": 151, "mixed": 461, "tagged": 61, "scroll": 241, "virtual": 121,
    "more": 101, "buttons": 16, "hashes": 21, "hybrid": 39, "shadow": 13, "reload": 11, "age": 11,
    "loading": 6, "late": 4, "modules": 6, "posted": 6, "polling": 4, "inpage": 21,
}  # fmt: skip
"""Pages of each site that have a text of their own, its front page among them."""

SERVED = 400
"""Pages of ``mixed`` that its server makes."""

STEP = 20
"""Items that a list has more, each time that it goes on."""

_NUMBER = re.compile(r"\d+")


def text(host: str, number: object) -> str:
    """Return the text of a page."""
    return f"{THAI * 2}{words(f'{host} {number}')} {THAI}"


def shell(script: str, body: str = "<div id=root></div>", title: str = "ข่าววันนี้") -> str:
    """Return a page that a script fills."""
    return f"<!doctype html><html><head><title>{title}</title></head><body>{body}{script}"


def _file(kind: str, content: str) -> Answered:
    return 200, content, [("Content-Type", kind)]


def _script(content: str) -> Answered:
    return _file("text/javascript", content)


def _json(content: object) -> Answered:
    return _file("application/json", json.dumps(content))


def _page(html: str) -> Answered:
    return 200, html, []


def _links(numbers: Iterable[int], form: str = "<a href='/a/{}'>{}</a> ") -> str:
    return "".join(form.replace("{}", str(number)) for number in numbers)


# An app with a router: it shows the path that it was opened at.
_ROUTER = """
const root = document.getElementById('root') || document.body;
const shown = async () => {
  const told = await (await fetch('/api' + location.pathname)).json();
  root.innerHTML = `<h1>${location.pathname}</h1><p>${told.text}</p>` + told.links.map(
    link => `<a href="${link}">${link}</a> `).join('');
};
document.addEventListener('click', event => {
  const link = event.target.closest('a');
  if (link) { event.preventDefault(); history.pushState({}, '', link.href); shown(); }
});
shown();
"""

_FILLING = """
const id = location.pathname.match(/\\d+/);
fetch('/api/a/' + (id ? id[0] : 0)).then(r => r.json()).then(told => {
  document.querySelector('%s').innerHTML = `<p>${told.text}</p>`;
});
"""

_TAGS = (
    "<noscript><iframe src='https://www.tags.example/ns.html?id=GTM-1' height=0 width=0"
    " style='display:none;visibility:hidden'></iframe></noscript>"
)

_LIST = """
const list = document.getElementById('list');
let shown = 0;
const more = async () => {
  const told = await (await fetch('/api/list?from=' + shown)).json();
  for (const each of told) {
    const item = document.createElement('li');
    item.innerHTML = `<a href="/a/${each}">เรื่อง ${each}</a><p style="height:60px">${each}</p>`;
    list.append(item);
  }
  shown += told.length;
  return told.length;
};
"""


class AppWeb(HostWeb):
    """The hosts of this web."""

    @override
    def answer(self, asked: Asked) -> Answered:
        host = asked.host.partition(".")[0]
        found: Callable[[Asked], Answered] = getattr(self, host)
        return found(asked)

    def _number(self, asked: Asked) -> int:
        found = _NUMBER.search(asked.path)
        return int(found[0]) if found else 0

    def _told(self, asked: Asked, pages: int, step: int = 10) -> Answered:
        """Answer an app that asks for a page: the front page leads to the others by steps."""
        host, number = asked.host.partition(".")[0], self._number(asked)
        after = range(number + 1, min(pages, number + 1 + step))
        if number >= pages:
            return 404, "", []
        return _json({"text": text(host, number), "links": [f"/a/{n}" for n in after]})

    # Routers

    def _routed(self, asked: Asked, html: str) -> Answered:
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES[asked.host.partition(".")[0]])
        return _script(_ROUTER) if asked.path == "/app.js" else _page(html)

    def history(self, asked: Asked) -> Answered:
        """An app with routes as paths."""
        return self._routed(asked, shell("<script type=module src=/app.js></script>"))

    def articles(self, asked: Asked) -> Answered:
        """A larger one, whose state is in the page."""
        state = json.dumps({"words": "state " * 900})
        script = f"<script>window.__STATE__ = {state}</script><script src=/app.js defer></script>"
        return self._routed(asked, shell(script, "<div id=app></div><div id=root></div>"))

    def mixed(self, asked: Asked) -> Answered:
        """An app beside pages that the server makes."""
        if asked.path == "/":
            listed = _links(range(1, 60), "<a href='/s/{}'>{}</a> ")
            return _page(f"<title>t</title><p>{text('mixed', 's')}</p>{listed}<a href=/app>app</a>")
        if asked.path.startswith("/s/"):
            number = self._number(asked)
            after = range(number + 1, min(SERVED, number + 20))
            listed = _links(after, "<a href='/s/{}'>{}</a> ")
            return _page(f"<title>t</title><p>{text('mixed s', number)}</p>{listed}")
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["mixed"] - SERVED)
        html = shell("<script type=module src=/app.js></script>")
        return _script(_ROUTER) if asked.path == "/app.js" else _page(html)

    def tagged(self, asked: Asked) -> Answered:
        """One behind a tag manager."""
        return self._routed(
            asked, shell("<script src=/app.js defer></script>", f"{_TAGS}<div id=root></div>")
        )

    def inpage(self, asked: Asked) -> Answered:
        """One whose data are in the page."""
        number = self._number(asked)
        after = [f"/a/{n}" for n in range(number + 1, min(PAGES["inpage"], number + 8))]
        data = json.dumps({"text": text("inpage", number), "links": after})
        script = (
            f"<script type=application/json id=data>{data}</script><script>const told = "
            "JSON.parse(data.textContent); root.innerHTML = `<p>${told.text}</p>` + "
            "told.links.map(link => `<a href=${link}>x</a>`).join('')</script>"
        )
        return _page(shell(script))

    # Lists that go on

    def _list(self, asked: Asked, script: str, body: str) -> Answered:
        host = asked.host.partition(".")[0]
        if asked.path == "/api/list":
            start = int(parse_qs(asked.query)["from"][0]) + 1
            return _json(list(range(start, min(PAGES[host], start + STEP))))
        if asked.path.startswith("/a/"):
            return _page(f"<title>t</title><p>{text(host, self._number(asked))}</p>")
        return _page(f"<title>t</title><p>{text(host, 0)}</p>{body}<script>{script}</script>")

    def scroll(self, asked: Asked) -> Answered:
        """A list that goes on where it is scrolled to its end."""
        script = (
            f"{_LIST} new IntersectionObserver(seen => {{ if (seen.some(s => s.isIntersecting))"
            " more() }).observe(document.getElementById('end'));"
        )
        return self._list(asked, script, "<ul id=list></ul><div id=end>&nbsp;</div>")

    def virtual(self, asked: Asked) -> Answered:
        """One that keeps only what is near."""
        script = (
            f"{_LIST} let busy = false; const on = async () => {{ if (busy || innerHeight + scrollY"
            " < document.documentElement.scrollHeight - 200) return; busy = true; await more();"
            " while (list.children.length > 40) { list.firstChild.remove();"
            " list.style.paddingTop = (parseInt(list.style.paddingTop || 0) + 78) + 'px' }"
            " busy = false }; addEventListener('scroll', on); more();"
        )
        return self._list(asked, script, "<ul id=list></ul>")

    def more(self, asked: Asked) -> Answered:
        """A list that goes on by a button."""
        script = (
            f"{_LIST} const b = document.getElementById('b'); b.onclick = async () => {{"
            " if (await more() === 0) b.remove() }; more();"
        )
        return self._list(
            asked, script, "<ul id=list></ul><button id=b class=btn>โหลดเพิ่มเติม</button>"
        )

    # Ways on that are no links

    def buttons(self, asked: Asked) -> Answered:
        """Cards and buttons that lead on."""
        pages = PAGES["buttons"]
        if asked.path == "/":
            cards = _links(range(1, 6), "<div class=card data-id={}>เรื่อง {}</div>")
            plain = _links(range(6, 11), "<button onclick=\"location.href='/a/{}'\">ไป {}</button>")
            menu = _links(range(11, pages), "<span role=menuitem tabindex=0 id=m{}>เมนู {}</span>")
            script = (
                "document.querySelectorAll('.card').forEach(card => card.addEventListener('click',"
                " () => { history.pushState({}, '', '/a/' + card.dataset.id);"
                " document.body.innerHTML = 'gone' }));"
                "document.querySelectorAll('[role=menuitem]').forEach(item => item.onclick ="
                " () => setTimeout(() => location.assign('/a/' + item.id.slice(1)), 10))"
            )
            style = "<style>.card, [role=menuitem] { cursor: pointer }</style>"
            first = f"<title>t</title>{style}<div id=root></div><script>root.innerHTML = `"
            return _page(
                f"{first}<p>{text('buttons', 0)}</p>{cards}{plain}{menu}`;{script}</script>"
            )
        return _page(f"<title>t</title><p>{text('buttons', self._number(asked))}</p>")

    def hashes(self, asked: Asked) -> Answered:
        """An app with routes as fragments."""
        if asked.path == "/app.js":
            script = _ROUTER.replace("location.pathname", "(location.hash.slice(1) || '/')")
            script = script.replace("shown();\n", "shown(); addEventListener('hashchange', shown);")
            return _script(script.replace('href="${link}"', 'href="#${link}"'))
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["hashes"])
        return _page(shell("<script type=module src=/app.js></script>"))

    # Texts that come otherwise

    def hybrid(self, asked: Asked) -> Answered:
        """Its menu comes from the server, its articles by a script."""
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["hybrid"])
        if asked.path == "/app.js":
            return _script(_FILLING % "#content")
        menu = _links(range(1, PAGES["hybrid"]), "<li><a href='/a/{}'>เรื่อง {}</a>")
        html = (
            f"<title>ข่าว</title><header><nav><ul>{menu}</ul></nav></header><main id=content></main>"
            "<footer><p>© 2026</p></footer><script src=/app.js></script>"
        )
        return _page(html)

    def shadow(self, asked: Asked) -> Answered:
        """A custom element with a shadow root."""
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["shadow"])
        if asked.path == "/app.js":
            return _script(
                "customElements.define('news-app', class extends HTMLElement { async "
                "connectedCallback() { const root = this.attachShadow({mode: 'open'});"
                " const told = await (await fetch('/api' + location.pathname)).json();"
                " root.innerHTML = `<p>${told.text}</p>` + told.links.map("
                "link => `<a href=${link}>x</a>`).join('') } })"
            )
        return _page(shell("<script type=module src=/app.js></script>", "<news-app></news-app>"))

    def _opened(self, asked: Asked, host: str) -> Answered:
        number = self._number(asked)
        after = _links(range(number + 1, min(PAGES[host], number + 4)))
        return _page(f"<title>t</title><p>{text(host, number)}</p>{after}")

    def reload(self, asked: Asked) -> Answered:
        """Its script sets a cookie and loads the page again."""
        if "seen=1" in asked.cookie:
            return self._opened(asked, "reload")
        script = "<script>document.cookie = 'seen=1; path=/'; location.reload()</script>"
        return _page(shell(script, ""))

    def age(self, asked: Asked) -> Answered:
        """It asks for an age by a button."""
        number = self._number(asked)
        after = json.dumps(_links(range(number + 1, min(PAGES["age"], number + 4))))
        script = (
            "<script>const ask = () => { root.innerHTML = '<h2>คุณอายุ 18 ปีหรือไม่</h2>"
            "<button id=no>ไม่ใช่</button><button id=yes>ใช่ ฉันอายุ 18 ปี</button>';"
            "no.onclick = () => location.href = 'https://else.example/'; yes.onclick = () => {"
            " localStorage.old = 1; show() } }; const show = () => root.innerHTML = '<p>"
            f"{text('age', number)}</p>' + {after}; localStorage.old ? show() : ask()</script>"
        )
        return _page(shell(script))

    def loading(self, asked: Asked) -> Answered:
        """It says at length that it loads, and takes its time."""
        number = self._number(asked)
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["loading"])
        says = "กำลังโหลดข้อมูล โปรดรอสักครู่ " * 10
        script = (
            "<script>setTimeout(() => fetch('/api' + location.pathname).then(r => r.json()).then("
            "told => { root.innerHTML = `<p>${told.text}</p>` + told.links.map(link =>"
            " `<a href=${link}>x</a>`).join('') }), 4000)</script>"
        )
        return _page(
            shell(script, f"<div id=root><div class=loading aria-busy=true>{says}</div></div>")
            + f"<!-- {number} -->"
        )

    def late(self, asked: Asked) -> Answered:
        """A timer writes it, after three to six seconds."""
        number = self._number(asked)
        after = json.dumps(_links(range(number + 1, min(PAGES["late"], number + 4))))
        script = (
            f"<script>setTimeout(() => root.innerHTML = '<p>{text('late', number)}</p>' + {after},"
            f" {3000 + 900 * number})</script>"
        )
        return _page(shell(script))

    def modules(self, asked: Asked) -> Answered:
        """An app of 71 modules."""
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["modules"])
        if asked.path == "/app.js":
            return _script(f"import '/m1.js';{_ROUTER}")
        if asked.path.startswith("/m"):
            number = self._number(asked)
            return _script(f"import '/m{number + 1}.js'" if number < 70 else "window.m = 70")
        return _page(shell("<script type=module src=/app.js></script>"))

    def posted(self, asked: Asked) -> Answered:
        """It asks by POST for what it shows."""
        if asked.path == "/graphql":
            if asked.method != "POST":
                return 405, "", []
            number = json.loads(asked.body)["variables"]["id"]
            after = [f"/a/{n}" for n in range(number + 1, min(PAGES["posted"], number + 4))]
            return _json({"data": {"text": text("posted", number), "links": after}})
        script = (
            "<script>const id = Number((location.pathname.match(/\\d+/) || [0])[0]);"
            "fetch('/graphql', {method: 'POST', headers: {'content-type': 'application/json'},"
            " body: JSON.stringify({query: 'query($id: Int) { page(id: $id) { text links } }',"
            " variables: {id}})}).then(r => r.json()).then(({data}) => { root.innerHTML ="
            " `<p>${data.text}</p>` + data.links.map(link => `<a href=${link}>x</a>`).join('')"
            " })</script>"
        )
        return _page(shell(script))

    def polling(self, asked: Asked) -> Answered:
        """It asks again and again whether something is new."""
        if asked.path == "/api/news":
            return _json([])
        if asked.path.startswith("/api/"):
            return self._told(asked, PAGES["polling"])
        script = "setInterval(() => fetch('/api/news?' + Math.random()), 300);"
        return _page(shell(f"<script>{script}{_ROUTER}</script>"))
