// What a crawl does in a page: it looks, scrolls, presses what shows more, and asks where
// buttons lead. Evaluated in the page's own world: whatever it returns may be the page's doing.
([verb, given]) => {
  const MOST = 3000;
  const state = (window[Symbol.for('lswc')] ||= {
    links: new Set(), noted: new Set(), vain: new WeakSet(), ways: [], last: null,
  });

  const keep = links => {
    for (const link of links) {
      if (state.links.size >= MOST) return;
      if (link.protocol?.startsWith('http')) state.links.add(link.href);
    }
  };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const isSeen = element => {
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return false;
    const style = getComputedStyle(element);
    return style.visibility !== 'hidden' && style.opacity !== '0';
  };
  const says = element => [
    element.innerText, element.value, element.getAttribute('aria-label'), element.title,
  ].filter(Boolean).join(' ').trim().slice(0, 200);
  const note = address => {
    if (state.noted.size >= MOST) return;
    try { state.noted.add(new URL(address, document.baseURI).href); } catch { /* no address */ }
  };

  const parted = address => {
    const at = address.indexOf('#');
    return at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)];
  };
  const named = id => {
    try { return document.getElementById(decodeURIComponent(id)); } catch { return null; }
  };

  // Open shadow roots, in document order.
  const shadows = () => {
    const roots = [], hosts = [document];
    for (const host of hosts)
      for (const element of host.querySelectorAll('*'))
        if (element.shadowRoot && roots.length < 1000) {
          roots.push(element.shadowRoot); hosts.push(element.shadowRoot);
        }
    return roots;
  };

  const LOADS = '[aria-busy="true"],[role="progressbar"],progress,[class*="loading" i],'
    + '[class*="loader" i],[class*="spinner" i],[class*="skeleton" i],[class*="shimmer" i]';
  const loads = () => {
    if (all(LOADS).slice(0, 50).some(isSeen)) return true;
    const says = new RegExp(given.loading, 'iu');
    const walker = document.createTreeWalker(document.body || document, NodeFilter.SHOW_TEXT);
    for (let i = 0; i < MOST && walker.nextNode(); i++) {
      const text = walker.currentNode.data.trim(), within = walker.currentNode.parentElement;
      if (text && text.length < 60 && says.test(text) && within && isSeen(within)
        && !within.closest('script,style,noscript,template')) return true;
    }
    return false;
  };

  const verbs = {
    // The length of the text, the numbers of elements and of links so far; whether more comes.
    look() {
      const roots = shadows(), at = [document, ...roots];
      for (const root of at) keep(root.querySelectorAll('a[href]'));
      const texts = roots.map(root => root.textContent.trim().length);
      const text = texts.reduce((sum, n) => sum + n, document.body?.innerText.length || 0);
      const elements = at.reduce((sum, root) => sum + root.querySelectorAll('*').length, 0);
      return [text, elements, state.links.size, loads()];
    },

    // HTML with open shadow roots written out (HTML Standard §8.5.4), null if there is none.
    whole() {
      const roots = shadows(), root = document.documentElement;
      return roots.length ? '<!DOCTYPE html>' + root.cloneNode(false).outerHTML.split('</html')[0]
        + root.getHTML({shadowRoots: roots}) + '</html>' : null;
    },

    // Links that were there before: a list may keep only what is near.
    gone() {
      const here = new Set();
      for (const root of [document, ...shadows()])
        for (const link of all('a[href]', root).slice(0, 2 * MOST)) here.add(link.href);
      return [...state.links].filter(address => !here.has(address));
    },

    // Links to what scripts show by a fragment: the address of the same page, but for that.
    // None to a heading of what is shown now (#/page?id=heading, as docsify has them).
    routes() {
      const [here, route] = parted(location.href);
      return [...state.links].filter(address => {
        const [page, own] = parted(address), [path, id] = own.split('?id=');
        const isHeading = id && path === route.split('?id=')[0] && named(id);
        return page === here && /^[/!]./.test(own) && !isHeading;
      });
    },

    // Scroll to the end, of the page and of what scrolls in it; tell whether that wasn't seen yet.
    scroll() {
      state.watches ||= new MutationObserver(changes => {
        for (const {addedNodes} of changes)
          for (const node of addedNodes)
            if (node.querySelectorAll) keep([node, ...node.querySelectorAll('a[href]')]);
      });
      state.watches.observe(document, {childList: true, subtree: true});
      const inner = all('main,section,div,ul').filter(element =>
        element.scrollHeight > element.clientHeight + 50 && element.clientHeight > 100
        && /auto|scroll/.test(getComputedStyle(element).overflowY)).slice(0, 5);
      let moved = false;
      for (const element of [document.scrollingElement, ...inner].filter(Boolean)) {
        const before = element.scrollTop;
        element.scrollTo({top: element.scrollHeight, behavior: 'instant'});
        moved ||= element.scrollTop > before;
      }
      dispatchEvent(new WheelEvent('wheel', {deltaY: innerHeight, bubbles: true}));
      return moved;
    },

    // Scroll back a little: what waits for the end to come into sight has it in sight already.
    back() { scrollBy({top: -2 * innerHeight, behavior: 'instant'}); },

    // Return once what was scrolled to is drawn: observers are called then.
    frame() { return new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go))); },

    // From now on nothing leads away: where it would is noted.
    hold() {
      if (state.holds) return;
      state.holds = true;
      for (const name of ['back', 'forward', 'go']) History.prototype[name] = () => {};
      window.open = address => { if (address) note(address); return null; };
      window.navigation?.addEventListener('navigate', event => {
        note(event.destination.url);
        if (event.cancelable) event.preventDefault();
      }, {capture: true});
    },

    // Let scripts that change the address fail at it: they leave the page as it is.
    fail() {
      for (const name of ['pushState', 'replaceState'])
        History.prototype[name] = (_, __, address) => {
          if (address !== undefined && address !== null) note(address);
          throw new DOMException('no way', 'SecurityError');
        };
    },

    // Press what shows more of a list; tell whether anything was pressed.
    more() {
      verbs.hold();
      const word = new RegExp(given.more, 'iu'), named = /(load|show|view|see|read)[-_]?more/i;
      const can = pressable(false).filter(element => !state.vain.has(element)
        && !element.closest('nav,header,form,dialog,[role="dialog"]'));
      const is = element => word.test(says(element))
        || named.test(`${element.id} ${element.getAttribute('class') || ''}`);
      const found = can.find(is) || can.filter(endsList).at(-1);
      state.last = found || null;
      if (found) found.click();
      return Boolean(found);
    },

    // What was pressed last showed nothing more.
    vain() { if (state.last) state.vain.add(state.last); },

    // Press what lets in: the one button of a page that has nothing else, or the one that agrees.
    enter() {
      const yes = new RegExp(given.yes, 'iu'), no = new RegExp(given.no, 'iu');
      const fields = 'input:not([type=checkbox]):not([type=radio]):not([type=button])'
        + ':not([type=submit]):not([type=hidden]),textarea';
      if (all(fields).some(isSeen)) return false;
      const can = pressable(true).slice(0, 9);
      const found = can.find(element => yes.test(says(element)) && !no.test(says(element)))
        || (can.length === 1 ? can[0] : null);
      if (!found) return false;
      for (const box of all('input[type=checkbox]').filter(isSeen).slice(0, 5))
        if (!box.checked) box.click();
      found.click();
      return true;
    },

    // Find what may lead on and is no link; return how many there are, and what routers know.
    ways() {
      state.ways = pressable(false).filter(element => !element.closest('form')).slice(0, given.most);
      for (const element of all('[data-href],[data-url],[data-link],[routerlink],[ng-reflect-router-link]'))
        for (const name of ['data-href', 'data-url', 'data-link', 'routerlink', 'ng-reflect-router-link']) {
          const address = element.getAttribute(name);
          if (address && /^(https?:)?\//.test(address)) note(address);
        }
      for (const path of routes().slice(0, MOST)) note(path);
      return state.ways.length;
    },

    // Press one of them; tell whether it is still there.
    press() {
      const element = state.ways[given.number];
      if (!element || !element.isConnected) return false;
      element.click();
      return true;
    },

    // All addresses so far: of links, and of where something would have led.
    noted() { return [...state.links, ...state.noted]; },
  };

  const PRESSABLE = 'button,[role="button"],[role="link"],[role="menuitem"],[role="tab"],[onclick],'
    + 'a:not([href]),a[href="#"],a[href=""],a[href^="javascript:"],input[type="button"],summary';
  function pressable(withSubmit) {
    const found = new Set(all(PRESSABLE));
    if (withSubmit) for (const element of all('input[type="submit"]')) found.add(element);
    for (const element of all('div,li,span,article,section,td,tr,img,h2,h3').slice(0, MOST))
      if (getComputedStyle(element).cursor === 'pointer'
        && getComputedStyle(element.parentElement || element).cursor !== 'pointer')
        found.add(element);
    return [...found].filter(element => !element.disabled && isSeen(element)
      && !element.closest('a[href]:not([href="#"]):not([href=""]):not([href^="javascript:"])'))
      .sort((a, b) => a.compareDocumentPosition(b) & 4 ? -1 : 1);
  }

  // Whether an element comes after a list, or after what holds one.
  function endsList(element) {
    for (let at = element, i = 0; at && i < 3; at = at.parentElement, i++) {
      const before = at.previousElementSibling;
      const lists = before ? [before, ...all('ul,ol,div,section,tbody', before).slice(0, 20)] : [];
      if (lists.some(list => list.children.length >= 5
        && list.children[0].tagName === list.children[4].tagName)) return true;
    }
    return false;
  }

  const isWhole = path => typeof path === 'string' && /^\/[^:*[\]()_]/.test(path)
    && !/[:*[\]()]/.test(path);

  // Paths that an app's router knows, without parameters.
  function routes() {
    const found = [];
    for (const element of all('body > *').concat(all('#app,#root,#__nuxt')).slice(0, 50)) {
      const router = element.__vue_app__?.config?.globalProperties?.$router
        || element.__vue__?.$router;
      for (const {path} of router?.getRoutes?.() || router?.options?.routes || [])
        if (isWhole(path)) found.push(router.resolve(path).href);
    }
    return found.concat((window.__BUILD_MANIFEST?.sortedPages || []).filter(isWhole));
  }

  return verbs[verb]();
}
