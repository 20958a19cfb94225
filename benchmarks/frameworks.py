"""Crawls small apps of real frameworks, each by itself: how many of their twelve pages were read.

Run by hand, after this in some folder:

npm install vue@3 vue-router@4 react@18 react-dom@18 @remix-run/router@1.15.0 react-router@6.22.0
    react-router-dom@6.22.0 angular@1.8 angular-route@1.8 docsify@4 vue2@npm:vue@2
    vue-router3@npm:vue-router@3

python -m benchmarks.frameworks FOLDER/node_modules [APP ...]

The frameworks are as their makers build them; the apps lead on by links, buttons or cards.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from typing_extensions import override

from lswc.corpus.stored_pages import StoredPages
from tests.scenarios.app_web import shell
from tests.scenarios.host_web import HostWeb
from tests.scenarios.site import THAI, Site, words

if TYPE_CHECKING:
    from tests.scenarios.host_web import Answered, Asked

PAGES = 12
TEXTS = [f"{THAI * 2}{words(f'framework {number}')} {THAI}" for number in range(PAGES)]
_JS, _MD = ("Content-Type", "text/javascript"), ("Content-Type", "text/markdown")
_REACT = (
    "react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js",
    "@remix-run/router/dist/router.umd.min.js",
    "react-router/dist/umd/react-router.production.min.js",
    "react-router-dom/dist/umd/react-router-dom.production.min.js",
)  # fmt: skip
_VUE = "vue/dist/vue.global.prod.js", "vue-router/dist/vue-router.global.prod.js"
_VUE2 = "vue2/dist/vue.min.js", "vue-router3/dist/vue-router.min.js"
_ANGULAR = "angular/angular.min.js", "angular-route/angular-route.min.js"

_BUTTON = "h('button', {key: n, onClick: () => go('/a/' + n)}, 'เรื่อง ' + n)"
_CARD = (
    "h('div', {key: n, style: {cursor: 'pointer'}, onClick: () => go('/a/' + n)},"
    " h('b', null, 'เรื่อง ' + n))"
)
_LINK = "h(Link, {key: n, to: '/a/' + n}, 'เรื่อง ' + n)"
_REACT_APP = """
const {useNavigate, useParams, Routes, Route, Link, createBrowserRouter, RouterProvider}
  = ReactRouterDOM, h = React.createElement;
const Home = () => { const go = useNavigate();
  return h('div', null, h('p', null, TEXTS[0]), NUMBERS.map(n => %s)) };
const Article = () => { const {n} = useParams(), go = useNavigate();
  return h('article', null, h('p', null, TEXTS[n]),
    h('button', {onClick: () => go(-1)}, 'กลับ')) };
const shown = '%s' === 'data'
  ? h(RouterProvider, {router: createBrowserRouter([{path: '/', element: h(Home)},
      {path: '/a/:n', element: h(Article)}])})
  : h(ReactRouterDOM['%s'], null, h(Routes, null, h(Route, {path: '/', element: h(Home)}),
      h(Route, {path: '/a/:n', element: h(Article)})));
ReactDOM.createRoot(document.getElementById('root')).render(shown);
"""
_TEMPLATES = """
const Home = {template: `<div><p>{{ texts[0] }}</p>%s</div>`,
  data: () => ({texts: TEXTS, numbers: NUMBERS})};
const Article = {template: '<article><p>{{ texts[$route.params.n] }}</p></article>',
  data: () => ({texts: TEXTS})};
const routes = [{path: '/', component: Home}, {path: '/a/:n', component: Article}];
"""
_VUE_APP = """
const router = VueRouter.createRouter({history: VueRouter.%s(), routes});
Vue.createApp({template: '<router-view/>'}).use(router).mount('#root');
"""
_VUE2_APP = """
Vue.use(VueRouter);
new Vue({el: '#root', template: '<router-view/>', router: new VueRouter({mode: '%s', routes})});
"""
_VUE_BUTTON = '<button v-for="n in numbers" @click="$router.push(\'/a/\' + n)">{{ n }}</button>'
_VUE_LINK = '<router-link v-for="n in numbers" :to="\'/a/\' + n">{{ n }}</router-link>'
_ANGULAR_APP = """
angular.module('app', ['ngRoute']).config(['$routeProvider', provider => provider
  .when('/', {template: '<p>{{texts[0]}}</p><a ng-repeat="n in ns" ng-href="#!/a/{{n}}">{{n}}</a>',
    controller: ['$scope', function (scope) { scope.texts = TEXTS; scope.ns = NUMBERS }]})
  .when('/a/:n', {template: '<p>{{texts[n]}}</p>', controller: ['$scope', '$routeParams',
    function (scope, given) { scope.texts = TEXTS; scope.n = given.n }]})]);
"""


def _app(scripts: tuple[str, ...], code: str, body: str = "<div id=root></div>") -> str:
    libraries = "".join(f"<script src='/npm/{name}'></script>" for name in scripts)
    return shell(f"{libraries}<script src=/texts.js></script><script>{code}</script>", body)


def _vue(history: str, leads_on: str) -> str:
    return _app(_VUE, _TEMPLATES % leads_on + _VUE_APP % history)


def _vue2(mode: str, leads_on: str) -> str:
    return _app(_VUE2, _TEMPLATES % leads_on + _VUE2_APP % mode)


def _react(router: str, leads_on: str) -> str:
    return _app(_REACT, _REACT_APP % (leads_on, router, router))


APPS = {
    "react-links": _react("BrowserRouter", _LINK),
    "react-buttons": _react("BrowserRouter", _BUTTON),
    "react-cards": _react("BrowserRouter", _CARD),
    "react-data-buttons": _react("data", _BUTTON),
    "react-hash-links": _react("HashRouter", _LINK),
    "react-hash-buttons": _react("HashRouter", _BUTTON),
    "vue-links": _vue("createWebHistory", _VUE_LINK),
    "vue-buttons": _vue("createWebHistory", _VUE_BUTTON),
    "vue-hash-links": _vue("createWebHashHistory", _VUE_LINK),
    "vue-hash-buttons": _vue("createWebHashHistory", _VUE_BUTTON),
    "vue2-buttons": _vue2("history", _VUE_BUTTON),
    "vue2-hash-links": _vue2("hash", _VUE_LINK),
    "angularjs": _app(_ANGULAR, _ANGULAR_APP, "<div ng-app=app><div ng-view></div></div>"),
    "docsify": shell(
        "<script>window.$docsify = {name: 'ข่าว', loadSidebar: true}</script>"
        "<script src='/npm/docsify/lib/docsify.min.js'></script>",
        "<div id=app></div>",
    ),
}


class FrameworkWeb(HostWeb):
    """The apps, each on a host of its own; their libraries are below ``modules``."""

    def __init__(self, modules: Path) -> None:
        super().__init__()
        self._modules = modules

    @override
    def answer(self, asked: Asked) -> Answered:
        host = asked.host.partition(".")[0]
        if asked.path.startswith("/npm/"):
            return 200, (self._modules / asked.path.removeprefix("/npm/")).read_bytes(), [_JS]
        if asked.path == "/texts.js":
            numbers = json.dumps(list(range(1, PAGES)))
            return 200, f"const TEXTS = {json.dumps(TEXTS)}, NUMBERS = {numbers};", [_JS]
        if host == "docsify" and asked.path != "/":
            return self._markdown(asked.path)
        return 200, APPS[host], []

    def _markdown(self, path: str) -> Answered:
        found = re.fullmatch(r"/(?:README|a(\d+))\.md", path)
        if path == "/_sidebar.md":
            return 200, "\n".join(f"- [{n}](a{n}.md)" for n in range(1, PAGES)), [_MD]
        if found is None:
            return 404, "", []
        return 200, f"# เรื่อง\n{TEXTS[int(found[1] or 0)]}", [_MD]


def main(modules: str, names: list[str]) -> None:
    """Crawl the apps of these names; all, if none is given."""
    print("app                  read  relevant  requests  seconds  CPU s/page")
    for name in names or APPS:
        web = FrameworkWeb(Path(modules))
        with tempfile.TemporaryDirectory(prefix="apps-") as folder, web:
            site = Site(Path(folder) / "web", Path(folder) / "crawl")
            begun = monotonic()
            web.crawl(
                site, [name], LSWC_BROWSER="auto", LSWC_BROWSER_SANDBOX=int(os.geteuid() != 0),
                LSWC_TRY_AGAIN=0, LSWC_ARCHIVE="relevant",
            )  # fmt: skip
            took = monotonic() - begun
            bodies = [(page.body or b"").decode() for page in StoredPages(site.folder)]
            own = [words(f"framework {number}") for number in range(PAGES)]
            read = sum(any(text in body for body in bodies) for text in own)
            relevant = sum(bool(record["relevant"]) for record in site.records)
            shells = site.summary["shells"]
            cpu = shells.get("browser's CPU seconds", 0) / max(1, shells.get("rendered", 0))
            print(
                f"{name:<20} {read:>4} {relevant:>9} {web.asked.total():>9} {took:>8.1f}"
                f" {cpu:>11.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
