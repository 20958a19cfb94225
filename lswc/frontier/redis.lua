-- The frontier's verbs, run inside Redis: each call is atomic for all workers.
--
-- KEYS[1]  "{<crawl>}:about"; every key of the crawl begins with "{<crawl>}:", so they share a slot
-- ARGV     verb, now in ms ("" for Redis's own clock), T, how: "server" or "directory" if a fixed
--          order counts by that, "supports" if it looks at the support of a server's site, too, "learns"
--          for a learned one; the crawl's mark, the worker, the
--          token of its link before (`latest`), the most URLs of a server and of a site that wait
--          (0: any number), the share of the unproven, the most unproven sites that wait (0: any
--          number), the requests in haste that another earns, sites of a small family, the ms for
--          which URLs wait for far better ones (0: none waits), what goes with it (`rides`), what it
--          decided (`improve_decided`) or ""; then the verb's own
--
-- about          hash   what the crawl is; "next", the number of URLs so far; "sites", that of sites;
--                       "known", that of URLs in `seen`, and "hashes", of how many hashes that is
-- seen:<n>       hash   key, whose third byte is the shard, without the bytes that n says -> the
--                       URL's number; once the URL is finished "." and the number of the worker that
--                       recorded it; "h" and that of one by http that only redirected.
--                       Of a page that is, or was, visited again ":" and its number follow
-- urls:<n>       list   CHUNK URLs by number: a record while pending or leased; afterwards the URL if
--                       it is some link's referrer, else "" (as for a discarded URL)
-- queue:<server> zset   number of a pending URL -> line * STEP + number, exact in a double
-- ready:<cell>   zset   "line server" -> number of its oldest URL. Lines of busy servers may be
--                       there: they are taken out when they are met
-- aside          hash   busy server -> those of its lines that were taken out, each with a space
--                       after it, and maybe others. A line with URLs is ready, apart or aside
-- apart:<cell>   zset   the same of servers of unproven sites -> family * APART_STEP + that number
-- free           set    servers with pending URLs that may be leased
-- busy           zset   server -> when it's looked at again: its lease expires, or it is rested
-- leases         hash   server -> "token number since" of its lease; each lease has its own token.
--                       " again" follows if the page was visited before: then its URL isn't pending
-- servers        hash   server -> "number site"; only if counting by directory. A server's number
--                       says how many were met until it was
-- units          hash   server or directory -> "Na Nr place", of a server also "number site"
-- sites          hash   site -> "level number family branch", numbers of its supporters; "|"; "Na Nr
--                       place", the place being that of its servers without a page. A number says
--                       how many sites were met until it was. If the unproven have no share, and the
--                       strategy doesn't look at support, the level is 0, and no numbers follow. Pages
--                       are counted if the order is learned
-- heads          hash   number -> site, of those that are a family or a branch of more than themselves
-- family_sites   hash   family -> number of its unproven sites with URLs that wait or are leased; of
--                       all families by 0; "families" and "large" say how many such there are
-- counted        set    numbers of pages that are leased, and counted already
-- busy_for       hash   busy server -> family that it was leased for
-- busy_families  hash   family -> number of such servers
-- share          hash   "credit" and "turn" (Share of lswc.frontier.contract), and "spare" and "unhasty"
--                       (Terms): when the latest lease was that wasn't in haste
-- site:<name>    set    servers of a site; only if the order is learned, or looks at support.
--                       Those that aren't behind, while `behind` names the site
-- behind         hash   site with many servers -> "first last downloaded relevant": they are
--                       brought to their places in pieces, by the site's pages of then
--                       " server" whose discarded URLs are in the bin; "/unit" whose place changed
--                       -> its server; "+site" that became proven
-- behind:lines:<site>   those of `lines` of such a site whose URLs aren't yet among the proven; what
--                       else comes to a server brings its lines there first
-- behind:<n>:<site>     for each n from the first to the last: a set of servers that are still
--                       where they were. No URL is leased while there is any, and what else comes
--                       to such a server brings it to its place first
-- behind:0:<unit>       set: those of a directory's pending URLs that are still where they were
-- bin:<server>          zset: numbers of discarded URLs, counted as such, that still have their records
-- lines:<site>   zset   server's number (4 bytes, big-endian) and "line server" of each line with
--                       URLs -> its cell; also of some without
-- waiting        hash   site -> number of its URLs that wait or are leased
-- taken          hash   "pages server", "bytes server", and the same of "*.site" -> number
-- over           set    "server <name>" and "site <name>" of which too many wait: until a client,
--                       which knows the order of cells, says which are discarded
-- left_out       hash   "server\nreason" -> how many of its URLs were discarded, or ended by a quota
-- of:<unit>      set    numbers of a directory's pending URLs; only if counting by directory
-- pending        hash   cell -> number of URLs
-- unproven       hash   cell -> number of those that are of unproven sites
-- statuses       hash   status -> number of units
-- tally          hash   "kind\nname" -> count
-- experience     hash   "n" and "r": pages and relevant pages, an earlier crawl's included that this
--                       one learns from; "n:<cell>" and "r:<cell>": own, leased from a cell
-- cells          string 1 + cell by kind and place, 2 bytes each (0: discard)
-- workers        hash   all that ever took part -> their numbers
-- lives          zset   worker that has joined and not left -> until when it is taken to live
-- files:<worker> hash   path in its folder -> length in bytes
-- latest         hash   worker -> token of the lease that it ended last, at first of its joining. A
--                       worker that knows a later one knows that this Redis is an older copy
-- later          zset   "number server" of a URL that was postponed -> when it is due
-- tries          hash   number of such a URL, until it is finished -> "tries outcome"
-- failed         hash   number of a URL that ended by an outcome of which it may return
--                       -> "outcome\nserver"; its record stays
-- paragraphs     string bits of the paragraphs seen (seen_paragraphs.py); only if text counts
-- now            hash   worker -> what it does now, as JSON (lswc.monitor.course)
-- course         list   points of the crawl's course, as JSON
-- told           string there is one while no further point is taken
-- held           hash   number of a page that is visited again -> the number (5 bytes) that the next
--                       URL had when its first visit ended: what it named then was no news; then what
--                       the client packed (redis_held.py), and the server. Its record stays, with its
--                       whole URL
-- due            zset   number of such a page -> when it is due, in days since 1970
-- finds          hash   number of such a page -> new relevant pages that came by it
-- rates          hash   "changes kind", "new kind", "days kind" -> what was seen of pages of a kind, and
--                       the same with " site" after it of a site's
-- budget         hash   visits that may be made: "stock", "at" in ms, "earned", "spent"; "price", the
--                       logarithm of a visit's; "revisit" and "day" as in lswc.frontier.contract.Terms
-- claims         hash   "changed server", "unchanged server" -> how often listings of a server said that of
--                       a page; "right_changed server" and so on, how often that was right
-- holds          set    workers of which all is held that they recorded
-- clock          hash   see clock.lua, which stands before this file, and rides.lua, which has further keys
--
-- A line is a server's URLs of one kind; if counting by directory, of one cell.
-- A record: referrer's number (5 bytes, big-endian, 0 for none), then what the client packed:
-- kind (2 bytes), distance, code (4 bytes), depth (2), inherited, redirects, the unit ("" if it is
-- the server), NUL, the URL: of most, without scheme and server, but a number for the scheme. No
-- strategy is known here: what it says of kinds and places is in `cells`. Names in capitals that
-- aren't here are numbers and words that redis_script.py puts there, as its callers have them, too:
-- FIRST is where a verb's own arguments begin, KIND ... UNIT are offsets in a record, FULL, REASONS
-- and OF_QUOTA outcomes, UNVISITED ... statuses.

-- Functions are made once, and stay: so whatever a call is given, and all that it knows, is made anew
-- at the beginning of each (`begin`). Nothing may be kept elsewhere: the next call is another crawl's. But
-- names of keys are, by the first of them, and what never changes of a crawl (`lasting`), by its mark.
local ARGV, call
local prefix, verb, clock, tolerated, how, mark, worker, before, most
local by_directory, learns, supports, share, most_sites, earned, small_family, patience
local bound_of_site, least_of_site, counts_links, has_families
local ABOUT, FREE, BUSY, ASIDE, LEASES, SERVERS, UNITS, SITES, CELLS
local WORKERS, FILES, LATEST, LIVES, LATER, TRIES, FAILED
local PENDING, STATUSES, TALLY, EXPERIENCE, WAITING, TAKEN, APART, OVER, LEFT_OUT
local HEADS, FAMILY_SITES, SHARE, BUSY_FOR, BUSY_FAMILIES
-- What `sites` has of a site: its text, or that taken apart; false if it has none. And the family of a
-- site, 0 unless it is unproven.
local known_sites, known_families
local known_units, family_sites, changes
-- Servers that have more URLs now; sites that have so many that one of their servers may have too
-- many.
local grown, large
local lasting, cells = {}, nil
local met -- lines of busy servers that were taken out
local is_first -- whether no server was known before
local behind = {} -- servers that are brought to their places in pieces
local pages_again = {} -- pages that are visited again: what is thought of them is the client's
local known_urls = {} -- the hashes of `seen`, as they are in this call

local function name_keys(about)
  ABOUT, prefix = about, about:sub(1, -6)
  FREE, BUSY, ASIDE = prefix .. 'free', prefix .. 'busy', prefix .. 'aside'
  LEASES, SERVERS = prefix .. 'leases', prefix .. 'servers'
  UNITS, SITES, CELLS = prefix .. 'units', prefix .. 'sites', prefix .. 'cells'
  WORKERS, FILES, LATEST = prefix .. 'workers', prefix .. 'files:', prefix .. 'latest'
  LIVES = prefix .. 'lives'
  LATER, TRIES, FAILED = prefix .. 'later', prefix .. 'tries', prefix .. 'failed'
  PENDING, STATUSES, TALLY = prefix .. 'pending', prefix .. 'statuses', prefix .. 'tally'
  EXPERIENCE, WAITING = prefix .. 'experience', prefix .. 'waiting'
  TAKEN = prefix .. 'taken'
  HEADS, FAMILY_SITES, SHARE = prefix .. 'heads', prefix .. 'family_sites', prefix .. 'share'
  BUSY_FOR, BUSY_FAMILIES = prefix .. 'busy_for', prefix .. 'busy_families'
  APART = prefix .. 'unproven'
  OVER, LEFT_OUT = prefix .. 'over', prefix .. 'left_out'
  behind.key = prefix .. 'behind'
  pages_again.key, pages_again.due = prefix .. 'held', prefix .. 'due'
  pages_again.finds, pages_again.rates = prefix .. 'finds', prefix .. 'rates'
  pages_again.budget = prefix .. 'budget'
end

local function begin(keys, arguments)
  ARGV, call = arguments, redis.call
  if ABOUT ~= keys[1] then name_keys(keys[1]) end
  verb, clock, tolerated, how = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
  mark, worker, before = ARGV[5], ARGV[6], ARGV[7]
  most = { server = tonumber(ARGV[8]), site = tonumber(ARGV[9]) }
  by_directory, learns, supports = how == 'directory', how == 'learns', how == 'supports'
  share, most_sites, earned = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
  bound_of_site = most.site > 0 and most.site or math.huge
  least_of_site = most_sites > 0 and math.min(bound_of_site, OF_FAMILIES.urls) or bound_of_site
  small_family, patience = tonumber(ARGV[13]), tonumber(ARGV[14])
  counts_links = share < 1 or supports
  has_families = share < 1 or not supports and call('HEXISTS', ABOUT, 'sites') == 1
  changes = { [PENDING] = {}, [APART] = {}, [STATUSES] = {}, [TALLY] = {}, [WAITING] = {}, [TAKEN] = {} }
  grown, large = {}, {}
  known_urls.hashes = nil
  behind.is_any = call('EXISTS', behind.key) == 1
  known_sites, known_families, family_sites, known_units = {}, {}, {}, {}
  if mark == '' or lasting.mark ~= mark then lasting = { mark = mark, cells = {}, bounds = {} } end
  cells, met, is_first = lasting.cells, 0, false
end

local function count(hash, field, by)
  changes[hash][field] = (changes[hash][field] or 0) + by
end

local BATCH = 1000 -- arguments of a call: Lua takes a few thousand

-- What is known of fields of a hash, by `known`; `parsed` makes it of their text, or of false. One
-- call for many: a call for each takes longer than all that is done with them.
local function read_all(hash, names, known, parsed)
  for first = 1, #names, BATCH do
    local last = math.min(first + BATCH - 1, #names)
    for i, text in ipairs(call('HMGET', hash, unpack(names, first, last))) do
      local name = names[first + i - 1]
      if known[name] == nil then known[name] = parsed(text) end
    end
  end
end

-- Call a command for a key with all these arguments.
local function call_all(command, key, arguments)
  for first = 1, #arguments, BATCH do
    call(command, key, unpack(arguments, first, math.min(first + BATCH - 1, #arguments)))
  end
end

-- To Redis a hash of up to 512 fields (`hash-max-listpack-entries`) is a list, which it searches from end
-- to end: with some hundred sites that takes a quarter of all that a link needs. A long field makes it a
-- table, and that it stays until Redis is started again.
local function make_table(hash)
  if call('EXISTS', hash) == 0 then return end
  call('HSET', hash, LONG, '')
  call('HDEL', hash, LONG)
end

local NO_PAGES = '|0 0 0'
local NO_SITE = NEW .. NO_PAGES

-- A whole number as text. Redis takes longer to make it of an argument that is a number.
local function digits(number) return string.format('%d', number) end

local function as_text(text) return text end

local function read_site(site)
  local known = known_sites[site]
  if known == nil then
    known = call('HGET', SITES, site)
    known_sites[site] = known
  end
  return known
end

-- The level of a site. Its text isn't taken apart: most links lead to sites of which no more is asked.
local function level_of(site)
  local known = read_site(site)
  if not known then return NEW end
  return known.level or known:byte() - 48
end

-- What is known of a site, its family, and its pages, as text.
local function family_of_site(site)
  local known = read_site(site)
  if known and known.level then return known end
  local numbers, families, pages = {}, string.match(known or NO_SITE, '(.*)|(.*)')
  for number in families:gmatch('%d+') do numbers[#numbers + 1] = tonumber(number) end
  local found = {
    level = numbers[1], number = numbers[2] or 0, family = numbers[3] or 0, branch = numbers[4] or 0,
    supporters = { unpack(numbers, 5) }, pages = pages,
  }
  if known then known_sites[site] = found end
  return found
end

local function keep_site(site, found)
  local parts = { found.level, found.number, found.family, found.branch, unpack(found.supporters) }
  if found.level == NEW then parts = { NEW } end
  call('HSET', SITES, site, table.concat(parts, ' ') .. '|' .. found.pages)
  known_sites[site], known_families[site] = found, nil
end

-- The family of a site, 0 unless it is unproven.
local function unproven_family(site)
  if not has_families then return 0 end
  local family = known_families[site]
  if not family then
    family = level_of(site) == UNPROVEN and family_of_site(site).family or 0
    known_families[site] = family
  end
  return family
end

-- The most URLs of a site that may wait.
local function most_of_site(site)
  if least_of_site == bound_of_site or unproven_family(site) == 0 then return bound_of_site end
  return least_of_site
end

-- An unproven site has pending URLs now (1), or none any more (-1).
local function count_site_of(family, by)
  family_sites[family] = (family_sites[family] or 0) + by
end

local function flush_family_sites()
  for family, by in pairs(family_sites) do
    call('HINCRBY', FAMILY_SITES, 0, by)
    local total = call('HINCRBY', FAMILY_SITES, family, by)
    if total == 0 then call('HDEL', FAMILY_SITES, family) end
    for field, least in pairs({ families = 0, large = small_family }) do
      local more = (total > least and 1 or 0) - (total - by > least and 1 or 0)
      if more ~= 0 then call('HINCRBY', FAMILY_SITES, field, more) end
    end
  end
  family_sites = {}
end

-- Write the counts; return the cells whose number of pending URLs changed, each with that.
local function flush()
  local pending = {}
  for hash, fields in pairs(changes) do
    for field, by in pairs(fields) do
      if by ~= 0 or hash == WAITING then -- a server may have grown by what another lost
        local total = call('HINCRBY', hash, field, by)
        if total == 0 and (hash == PENDING or hash == APART or hash == WAITING) then
          call('HDEL', hash, field)
        end
        if hash == WAITING and (total == by) ~= (total == 0) then -- by is 0 for both
          local family = unproven_family(field)
          if family > 0 then count_site_of(family, total == 0 and -1 or 1) end
        end
        if hash == PENDING or hash == APART then
          pending[#pending + 1] = hash == PENDING and field or -1 - field
          pending[#pending + 1] = total
        elseif hash == WAITING then
          if most.server > 0 and total > most.server then large[field] = true end
          if total > least_of_site and total > most_of_site(field) then
            call('SADD', OVER, 'site ' .. field)
          end
        end
      end
    end
    if next(fields) then changes[hash] = {} end
  end
  flush_family_sites()
  if is_first then
    for _, hash in ipairs({ UNITS, SITES, WAITING }) do make_table(hash) end
    is_first = false
  end
  return pending
end

local function count_discarded(number, reason)
  reason = reason or supports and REASONS.strategy or REASONS.irrelevant
  count(TALLY, 'discarded\n' .. reason, number)
end

local function now()
  if clock ~= '' then return tonumber(clock) end
  return redis_clock(prefix .. 'clock')
end

local function queue(server) return prefix .. 'queue:' .. server end

local function of(unit) return prefix .. 'of:' .. unit end

function known_urls.have(hashes)
  known_urls.hashes = hashes
  known_urls.size = 2 ^ math.floor(math.log(hashes) / math.log(2) + 1e-9) -- what isn't split yet goes by
end

-- The hash that a URL is known in, and its field there. The hashes are split one after the other, each in
-- two, as the crawl grows: linear hashing (Litwin, VLDB 1980). So each is in Redis's compact encoding.
-- lswc.frontier.redis_script.place_in, and a test holds that they agree.
local function seen(fingerprint)
  if not known_urls.hashes then
    known_urls.have(tonumber(call('HGET', ABOUT, 'hashes') or HASHES_AT_FIRST))
  end
  local first, second, _, fourth = fingerprint:byte(1, 4)
  local all, size = fourth * 65536 + first * 256 + second, known_urls.size
  if all % size < known_urls.hashes - size then size = 2 * size end
  local field = fingerprint:sub(3)
  if size < 65536 then field = fingerprint:sub(1, 1) .. field end
  return prefix .. 'seen:' .. digits(all % size), field
end

-- Split the hash that is next.
function known_urls.split()
  local old = known_urls.hashes - known_urls.size
  local key, parts = prefix .. 'seen:' .. digits(old), {}
  local found, ending = call('HGETALL', key), string.char(old % 256)
  known_urls.have(known_urls.hashes + 1)
  for i = 1, #found, 2 do
    local field = found[i]
    local first = #field == 7 and field:sub(1, 1) or string.char(math.floor(old / 256) % 256)
    local part, name = seen(first .. ending .. field:sub(-6))
    parts[part] = parts[part] or {}
    table.insert(parts[part], name)
    table.insert(parts[part], found[i + 1])
  end
  call('DEL', key)
  for part, fields in pairs(parts) do call_all('HSET', part, fields) end
end

-- So many URLs more are known. What this call doesn't split of the hashes the next will.
function known_urls.grow(number)
  local known, before = call('HINCRBY', ABOUT, 'known', number), known_urls.hashes
  while known > KNOWN_A_HASH * known_urls.hashes and known_urls.hashes < before + SPLITS do
    known_urls.split()
  end
  if known_urls.hashes > before then call('HSET', ABOUT, 'hashes', known_urls.hashes) end
end

local function place(number)
  return prefix .. 'urls:' .. math.floor((number - 1) / CHUNK), (number - 1) % CHUNK
end

local function read(number)
  local list, index = place(number)
  return call('LINDEX', list, index)
end

local function write(number, value)
  local list, index = place(number)
  call('LSET', list, index, value)
end

-- lswc.strategy.facts, and a test holds that they are equal.
local function status(downloaded, relevant)
  if tolerated == BY_YIELD then
    local least = downloaded > 0 and downloaded * 0.01 * (math.log10(downloaded) - 1) or 0
    if relevant < least then return IRRELEVANT end
  end
  if relevant > 0 then return RELEVANT end
  if downloaded > tolerated and tolerated ~= BY_YIELD then return IRRELEVANT end
  if downloaded == 0 then return UNVISITED end
  return UNDECIDED
end

-- lswc.strategy.adaptive.place, and a test holds that they are equal.
local function place_of(pages, site)
  if site.downloaded == 0 then return 0 end
  local of_site = (site.relevant + 2 * BEFORE) / (site.downloaded + 2)
  local share = (pages.relevant + 2 * of_site) / (pages.downloaded + 2)
  local number = 1
  for _, edge in ipairs(EDGES) do
    if share >= edge then number = number + 1 end
  end
  if pages.downloaded > FEW then return number + 2 * (#EDGES + 1) end
  if pages.downloaded > 0 then return number + #EDGES + 1 end
  return number
end

local function parse(text)
  local downloaded, relevant, place, number, site = text:match('(%d+) ([%d.]+) (%d+) ?(%d*) ?(.*)')
  return {
    downloaded = tonumber(downloaded),
    relevant = tonumber(relevant),
    place = tonumber(place),
    number = tonumber(number),
    site = site,
  }
end

local function text_of(pages)
  local relevant = pages.relevant % 1 == 0 and pages.relevant or string.format('%.17g', pages.relevant)
  local text = pages.downloaded .. ' ' .. relevant .. ' ' .. pages.place
  return pages.number and text .. ' ' .. pages.number .. ' ' .. pages.site or text
end

local function keep(hash, name, pages) call('HSET', hash, name, text_of(pages)) end

local function new_unit(place, number, site)
  count(STATUSES, UNVISITED, 1)
  return { downloaded = 0, relevant = 0, place = place, number = number, site = site }
end

-- The support of a site, by what is known of it. lswc.strategy.families, and a test holds that they
-- are equal.
local function support_of(found)
  if found.level >= KNOWN then return OF_FAMILIES.many end
  return found.level == NEW and 0 or SUPPORTS[#found.supporters + 1]
end

local function set_of_site(site) return prefix .. 'site:' .. site end

-- What is known of a unit; a new one is added.
local function unit_pages(unit)
  local pages = known_units[unit]
  if not pages then
    local text = call('HGET', UNITS, unit)
    pages = text and parse(text) or new_unit(0)
    if not text then keep(UNITS, unit, pages) end
    known_units[unit] = pages
  end
  return pages
end

local function parsed_or_false(text) return text and parse(text) end

-- Take notice of servers; `site_of_server` has the site of each. Returns those that weren't known; of
-- those that are counted by directory none.
local function meet(servers, site_of_server)
  if by_directory then
    for _, server in ipairs(servers) do
      call('HSETNX', SERVERS, server, call('HLEN', SERVERS) .. ' ' .. site_of_server[server])
    end
    return {}
  end
  local found, new, sites = {}, {}, {}
  read_all(UNITS, servers, found, parsed_or_false)
  for _, server in ipairs(servers) do
    if found[server] then
      known_units[server] = known_units[server] or found[server]
    else
      new[#new + 1], sites[#sites + 1] = server, site_of_server[server]
    end
  end
  if #new == 0 then return {} end
  local units, new_sites, is_new = {}, {}, {}
  local number = call('HLEN', UNITS)
  is_first = number == 0
  for i, server in ipairs(new) do
    local site, place = sites[i], '0'
    if learns then
      local known = known_sites[site]
      if not known then
        known = NO_SITE
        known_sites[site] = known
        new_sites[#new_sites + 1], new_sites[#new_sites + 2] = site, known
      end
      place = string.match(known.pages or known, '.* (%d+)$')
    end
    if supports then place = OF_FAMILIES.statuses * support_of(family_of_site(site)) end
    if learns or supports then call('SADD', set_of_site(site), server) end
    known_units[server], is_new[server] = new_unit(tonumber(place), number + i - 1, site), true
    units[#units + 1] = server
    units[#units + 1] = '0 0 ' .. place .. ' ' .. number + i - 1 .. ' ' .. site
  end
  call_all('HSET', SITES, new_sites)
  call_all('HSET', UNITS, units)
  return is_new
end

-- A server's site, and its number.
local function site_of(server)
  if not by_directory then
    local pages = known_units[server] or unit_pages(server)
    return pages.site, pages.number
  end
  local number, site = call('HGET', SERVERS, server):match('(%d+) (.*)')
  return site, tonumber(number)
end

-- The family of a server for its URLs in a cell, 0 unless its site is unproven.
local function family_of(server, cell)
  if not has_families or cell >= REQUISITES then return 0 end
  local site = site_of(server)
  return known_families[site] or unproven_family(site)
end

local function count_pending(server, cell, by)
  count(PENDING, cell, by)
  if family_of(server, cell) > 0 then count(APART, cell, by) end
end

local function lines(site) return prefix .. 'lines:' .. site end

-- Where a server's line is among those of its site, and the name of it there.
local function line_of_site(server, line)
  local site, number = site_of(server)
  return lines(site), struct.pack('>I4', number) .. line .. ' ' .. server
end

-- The cell of a kind in a place, or DISCARD.
local function cell_of(kind, place)
  local at = kind * 256 + place
  local cell = cells[at]
  if not cell then
    lasting.places = lasting.places or tonumber(call('HGET', ABOUT, 'places'))
    local first = 2 * (kind * lasting.places + place)
    local text = call('GETRANGE', CELLS, first, first + 1)
    cell = text:byte(1) * 256 + text:byte(2) - 1
    cells[at] = cell
  end
  return cell
end

-- The cell of a line, if its server is in that place.
local function cell_of_line(line, place)
  if by_directory then return line end
  return cell_of(line, place)
end

local function kind_of(record) return record:byte(KIND) * 256 + record:byte(KIND + 1) end

local function depth_of(record) return record:byte(DEPTH) * 256 + record:byte(DEPTH + 1) end

local function with_depth_of(record, other)
  return record:sub(1, DEPTH - 1) .. other:sub(DEPTH, DEPTH + 1) .. record:sub(DEPTH + 2)
end

local function unit_of(record, server)
  if record:byte(UNIT) == 0 then return server end
  return record:sub(UNIT, record:find('\0', UNIT, true) - 1)
end

local function url_of(record) return record:sub(record:find('\0', UNIT, true) + 1) end

-- A record of a server's URL with all of that, as it is a referrer: who meets it knows no server.
local function with_whole_url(record, server)
  local at = record:find('\0', UNIT, true)
  local scheme = SCHEMES[record:sub(at + 1, at + 1)]
  return scheme and record:sub(1, at) .. scheme .. '://' .. server .. record:sub(at + 2) or record
end

-- The line that a URL belongs to, and its cell, now.
local function line_of(record, unit)
  local kind = kind_of(record)
  local cell = cell_of(kind, unit_pages(unit).place)
  return by_directory and cell or kind, cell
end

local function ready(cell) return prefix .. 'ready:' .. cell end

local function apart(cell) return prefix .. 'apart:' .. cell end

-- Let a line's oldest URL be ready.
local function set_ready(server, line, cell, number)
  local family, name = family_of(server, cell), line .. ' ' .. server
  if family == 0 then
    call('ZADD', ready(cell), number, name)
  else
    call('ZADD', apart(cell), digits(family * APART_STEP + number % APART_STEP), name)
  end
end

local function unset_ready(server, line, cell)
  local name = line .. ' ' .. server
  call('ZREM', ready(cell), name)
  if has_families then call('ZREM', apart(cell), name) end
end

-- The scores of a line's URLs, from and to.
local function bounds(line)
  local known = lasting.bounds[line]
  if not known then
    known = { digits(line * STEP), '(' .. digits((line + 1) * STEP) }
    lasting.bounds[line] = known
  end
  return known[1], known[2]
end

-- The number of a line's oldest URL, as text; nil if it has none.
local function oldest_of(server, line)
  local low, high = bounds(line)
  return call('ZRANGE', queue(server), low, high, 'BYSCORE', 'LIMIT', '0', '1')[1]
end

-- The oldest URL of the first line that isn't before this one: line, number.
local function next_line(server, line)
  local found = call(
    'ZRANGE', queue(server), (bounds(line)), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES'
  )
  if found[1] then return math.floor(found[2] / STEP), tonumber(found[1]) end
end

-- Iterate over the lines of a server that have URLs: line, number of the oldest URL, cell.
local function each_line(server)
  local place, line = not by_directory and unit_pages(server).place, -1
  return function()
    local number
    line, number = next_line(server, line + 1)
    if line then return line, number, cell_of_line(line, place) end
  end
end

local function is_busy(server) return call('ZSCORE', BUSY, server) end

-- Remember a line of a busy server, which is ready no more, until the server is free.
local function set_aside(server, line)
  met = met + 1
  call('HSET', ASIDE, server, (call('HGET', ASIDE, server) or '') .. line .. ' ')
end

local function set_line(server, line, cell)
  local key, name = line_of_site(server, line)
  call('ZADD', key, cell, name)
end

local function forget_line(server, line, cell)
  unset_ready(server, line, cell)
  call('ZREM', line_of_site(server, line))
end

-- Bring `ready` up to date with a line of a free server.
local function set_head(server, line, cell)
  local number = oldest_of(server, line)
  if number then set_ready(server, line, cell, number) else forget_line(server, line, cell) end
end

local function set_free(server)
  call(call('EXISTS', queue(server)) == 1 and 'SADD' or 'SREM', FREE, server)
end

-- Make the lines of a server ready that were set aside.
local function show(server)
  local aside = call('HGET', ASIDE, server)
  if aside then
    call('HDEL', ASIDE, server)
    local place = not by_directory and unit_pages(server).place
    for line in aside:gmatch('%d+') do
      line = tonumber(line)
      local cell = cell_of_line(line, place)
      if cell ~= DISCARD then set_head(server, line, cell) end
    end
  end
  set_free(server)
end

local function put(server, unit, number, line, cell)
  call('ZADD', queue(server), digits(line * STEP + number), number)
  if by_directory then call('SADD', of(unit), number) end
  count_pending(server, cell, 1)
end

local function take(server, unit, number, cell)
  call('ZREM', queue(server), number)
  if by_directory and call('SREM', of(unit), number) == 0 then
    call('SREM', behind.key .. ':0:' .. unit, number)
  end
  count_pending(server, cell, -1)
end

local function move(server, number, line, from, to)
  call('ZADD', queue(server), line * STEP + number, number)
  count_pending(server, from, -1)
  count_pending(server, to, 1)
end

local function forget(server, number, reason)
  write(number, '')
  count_discarded(1, reason)
  count(WAITING, site_of(server), -1)
end

function behind.lines(site) return behind.key .. ':lines:' .. site end

-- Let the URLs of a line be those of a proven site.
function behind.prove_line(server, line, cell)
  local low, high = bounds(line)
  local number = cell < REQUISITES and call('ZCOUNT', queue(server), low, high) or 0
  if number == 0 then return end
  count(APART, cell, -number)
  if call('ZREM', apart(cell), line .. ' ' .. server) == 1 then set_head(server, line, cell) end
end

-- The same with all lines of a server, if they are behind.
function behind.prove(server)
  local key = behind.lines(site_of(server))
  if call('EXISTS', key) == 0 then return end
  for line, _, cell in each_line(server) do
    local of_site, name = line_of_site(server, line)
    if call('ZREM', key, name) == 1 then
      call('ZADD', of_site, cell, name)
      behind.prove_line(server, line, cell)
    end
  end
end

-- The same with so many lines of a site at most; return how many.
function behind.prove_some(site, key, most)
  local found = call('ZRANGE', key, 0, most - 1, 'WITHSCORES')
  call('ZREMRANGEBYRANK', key, 0, most - 1)
  for i = 1, #found, 2 do
    local line, server = found[i]:match('^(%d+) (.*)$', 5)
    if call('ZADD', lines(site), 'NX', found[i + 1], found[i]) == 1 then -- else it had no URLs then
      behind.prove_line(server, tonumber(line), tonumber(found[i + 1]))
    end
  end
  if call('EXISTS', key) == 0 then call('HDEL', behind.key, '+' .. site) end
  return #found / 2
end

-- Ask the strategy again about pending URLs of a directory whose place changed.
local function move_urls(server, unit, numbers)
  local touched, place = {}, unit_pages(unit).place
  for _, number in ipairs(numbers) do
    local score = call('ZSCORE', queue(server), number)
    local from = score and math.floor(score / STEP)
    local to = score and cell_of(kind_of(read(number)), place)
    if to == DISCARD then
      take(server, unit, number, from)
      forget(server, number)
    elseif to ~= from then
      move(server, number, to, from, to)
      set_line(server, to, to)
      touched[to] = true
    end
    if to ~= from then touched[from] = true end
  end
  for cell in pairs(touched) do set_head(server, cell, cell) end
end

function behind.set(name, number) return behind.key .. ':' .. number .. ':' .. name end

function behind.bin(server) return prefix .. 'bin:' .. server end

-- A directory's place changed: move its URLs, at once if they are few. Its server is busy.
local function move_directory(server, unit)
  if call('SCARD', of(unit)) <= STEPS then
    move_urls(server, unit, call('SMEMBERS', of(unit)))
  else -- none of the server's is leased, so this doesn't happen again, before all are moved
    call('RENAME', of(unit), behind.set(unit, 0))
    call('HSET', behind.key, '/' .. unit, server)
  end
end

-- Discard lines of a server, which have so many URLs; others stay. They are counted at once, but if
-- they are many, their records are left for later.
local function discard_lines(server, lines, stay, number)
  count_discarded(number)
  count(WAITING, site_of(server), -number)
  local key, bin = queue(server), behind.bin(server)
  local is_later = number > STEPS and call('EXISTS', bin) == 0
  if is_later then
    call('RENAME', key, bin)
    call('HSET', behind.key, ' ' .. server, '')
  end
  for _, line in ipairs(is_later and stay or lines) do
    local low, high = bounds(line)
    local found = call('ZRANGE', is_later and bin or key, low, high, 'BYSCORE')
    call('ZREMRANGEBYSCORE', is_later and bin or key, low, high)
    for _, one in ipairs(found) do
      if is_later then call('ZADD', key, line * STEP + one, one) else write(one, '') end
    end
  end
end

-- A server's place was another one before: move its lines to other cells.
local function move_server(server, before)
  local steps, lines, stay, discarded = 0, {}, {}, 0
  for line, first, to in each_line(server) do
    local from = cell_of(line, before)
    if from ~= to then
      steps = steps + 1
      unset_ready(server, line, from)
      local low, high = bounds(line)
      local number = call('ZCOUNT', queue(server), low, high)
      count_pending(server, from, -number)
      if to == DISCARD then
        lines[#lines + 1], discarded = line, discarded + number
        forget_line(server, line, from)
      else
        set_line(server, line, to)
        count_pending(server, to, number)
        set_ready(server, line, to, first)
      end
    end
    if to ~= DISCARD then stay[#stay + 1] = line end
  end
  if discarded > 0 then discard_lines(server, lines, stay, discarded) end
  return steps
end

local function count_in(pages, relevant)
  pages.downloaded, pages.relevant = pages.downloaded + 1, pages.relevant + relevant
end

-- Keep the pages of a server or directory, and its place, which may be a new one. Return how many
-- lines that moved.
local function set_place(server, unit, pages, place)
  local before = pages.place
  pages.place = place
  keep(UNITS, unit, pages)
  if place == before then return 0 end
  if by_directory then return move_directory(server, unit) end
  return move_server(unit, before)
end

-- The place of a server, by what is known of its site.
function behind.place(pages, of_site)
  if learns then return place_of(pages, of_site) end
  return pages.place % OF_FAMILIES.statuses + OF_FAMILIES.statuses * support_of(of_site)
end

-- The pages of a server or site, and with them the looks that brought none, of a learned order.
local function looks(pages, name)
  local field = 'misses ' .. name
  local misses = (call('HGET', TAKEN, field) or 0) + (changes[TAKEN][field] or 0)
  return { downloaded = pages.downloaded + misses, relevant = pages.relevant }
end

-- Bring a server to its place; return how many steps that took.
function behind.settle(server, of_site)
  if behind.is_any then behind.prove(server) end
  local pages = unit_pages(server)
  local place = behind.place(learns and looks(pages, server) or pages, of_site)
  return 1 + (place == pages.place and 0 or set_place(server, server, pages, place))
end

-- What is known of the servers of a site that are behind: the first and the last of their sets, and
-- what their places go by; nil if none are.
function behind.of(site)
  local found = call('HGET', behind.key, site)
  if not found then return end
  local first, last, downloaded, relevant = found:match('(%d+) (%d+) (%d+) (%S+)')
  local of_site = learns and { downloaded = tonumber(downloaded), relevant = tonumber(relevant) }
  return tonumber(first), tonumber(last), of_site or family_of_site(site)
end

-- Bring servers of sites to their places that are behind; what they get now goes there.
function behind.catch_up(servers)
  behind.is_any = call('EXISTS', behind.key) == 1
  for _, server in ipairs(behind.is_any and servers or {}) do behind.prove(server) end
  if by_directory or not behind.is_any then return end
  for _, server in ipairs(servers) do
    local site = unit_pages(server).site
    local first, last, of_site = behind.of(site)
    for number = first or 1, last or 0 do
      if call('SMOVE', behind.set(site, number), set_of_site(site), server) == 1 then
        behind.settle(server, of_site)
      end
    end
  end
end

-- Do to a known URL what is left to be done; return its record, "" if that was discarded.
function behind.catch_up_url(server, unit, number, known)
  if call('ZREM', behind.bin(server), number) == 1 then
    write(number, '')
    return ''
  end
  if not by_directory or call('SREM', behind.set(unit, 0), number) == 0 then return known end
  call('SADD', of(unit), number)
  move_urls(server, unit, { number })
  return read(number)
end

-- Do that to URLs of a bin or a directory, for so many steps; return how many that took.
function behind.go_on_with_urls(name, steps)
  local unit, most = name:sub(2), math.ceil(steps * URLS_A_STEP)
  local found, key = nil, behind.bin(unit)
  if name:sub(1, 1) == ' ' then
    found = call('ZRANGE', key, 0, most - 1)
    call('ZREMRANGEBYRANK', key, 0, most - 1)
    for _, number in ipairs(found) do write(number, '') end
  else
    local server = call('HGET', behind.key, name)
    key = behind.set(unit, 0)
    most = math.ceil(most / 4) -- it takes longer to move one
    behind.prove(server)
    found = call('SPOP', key, most)
    call_all('SADD', of(unit), found)
    move_urls(server, unit, found)
    if not is_busy(server) then set_free(server) end
  end
  if call('EXISTS', key) == 0 then call('HDEL', behind.key, name) end
  return steps * math.min(1, (1 + #found) / most)
end

-- Bring servers of a site to their places, for so many steps; return how many are left.
function behind.go_on_with_site(site, steps)
  local first, last, of_site = behind.of(site)
  local key = behind.set(site, first)
  repeat
    if steps <= 0 then return steps end
    local server = call('SRANDMEMBER', key)
    if server then
      call('SMOVE', key, set_of_site(site), server)
      steps = steps - behind.settle(server, of_site)
    end
  until not server
  if first == last then
    call('HDEL', behind.key, site)
  else
    local rest = call('HGET', behind.key, site):match(' .*$')
    call('HSET', behind.key, site, first + 1 .. rest)
  end
  return steps
end

-- Go on with what is behind, for so many steps; return whether anything is left.
function behind.go_on(steps)
  local name = call('HRANDFIELD', behind.key)
  while name do
    if steps <= 0 then return true end
    if name:find('^[ /]') then
      steps = steps - behind.go_on_with_urls(name, steps)
    elseif name:find('^+') then
      local site = name:sub(2)
      steps = steps - behind.prove_some(site, behind.lines(site), math.ceil(steps))
    else
      steps = behind.go_on_with_site(name, steps)
    end
    name = call('HRANDFIELD', behind.key)
  end
  return false
end

-- The place of a site's servers changed: ask them all, at once if they are few.
function behind.settle_all(site, of_site)
  local key = set_of_site(site)
  local first, last = behind.of(site)
  if not first and call('SCARD', key) <= STEPS / 8 then
    for _, server in ipairs(call('SMEMBERS', key)) do behind.settle(server, of_site) end
    return
  end
  first, last = first or 1, (last or 0) + 1
  if call('EXISTS', key) == 1 then call('RENAME', key, behind.set(site, last)) end
  local pages = learns and string.format(' %d %.17g', of_site.downloaded, of_site.relevant) or ' 0 0'
  call('HSET', behind.key, site, first .. ' ' .. last .. pages)
end

-- Count a page for its site; or a look that brought none, which was counted.
local function count_site(server, pages, relevant)
  local found = family_of_site(pages.site)
  local site = parse(found.pages)
  local before = site.place
  if relevant then count_in(site, relevant) end
  local of_site = looks(site, '*.' .. pages.site)
  site.place = place_of({ downloaded = 0, relevant = 0 }, of_site)
  found.pages = text_of(site)
  keep_site(pages.site, found)
  set_place(server, server, pages, place_of(looks(pages, server), of_site))
  if site.place ~= before then behind.settle_all(pages.site, of_site) end
end

-- Count a look at a server that brought no page.
local function count_miss(server)
  count(TAKEN, 'misses ' .. server, 1)
  count(TAKEN, 'misses *.' .. site_of(server), 1)
  count_site(server, unit_pages(server))
end

-- Count a page, by the cell that its URL was leased from.
local function count_page(server, unit, relevant, cell)
  call('HINCRBY', EXPERIENCE, 'n', 1)
  call('HINCRBYFLOAT', EXPERIENCE, 'r', relevant)
  call('HINCRBY', EXPERIENCE, 'n:' .. cell, 1)
  if relevant > 0 then call('HINCRBYFLOAT', EXPERIENCE, 'r:' .. cell, relevant) end
  local pages = unit_pages(unit)
  local before = status(pages.downloaded, pages.relevant)
  count_in(pages, relevant)
  local after = status(pages.downloaded, pages.relevant)
  count(STATUSES, before, -1)
  count(STATUSES, after, 1)
  if learns then
    count_site(server, pages, relevant)
  else -- what is more than a status is the site's support
    set_place(server, unit, pages, pages.place - pages.place % OF_FAMILIES.statuses + after)
  end
end

-- Give a known URL what an offer of it brought.
local function improve(server, number, known, record, cell, known_cell)
  local line = by_directory and cell or kind_of(record)
  local known_line = by_directory and known_cell or kind_of(known)
  record = record:sub(1, UNIT - 1) .. known:sub(UNIT) -- the URL stays, its twin may have come
  if depth_of(known) < depth_of(record) then record = with_depth_of(record, known) end
  write(number, record)
  if line ~= known_line and call('ZSCORE', queue(server), number) then -- else it is leased
    move(server, number, line, known_cell, cell)
    set_line(server, line, cell)
    set_head(server, line, cell)
    set_head(server, known_line, known_cell)
  end
end

-- A URL is offered again. True if its record now has the offer's referrer; then nil, or what the
-- client must decide, as only it knows the order of cells: number, cells of offer and URL,
-- distance.
local function rediscover(server, unit, number, known, record)
  local place = unit_pages(unit).place
  local cell, known_cell = cell_of(kind_of(record), place), cell_of(kind_of(known), place)
  local nearer = record:byte(DISTANCE) < known:byte(DISTANCE)
  if cell == known_cell and nearer or not learns and cell < known_cell then
    improve(server, number, known, record, cell, known_cell)
    return true
  end
  if depth_of(record) < depth_of(known) then write(number, with_depth_of(known, record)) end
  if learns and cell ~= known_cell then
    return true, { number, cell, known_cell, known:byte(DISTANCE) }
  end
end

-- What the client decided since the call before, as `packed_decision` packs it: these offers are better.
-- It comes with verbs that flush.
local function improve_decided(decided)
  local from, number, cell, server, record
  local at = 1
  while at <= #decided do
    from, number, cell, server, record, at = struct.unpack('>c5I5HI4c0I4c0', decided, at)
    local known = read(number)
    if known:byte(1) == 0 and behind.is_any then
      behind.prove(server)
      known = behind.catch_up_url(server, unit_of(known, server), number, known)
    end
    if known:byte(1) == 0 then -- else it was discarded, or another worker finished it: maybe its URL is left
      local place = unit_pages(unit_of(known, server)).place
      local known_cell = cell_of(kind_of(known), place)
      record = from .. record
      if known_cell == cell then
        improve(server, number, known, record, cell_of(kind_of(record), place), known_cell)
      end
    end
  end
end

-- Add a URL; return its number, and that as text.
local function add(server, unit, record, line, cell)
  local number = call('HINCRBY', ABOUT, 'next', '1')
  local name = digits(number)
  call('RPUSH', place(number), record)
  put(server, unit, name, line, cell)
  count(WAITING, site_of(server), 1)
  return number, name
end

-- lswc.frontier.contract.is_twin_of_redirect, and a test holds that they are equal.
local function is_twin_of_redirect(record)
  return record:byte(REDIRECTS) > 0 and url_of(record):find('^' .. HTTPS) ~= nil
end

-- Whether a known URL waits in no line: it was postponed, or couldn't be had and is finished. An offer
-- brings it nothing.
local function is_away(server, number)
  return call('ZSCORE', LATER, number .. ' ' .. server) or call('HEXISTS', FAILED, number) == 1
end

-- Let the URLs of a site, which was of a family, be those of a proven one: at once if it has few lines.
local function prove(site, family)
  if call('HEXISTS', WAITING, site) == 1 then count_site_of(family, -1) end
  local key, later = lines(site), behind.lines(site)
  if call('EXISTS', key) == 0 then return end
  local number = call('ZCARD', key)
  call('RENAME', key, later)
  if number <= STEPS then
    behind.prove_some(site, later, number)
  else
    call('HSET', behind.key, '+' .. site, '')
    behind.is_any = true
  end
end

-- What is known of sites that a page of the site `by` (nil for seeds) introduces; a branch of 0 is
-- the site itself.
local function born(by)
  if not by then return { level = SEED, family = 0, branch = 0, supporters = {} } end
  local page = family_of_site(by)
  if page.level == UNPROVEN then
    return { level = UNPROVEN, family = page.family, branch = page.branch, supporters = {} }
  end
  local level = page.level == SEED and PROVEN or UNPROVEN
  return { level = level, family = page.number, branch = 0, supporters = { page.number } }
end

-- Keep what is known of new sites, which a page of the site `by` (nil for seeds) introduces.
local function introduce(new, by)
  if #new == 0 then return end
  local like, page = born(by), by and family_of_site(by)
  local is_apart, is_head = like.level == UNPROVEN, by and like.branch == 0
  if is_apart and (is_head or page.branch == page.number) then call('HSET', HEADS, page.number, by) end
  local last, family, sites = call('HINCRBY', ABOUT, 'sites', #new), is_apart and like.family or 0, {}
  local before, after = like.level .. ' ', table.concat({ '', unpack(like.supporters) }, ' ')
  local of_family, of_branch = ' ' .. like.family .. ' ', digits(like.branch)
  for i, site in ipairs(new) do
    local number = digits(last - #new + i)
    local branch, known = is_head and number or of_branch, known_sites[site]
    local pages = known and known:match('|.*') or NO_PAGES
    local text = before .. number .. of_family .. branch .. after .. pages
    known_sites[site], known_families[site] = text, family
    sites[#sites + 1], sites[#sites + 2] = site, text
  end
  call_all('HSET', SITES, sites)
end

-- Count a link of a page, of the site `by` (nil for seeds), to another site that was met before, and
-- isn't KNOWN.
-- Families of lswc.frontier.sqlite_cells, and a test holds that they agree.
local function vouch(site, by, before)
  local found, page = family_of_site(site), by and family_of_site(by)
  if not by then
    found.level = SEED
  else
    if page.level == UNPROVEN then return end
    for _, number in ipairs(found.supporters) do
      if number == page.number then return end
    end
    found.supporters = { page.number, unpack(found.supporters) } -- not the new sites' own, of a page
    if #found.supporters >= SUPPORT then
      found.level = KNOWN
    elseif #found.supporters >= PROOF or page.level == SEED then
      found.level = PROVEN
    end
  end
  keep_site(site, found)
  if share < 1 and before == UNPROVEN and found.level ~= UNPROVEN then prove(site, found.family) end
  if supports then behind.settle_all(site, found) end
end

-- Whether sites that a site introduces may wait.
local function has_room(by)
  if most_sites == 0 or not by then return true end
  local page = family_of_site(by)
  local family = page.level == UNPROVEN and page.family or page.number
  local found = call('HMGET', FAMILY_SITES, 0, family)
  local all, own = tonumber(found[1] or 0), tonumber(found[2] or 0)
  local waits = tonumber(call('HGET', WAITING, by) or 0)
  if page.level == UNPROVEN and waits > 0 and waits + (changes[WAITING][by] or 0) == 0 then
    all, own = all - 1, own - 1 -- it has no other URL than the one that ends now
  end
  return all < most_sites and own * OF_FAMILIES.part < most_sites
end

-- Take notice of servers with their sites, from ARGV[first] to ARGV[last], that a page of the site
-- `by` links to. Returns those that aren't taken, as no more unproven sites may wait; and those that
-- weren't known.
local function meet_all(first, last, by)
  local servers, site_of_server, sites, refused = {}, {}, {}, {}
  for i = first, last, 2 do
    servers[#servers + 1], sites[#sites + 1] = ARGV[i], ARGV[i + 1]
    site_of_server[ARGV[i]] = ARGV[i + 1]
  end
  if counts_links or learns then read_all(SITES, sites, known_sites, as_text) end
  if counts_links then
    if share < 1 and not has_room(by) then
      local taken = {}
      for i, server in ipairs(servers) do
        if level_of(sites[i]) ~= NEW then taken[#taken + 1] = server
        else refused[server] = true end
      end
      servers = taken
    end
  end
  if counts_links then
    local new, is_met = {}, {}
    for _, server in ipairs(servers) do
      local site = site_of_server[server]
      local level = level_of(site)
      if level ~= NEW then
        if level < KNOWN and site ~= by then vouch(site, by, level) end
      elseif not is_met[site] then -- else it has two new servers
        new[#new + 1], is_met[site] = site, true
      end
    end
    introduce(new, by)
  end
  local is_new = meet(servers, site_of_server)
  behind.catch_up(servers)
  return refused, is_new
end

-- Store the offers from ARGV[first] on: number of servers with their sites, those; then server,
-- fingerprint, record without referrer, each. Return whether any of them keeps the referrer, and
-- what the client must decide: position of the offer, counted from 0, and what rediscover gave.
local function store(first, referrer, by)
  local touched, kept, undecided, new = {}, false, {}, 0
  local from = struct.pack('>I5', referrer)
  local start = first + 1 + 2 * ARGV[first]
  local refused, is_new = meet_all(first + 1, start - 1, by)
  for i = start, #ARGV, 3 do
    local server, record = ARGV[i], from .. ARGV[i + 2]
    local unit, line, cell = unit_of(record, server), nil, nil
    if not refused[server] then line, cell = line_of(record, unit) end
    if refused[server] then
      count_discarded(1, REASONS.unproven)
    elseif cell == DISCARD then
      count_discarded(1) -- the place changed since the strategy was asked
    else
      local bucket, field = seen(ARGV[i + 1])
      local number = call('HGET', bucket, field)
      local how_known = number and number:sub(1, 1)
      if how_known == 'h' and is_twin_of_redirect(record) then number, how_known = false, false end
      if how_known ~= '.' and how_known ~= 'h' then -- else it is finished
        local known = number and read(number) or ''
        if behind.is_any and known ~= '' then
          known = behind.catch_up_url(server, unit, tonumber(number), known)
        end
        if known == '' then -- never seen, or discarded since
          local name
          number, name = add(server, unit, record, line, cell)
          new = new + call('HSET', bucket, field, name)
          kept = true
          touched[server] = touched[server] or {}
          touched[server][line] = touched[server][line] or { cell, name }
        elseif tonumber(number) ~= referrer and not is_away(server, number) then
          is_new[server] = nil -- its URL may go to another line
          local keeps, question = rediscover(server, unit, tonumber(number), known, record)
          kept = kept or keeps
          if question then
            table.insert(question, 1, (i - start) / 3)
            undecided[#undecided + 1] = question
          end
        end
      end
    end
  end
  local free, servers = {}, {}
  for server, found in pairs(touched) do
    grown[server] = true
    servers[#servers + 1] = server
    for line, added in pairs(found) do
      local cell, number = added[1], added[2]
      -- A line with an older URL is ready, or aside; a new server has none. What was added first may have
      -- gone to another line since.
      local oldest = is_new[server] and number or oldest_of(server, line)
      if oldest and tonumber(oldest) >= tonumber(number) then
        set_ready(server, line, cell, oldest)
        set_line(server, line, cell)
      end
    end
  end
  for first = 1, #servers, BATCH do
    local last = math.min(first + BATCH - 1, #servers)
    for i, score in ipairs(call('ZMSCORE', BUSY, unpack(servers, first, last))) do
      if not score then free[#free + 1] = servers[first + i - 1] end
    end
  end
  call_all('SADD', FREE, free)
  if new > 0 then known_urls.grow(new) end
  return kept, undecided
end

local function lease_of(server)
  local lease = call('HGET', LEASES, server)
  if not lease then return nil end
  local token, number, since, again = lease:match('(%S+) (%d+) (%d+) ?(%S*)')
  return token, tonumber(number), tonumber(since), again ~= ''
end

-- Make a URL pending again; nil if it is discarded. Its server's state is the caller's to set.
local function pend(server, number)
  local record = read(number)
  local unit = unit_of(record, server)
  local line, cell = line_of(record, unit)
  if cell == DISCARD then
    forget(server, number)
    call('HDEL', TRIES, number)
    return nil
  end
  put(server, unit, number, line, cell)
  set_line(server, line, cell)
  set_head(server, line, cell)
  return true
end

-- Make a leased URL pending again, unless it is of a page that is held. Its server's state is the
-- caller's to set.
local function give_back(server, number, again)
  call('HDEL', LEASES, server)
  if again then return end
  behind.catch_up({ server })
  pend(server, number)
end

-- Make the URLs pending that were postponed and are due.
local function bring_back(time)
  local due = call('ZRANGE', LATER, '-inf', time, 'BYSCORE', 'LIMIT', 0, AT_ONCE)
  for _, member in ipairs(due) do
    local number, server = member:match('^(%d+) (.*)$')
    call('ZREM', LATER, member)
    count(TALLY, 'postponed\n' .. call('HGET', TRIES, number):match('%d+ (.*)'), -1)
    count(WAITING, site_of(server), 1)
    grown[server] = true
    if pend(server, tonumber(number)) and not is_busy(server) then set_free(server) end
  end
  return #due
end

-- Let a server be leased again.
local function free(server)
  call('ZREM', BUSY, server)
  local family = has_families and call('HGET', BUSY_FOR, server)
  if family then
    call('HDEL', BUSY_FOR, server)
    if call('HINCRBY', BUSY_FAMILIES, family, -1) <= 0 then call('HDEL', BUSY_FAMILIES, family) end
  end
  show(server)
end

-- Free a server whose lease has ended, so many ms after that began: the worker says when.
local function rest(server, since, duration)
  if tonumber(duration) > 0 then
    call('ZADD', BUSY, since + duration, server)
  else
    free(server)
  end
end

-- Free the servers that are rested, and those whose lease expired because its worker died. Return
-- whether there are more to free, or URLs came back: the client knows their cells only then.
local function wake(time)
  local rested = call('ZRANGE', BUSY, '-inf', time, 'BYSCORE', 'LIMIT', 0, STEPS)
  for _, server in ipairs(rested) do
    local token, number, _, again = lease_of(server)
    if token then give_back(server, number, again) end
    free(server)
  end
  return #rested == STEPS or bring_back(time) > 0
end

-- The oldest URL of the best of these cells, among free servers of proven sites: cell, line, server,
-- number, place of the cell. Nothing if so many busy ones were `met` that the client is to ask again.
local function best(order)
  for i = 1, #order, 2 do
    local cell = order:byte(i) * 256 + order:byte(i + 1)
    local head = call('ZRANGE', ready(cell), 0, 0, 'WITHSCORES')
    while head[1] do
      if met >= LINES then return end
      local line, server = head[1]:match('^(%d+) (.*)$')
      if not is_busy(server) then return cell, line, server, tonumber(head[2]), i end
      call('ZREM', ready(cell), head[1])
      set_aside(server, line)
      head = call('ZRANGE', ready(cell), 0, 0, 'WITHSCORES')
    end
  end
end

local choose

do -- as Lua has room for 200 names at a time
  -- The first line in a cell of the families after that number that has a free server: line, server,
  -- family.
  local function next_family(cell, after)
    local low = string.format('%.0f', (after + 1) * APART_STEP)
    while met < LINES do
      local head = call(
        'ZRANGE', apart(cell), low, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES'
      )
      if not head[1] then return end
      local line, server = head[1]:match('^(%d+) (.*)$')
      if not is_busy(server) then return line, server, math.floor(head[2] / APART_STEP) end
      call('ZREM', apart(cell), head[1])
      set_aside(server, line)
    end
  end

  -- The same for a family that may have it, of those with unproven sites, by turns.
  local function best_apart(order, turn, may)
    local looked = 0
    for i = 1, #order, 2 do
      local cell = order:byte(i) * 256 + order:byte(i + 1)
      for _, range in ipairs({ { turn, math.huge }, { 0, turn } }) do
        local line, server, family = next_family(cell, range[1])
        while family and family <= range[2] do
          looked = looked + 1
          if may(family) then
            local _, number = next_line(server, tonumber(line))
            return cell, line, server, number, i, family
          end
          if looked == OF_FAMILIES.looked_at then return end
          line, server, family = next_family(cell, family)
        end
      end
    end
  end

  -- Tell whether a URL may be leased that is best or not: one that isn't waits for far better ones, unless
  -- they are long in coming, or it may go in haste.
  local function may_lease(spare, is_best, waits)
    if patience == 0 or not (is_best or waits) then return true end
    if not is_best and spare < 1 then return false end
    local after = is_best and math.min(spare + earned, BURST_OF_HASTE) or spare - 1
    if after ~= spare then call('HSET', SHARE, 'spare', string.format('%.17g', after)) end
    if is_best then call('HSET', SHARE, 'unhasty', now()) end
    return true
  end

  -- Number of URLs of pages, by a hash of cells.
  local function total_of(hash)
    local found, number = call('HGETALL', hash), 0
    for i = 1, #found, 2 do
      if tonumber(found[i]) < REQUISITES then number = number + found[i + 1] end
    end
    for cell, by in pairs(changes[hash]) do
      if tonumber(cell) < REQUISITES then number = number + by end
    end
    return number
  end

  -- Whether so few sites of a family wait that it is as proven.
  local function is_small(family)
    return tonumber(call('HGET', FAMILY_SITES, family) or 0) <= small_family
  end

  -- The family that a request to a server is of: its site's own, or the one that this introduced; 0 if
  -- that is small.
  local function charged(server)
    local found = family_of_site(site_of(server))
    local family = found.level == UNPROVEN and found.family or found.level == PROVEN and found.number
    return family and not is_small(family) and family or 0
  end

  -- Whether URLs of proven sites wait, or are leased.
  local function others_wait()
    if total_of(PENDING) > total_of(APART) then return true end
    for _, server in ipairs(call('HKEYS', LEASES)) do
      local _, number, _, again = lease_of(server)
      local record = read(number)
      local _, cell = line_of(record, unit_of(record, server))
      if not again and cell < REQUISITES and family_of(server, cell) == 0 then return true end
    end
    return false
  end

  -- Which URL is next, by the order of cells, if only so many are good enough for proven sites, and for
  -- others, and `elsewhere` says that far better ones come from other Redis servers: cell, line, server,
  -- number; or nothing and when a URL waits no longer. lswc.frontier.sqlite, and a test holds that they agree.
  function choose(order, is_whole, good, good_apart, elsewhere)
    local cell, line, server, number, at = best(order)
    if met >= LINES then return end
    local found = call('HMGET', SHARE, 'credit', 'turn', 'spare', 'unhasty')
    local credit, turn = tonumber(found[1] or 0), tonumber(found[2] or 0)
    local sites = has_families and call('HMGET', FAMILY_SITES, 0, 'families', 'large') or {}
    local unproven = tonumber(sites[1] or 0)
    local has_small = (sites[2] or 0) - (sites[3] or 0) > 0
    local chosen_family, there_are_others = 0, true
    local function cost(family) return (1 - share) * (family == turn and OF_FAMILIES.again or 1) end
    if unproven > 0 and not (server and credit < 1 - share and not has_small) then
      there_are_others = server ~= nil or others_wait()
      local function may(family)
        local is_idle = is_whole and not server and call('HEXISTS', BUSY_FAMILIES, family) == 0
        return not there_are_others or is_idle or credit >= cost(family) or is_small(family)
      end
      local of, next_one, there, first, place, family = best_apart(order, turn, may)
      if there and not (server and (at < place or at == place and number < first)) then
        cell, line, server, number, at, chosen_family = of, next_one, there, first, place, family
      end
    end
    if not server or met >= LINES then return end
    local is_best = at <= 2 * (chosen_family > 0 and good_apart or good)
    local until_when = (found[4] or -math.huge) + patience
    local waits = elsewhere or now() < until_when
    if not may_lease(tonumber(found[3] or 0), is_best, waits) then return nil, until_when end
    if unproven == 0 then return cell, line, server, number end -- nothing to share
    local before, family = credit, unproven > small_family and charged(server) or 0
    if family == 0 then
      credit = math.min(credit + share, OF_FAMILIES.burst * (1 - share))
    elseif there_are_others then
      credit = math.max(credit - cost(family), -OF_FAMILIES.debt * (1 - share))
    end
    if credit ~= before or family > 0 then
      turn = family > 0 and family or turn
      call('HSET', SHARE, 'credit', string.format('%.17g', credit), 'turn', turn)
    end
    return cell, line, server, number
  end
end

-- By how many URLs a server or site has more than it may.
local function excess(kind, name)
  if kind == 'site' then return tonumber(call('HGET', WAITING, name) or 0) - most_of_site(name) end
  if most.server == 0 then return 0 end
  local token, _, _, again = lease_of(name)
  return call('ZCARD', queue(name)) + (token and not again and 1 or 0) - most.server
end

-- The cells that have URLs of a server or site, and maybe others.
local function cells_of(kind, name)
  local found = {}
  if kind == 'site' then
    local at = '-inf'
    repeat
      local head = call(
        'ZRANGE', lines(name), at, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES'
      )
      if head[1] then
        found[#found + 1] = tonumber(head[2])
        at = '(' .. head[2]
      end
    until not head[1]
    return found
  end
  local met = {}
  for _, _, cell in each_line(name) do
    if not met[cell] then found[#found + 1] = cell end
    met[cell] = true
  end
  return found
end

-- What is too much first, for the client to say what is discarded: "kind name" and cells; or nothing.
-- Servers come before sites.
local function over()
  for server in pairs(next(large) and grown or {}) do
    if large[site_of(server)] and excess('server', server) > 0 then
      call('SADD', OVER, 'server ' .. server)
    end
  end
  local members = call('SMEMBERS', OVER)
  if not members[1] then return {} end
  table.sort(members)
  return { members[1], cells_of(members[1]:match('^(%S+) (.*)$')) }
end

-- Discard the newest URLs of a server in a cell; return how many.
local function discard(server, cell, number, reason)
  local found, emptied = {}, {}
  for line, _, of_line in each_line(server) do
    if of_line == cell then
      local low, high = bounds(line)
      local newest = call(
        'ZRANGE', queue(server), high, low, 'BYSCORE', 'REV', 'LIMIT', 0, number
      )
      for _, one in ipairs(newest) do found[#found + 1] = tonumber(one) end
      emptied[#emptied + 1] = line
    end
  end
  table.sort(found, function(one, other) return one > other end)
  number = math.min(number, #found)
  for i = 1, number do
    take(server, unit_of(read(found[i]), server), found[i], cell)
    forget(server, found[i], reason)
    call('HDEL', TRIES, found[i])
  end
  if number > 0 then call('HINCRBY', LEFT_OUT, server .. '\n' .. reason, number) end
  for _, line in ipairs(emptied) do
    if next_line(server, line) ~= line then forget_line(server, line, cell) end
  end
  if not is_busy(server) then set_free(server) end
  return number
end

-- The best URL of the first server, of those in ARGV from there on, that is free and has one in
-- these cells: cell, line, server, number.
local function first_among(from, order)
  local rank = {}
  for i = 1, #order, 2 do rank[order:byte(i) * 256 + order:byte(i + 1)] = i end
  for i = from, #ARGV do
    local server = ARGV[i]
    if call('EXISTS', queue(server)) == 1 and not is_busy(server) then
      local chosen
      for line, number, cell in each_line(server) do
        local before = chosen and rank[cell] and rank[cell] - rank[chosen[1]]
        if rank[cell] and (not chosen or before < 0 or before == 0 and number < chosen[4]) then
          chosen = { cell, line, server, number }
        end
      end
      if chosen then return unpack(chosen) end
    end
  end
end

-- Pages and bytes of a server, and of its site.
local function taken(server)
  local site = '*.' .. site_of(server)
  local found = call(
    'HMGET', TAKEN, 'pages ' .. server, 'bytes ' .. server, 'pages ' .. site, 'bytes ' .. site
  )
  for i = 1, 4 do found[i] = tonumber(found[i] or 0) end
  return found
end

-- A time, when the first of the servers that are busy is free, when the first URL of those that were
-- postponed is due, and when one that waits for far better ones waits no longer; "" if there is none.
local function with_firsts(time, until_when)
  local found = { time }
  for i, key in ipairs({ BUSY, LATER }) do
    found[i + 1] = call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or ''
  end
  found[4] = until_when or ''
  return found
end

-- Take the slots that a server's request needs, if it is known of which groups; return these, or "". If one of
-- them has none, "!" with the ms to wait, and its name.
local function slots_of(server, token, life)
  local groups = call('HGET', prefix .. 'groups', server)
  if not groups then return '' end
  local names, slots = {}, {}
  for number, name in groups:gmatch('(%d+) ([^\n]+)') do
    names[#names + 1], slots[#slots + 1] = name, number
  end
  local wait, full = take_slots(prefix, names, slots, token, life)
  return wait == 0 and groups or '!' .. wait .. ' ' .. names[full + 1]
end

-- The pages of a server or directory; the level of a server's site, as far as anybody asks for it, and of an
-- unproven one the sites that are its family and branch.
local function standing(server, unit)
  local pages, site = call('HGET', UNITS, unit) or '', site_of(server)
  if not (has_families or counts_links) then return { pages, NEW } end
  local found = family_of_site(site)
  if found.level ~= UNPROVEN then return { pages, found.level } end
  local names = call('HMGET', HEADS, found.family, found.branch)
  return { pages, UNPROVEN, names[1] or '', found.branch == found.number and site or names[2] or '' }
end

local verbs = {}

-- Say that the worker lives, for so many ms; return whether any other does.
local function live(life)
  local time = redis_clock(prefix .. 'clock') -- whatever a caller's is
  call('ZREMRANGEBYSCORE', LIVES, '-inf', time)
  call('ZADD', LIVES, time + life, worker)
  return call('ZCARD', LIVES) > 1
end

-- token of joining, time to live in ms, table of cells, pages and relevant pages of an earlier crawl;
-- then what the crawl is: field, value, ... Returns that, and the worker's number.
function verbs.open()
  if call('EXISTS', ABOUT) == 0 then
    call('HSET', EXPERIENCE, 'n', ARGV[FIRST + 3], 'r', ARGV[FIRST + 4])
    call('HSET', ABOUT, unpack(ARGV, FIRST + 5))
    call('SET', CELLS, ARGV[FIRST + 2])
  end
  call('HSETNX', WORKERS, worker, call('HLEN', WORKERS) + 1)
  call('HSET', LATEST, worker, ARGV[FIRST])
  if not live(ARGV[FIRST + 1]) then -- the crawl was stopped meanwhile
    call('ZUNIONSTORE', LATER, 1, LATER, 'WEIGHTS', 0)
    call('HDEL', prefix .. 'budget', 'stock', 'at', 'earned', 'spent', 'revisit')
  end
  return { call('HGETALL', ABOUT), tonumber(call('HGET', WORKERS, worker)) }
end

-- offers
function verbs.offer()
  local _, undecided = store(FIRST, 0, nil)
  return { 0, flush(), undecided, over() }
end

do -- as Lua has room for 200 names at a time
  -- The number that a site has here, which heads a family or branch; "" has none.
  local function number_of(site)
    if site == '' then return 0 end
    local found = family_of_site(site)
    if found.number == 0 then
      found.number, found.level = call('HINCRBY', ABOUT, 'sites', 1), PROVEN
      keep_site(site, found)
    end
    call('HSET', HEADS, string.format('%d', found.number), site)
    return found.number
  end

  -- Know a site of another server of the crawl by the level, family and branch that it has there.
  local function know(site, level, family, branch)
    if level == NEW then return end
    local found = family_of_site(site)
    if found.number == 0 then
      found.number, found.level = call('HINCRBY', ABOUT, 'sites', 1), level
      keep_site(site, found)
    end
    family, branch = number_of(family), number_of(branch)
    if found.level ~= level or found.family ~= family or found.branch ~= branch then
      found.level, found.family, found.branch = level, family, branch
      keep_site(site, found)
    end
  end

  -- URL of a page of a site on another server of the crawl, token, that site, its level there, the
  -- sites that are its family and branch, or ""; what counts in `files` how much the worker gave this
  -- server, and that; offers. Returns the number that the page has here, too.
  function verbs.offer_from()
    local url, token, site, level, family, branch = unpack(ARGV, FIRST, FIRST + 5)
    if counts_links then know(site, tonumber(level), family, branch) end
    local number = call('HINCRBY', ABOUT, 'next', 1)
    call('RPUSH', place(number), url)
    local kept, undecided = store(FIRST + 8, number, site)
    call('HSET', LATEST, worker, token)
    call('HSET', FILES .. worker, ARGV[FIRST + 6], ARGV[FIRST + 7])
    if not kept and #undecided == 0 then -- nobody needs its name
      call('RPOP', (place(number)))
      call('HINCRBY', ABOUT, 'next', -1)
    end
    return { number, flush(), undecided, over() }
  end
end

-- Hold the page of a URL that is finished. `mark` is as in `held`.
function pages_again.hold(number, held, due, url, mark, is_new)
  local record = read(number)
  call('HSET', pages_again.key, number, struct.pack('>I5', mark) .. held)
  call('ZADD', pages_again.due, due, number)
  if is_new == '1' then pages_again.found(number, struct.unpack('>I5', record)) end
  write(number, record:sub(1, record:find('\0', UNIT, true)) .. url)
end

-- A page's new number says whether its referrer led to it after its own first visit.
function pages_again.found(number, referrer)
  local held = referrer > 0 and call('HGET', pages_again.key, referrer)
  if not held or struct.unpack('>I5', held) > number then return end
  call('HINCRBY', pages_again.finds, referrer, 1)
  pages_again.learn('new', held:byte(HELD_KIND), site_of(held:sub(HELD_SERVER)), 1)
end

function pages_again.learn(what, kind, site, by)
  if tonumber(by) == 0 then return end
  call('HINCRBYFLOAT', pages_again.rates, what .. ' ' .. kind, by)
  call('HINCRBYFLOAT', pages_again.rates, what .. ' ' .. kind .. ' ' .. site, by)
end

function pages_again.drop(number)
  call('HDEL', pages_again.key, number)
  call('ZREM', pages_again.due, number)
  call('HDEL', pages_again.finds, number)
end

-- Keep what the client says of pages, from ARGV[first] to ARGV[last], unless that changed since: number of
-- each, what was known of it, what is kept now, and when it is due.
function pages_again.order(first, last)
  for i = first, last, 4 do
    local number, known, kept, due = unpack(ARGV, i, i + 3)
    if call('HGET', pages_again.key, number) == known then
      if kept ~= known then call('HSET', pages_again.key, number, kept) end
      call('ZADD', pages_again.due, due, number)
    end
  end
end

-- Whether a page may be visited though it isn't due. lswc.frontier.held.Held.may_be_asked, and tests of
-- both stores hold that they agree.
function pages_again.may_be_asked(held, due, days)
  return held:sub(HELD_MISSED, HELD_KIND - 1) == '\0\0\0' or due <= days or due > days + LONGEST
end

-- The page that is due first, of those that come after so many, if its server is free: server, number,
-- due, what is kept of it. Else nil, and how many were looked at; 0 if these were the last.
function pages_again.first_free(after, days)
  for first = after, after + LOOKED_AT - 1, LOOKED_AT / 10 do
    local found = call('ZRANGE', pages_again.due, first, first + LOOKED_AT / 10 - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
      local held, due = call('HGET', pages_again.key, found[i]), tonumber(found[i + 1])
      local server = held:sub(HELD_SERVER)
      if not is_busy(server) and pages_again.may_be_asked(held, due, days) then
        return server, tonumber(found[i]), found[i + 1], held
      end
    end
    if #found < 2 * LOOKED_AT / 10 then return nil, 0 end
  end
  return nil, after + LOOKED_AT
end

-- Returns the time, how many pages are held, and the budget.
function verbs.look()
  local time = now()
  call('HSETNX', pages_again.budget, 'at', time)
  local known = call('HMGET', pages_again.budget, 'stock', 'at', 'earned', 'spent', 'price')
  return { time, call('HLEN', pages_again.key), known }
end

-- token, time to live in ms, days since 1970, pages that were looked at before; the budget's `at` and
-- `spent` as the client knows them, and its stock, `at`, earned and spent after this visit. Returns as
-- `lease` does, and what is kept of the page; without one, instead of free servers, how many pages were
-- looked at.
function verbs.lease_again()
  local time = now()
  if behind.go_on(STEPS) or wake(time) then return { -1, flush(), { time }, over() } end
  local token, life, days, after, at, spent = unpack(ARGV, FIRST, FIRST + 5)
  local known = call('HMGET', pages_again.budget, 'at', 'spent')
  if known[1] ~= at or (known[2] or '') ~= spent then -- another worker was faster
    return { tonumber(after), flush(), { time }, over() }
  end
  local server, number, due, held = pages_again.first_free(tonumber(after), tonumber(days))
  if not server then return { number, flush(), { time }, over() } end
  call(
    'HSET', pages_again.budget, 'stock', ARGV[FIRST + 6], 'at', ARGV[FIRST + 7],
    'earned', ARGV[FIRST + 8], 'spent', ARGV[FIRST + 9]
  )
  call('SREM', FREE, server)
  call('ZADD', BUSY, time + life, server)
  call('HSET', LEASES, server, token .. ' ' .. number .. ' ' .. time .. ' again')
  behind.catch_up({ server })
  local record = read(number)
  local unit = unit_of(record, server)
  local _, cell = line_of(record, unit)
  local referrer = struct.unpack('>I5', record)
  local via = referrer > 0 and read(referrer) or ''
  if via:byte(1) == 0 then via = url_of(via) end
  local finds = tonumber(call('HGET', pages_again.finds, number) or 0)
  return {
    0, flush(), { time }, {}, { '', unpack(standing(server, unit)) },
    server, number, math.max(0, cell), record:sub(KIND), via, 0, held, due, finds,
    unpack(taken(server)),
  }
end

-- token, time to live in ms, cells in order (2 bytes each), how many of them are good enough while
-- better ones wait: for proven sites, and for others; 1 if these are all cells, and 2 more if another
-- Redis had such a one a moment ago; then servers, if it is to be one of these. Returns how many servers are free, -1
-- if the client is to ask again, as there is more to do before; cells with what waits in them; the time,
-- and `with_firsts` if no more servers are free; what is too much; and the lease
function verbs.lease()
  local time = now()
  if behind.go_on(STEPS) or wake(time) then return { -1, flush(), { time }, over() } end
  local free = call('SCARD', FREE)
  local cell, line, server, number
  local order, good = ARGV[FIRST + 2], tonumber(ARGV[FIRST + 3])
  local good_apart, is_whole = tonumber(ARGV[FIRST + 4]), ARGV[FIRST + 5] % 2 == 1
  local elsewhere, until_when = tonumber(ARGV[FIRST + 5]) >= 2
  if #ARGV > FIRST + 5 then
    cell, line, server, number = first_among(FIRST + 6, order)
  elseif free > 0 and order ~= '' and order:byte(1) * 256 + order:byte(2) >= REQUISITES then
    cell, line, server, number = best(order)
  elseif free > 0 then
    cell, line, server, number = choose(order, is_whole, good, good_apart, elsewhere)
    if line and not server then free, until_when = 0, line end -- it has to wait
  end
  if met >= LINES then return { -1, flush(), { time }, {} } end
  if not server then return { free, flush(), with_firsts(time, until_when), {} } end
  local record = read(number)
  local unit = unit_of(record, server)
  take(server, unit, number, cell)
  unset_ready(server, line, cell)
  local family = family_of(server, cell)
  if family > 0 then
    call('HSET', BUSY_FOR, server, family)
    call('HINCRBY', BUSY_FAMILIES, family, 1)
  end
  line = tonumber(line)
  if next_line(server, line) == line then
    set_aside(server, line)
  else
    forget_line(server, line, cell)
  end
  call('SREM', FREE, server)
  call('ZADD', BUSY, time + ARGV[FIRST + 1], server)
  call('HSET', LEASES, server, ARGV[FIRST] .. ' ' .. number .. ' ' .. time)
  local referrer = struct.unpack('>I5', record)
  local tries = call('HGET', TRIES, number)
  local via = referrer > 0 and read(referrer) or ''
  if via:byte(1) == 0 then via = url_of(via) end -- that of a URL which failed: still a record
  return {
    free, flush(), free == 1 and with_firsts(time) or { time }, {},
    { slots_of(server, ARGV[FIRST], ARGV[FIRST + 1]), unpack(standing(server, unit)) },
    server, number, cell, record:sub(KIND), via,
    tries and tonumber(tries:match('%d+')) or 0,
    unpack(taken(server)),
  }
end

-- time to live in ms; server, token, each. Returns the servers whose leases have ended.
function verbs.renew()
  live(ARGV[FIRST])
  local till, ended = now() + ARGV[FIRST], {}
  for i = FIRST + 1, #ARGV, 2 do
    if lease_of(ARGV[i]) == ARGV[i + 1] then
      call('ZADD', BUSY, till, ARGV[i])
    else
      ended[#ended + 1] = ARGV[i]
    end
  end
  return ended
end

-- End a lease that a worker holds: number, since. Else nil, and 1 if it ended it before: after a
-- lost connection the client asks again, though the first time may have done it.
local function end_lease(server, token, lengths, received)
  local held, number, since, again = lease_of(server)
  if held ~= token then return nil, call('HGET', LATEST, worker) == token and 1 or 0 end
  call('HSET', LATEST, worker, token)
  call('HDEL', LEASES, server)
  if lengths ~= '' then call('HSET', FILES .. worker, unpack(cjson.decode(lengths))) end
  if not again then count(WAITING, site_of(server), -1) end
  count(TAKEN, 'bytes ' .. server, received)
  count(TAKEN, 'bytes *.' .. site_of(server), received)
  return number, since
end

-- Count a page that was fetched, once: also if it is fetched again, as its visit didn't end.
local function count_visit(server, number, relevant, cell)
  count(TAKEN, 'pages ' .. server, 1)
  count(TAKEN, 'pages *.' .. site_of(server), 1)
  count_page(server, unit_of(read(number), server), tonumber(relevant), cell)
end

local function pages_counted() return learns and tonumber(call('HGET', EXPERIENCE, 'n')) or 0 end

-- server, token, what a leased page counts, cell that it was leased from: what it links to is offered then,
-- before its visit ends
function verbs.count_ahead()
  local server, token, relevant, cell = unpack(ARGV, FIRST, FIRST + 3)
  local held, number = lease_of(server)
  if held ~= token then return { 0, flush(), 0 } end
  behind.catch_up({ server })
  if call('SADD', prefix .. 'counted', number) == 1 then count_visit(server, number, relevant, cell) end
  return { 1, flush(), pages_counted() }
end

-- server, token; offers: some of a leased page that has many. To offer them again changes nothing, if its
-- visit doesn't end.
function verbs.offer_ahead()
  local server = ARGV[FIRST]
  local held, number = lease_of(server)
  if held ~= ARGV[FIRST + 1] then return { 0, flush(), {}, {} } end
  local kept, undecided = store(FIRST + 2, number, site_of(server))
  if kept or #undecided > 0 then write(number, with_whole_url(read(number), server)) end
  return { 1, flush(), undecided, over() }
end

-- server, token, lengths of its files that changed, as JSON, or "", bytes received, ms from the
-- lease until its server is free; then fingerprint, what it counts (1 if relevant, 0 if not, or a
-- share), "" if it is no page, "miss" if it is a look that brought none, cell that it was leased from, what `seen` keeps of it, its outcome if that is transient or
-- "", its URL, number of tallies, what is kept of a page that is held from now on or "", when it is due,
-- "1" if it is a new relevant page; tallies: field, count; offers
function verbs.commit()
  local server, token, lengths, received, duration = unpack(ARGV, FIRST, FIRST + 4)
  local fingerprint, relevant, cell, kept, failed, url, tallies = unpack(ARGV, FIRST + 5, FIRST + 11)
  local held, due, is_new = unpack(ARGV, FIRST + 12, FIRST + 14)
  local number, since = end_lease(server, token, lengths, received)
  if not number then return { since, flush(), {}, 0, {}, {} } end
  call('HDEL', TRIES, number)
  if failed == '' then
    local bucket, field = seen(fingerprint)
    call('HSET', bucket, field, held ~= '' and kept .. ':' .. number or kept)
  else
    call('HSET', FAILED, number, failed .. '\n' .. server)
  end
  behind.catch_up({ server })
  local is_counted = call('SREM', prefix .. 'counted', number) == 1
  if relevant == 'miss' then
    if not is_counted then count_miss(server) end
  elseif relevant ~= '' and not is_counted then
    count_visit(server, number, relevant, cell)
  end
  local first = FIRST + 15
  local offers = first + 2 * tallies
  local referred, undecided = store(offers, number, site_of(server))
  referred = referred or url_of(read(number)):find('^http') ~= nil -- by `offer_ahead`
  if held ~= '' then
    pages_again.hold(number, held, due, url, call('HGET', ABOUT, 'next') + 1, is_new)
  elseif failed == '' then
    write(number, referred and url or '')
  elseif referred then
    write(number, with_whole_url(read(number), server))
  end
  rest(server, since, duration)
  for i = first, offers - 1, 2 do
    count(TALLY, ARGV[i], ARGV[i + 1])
    local quota = OF_QUOTA[ARGV[i]]
    if quota then call('HINCRBY', LEFT_OUT, server .. '\n' .. quota, 1) end
  end
  local idle = call('SCARD', FREE) == 0 and with_firsts(now()) or {}
  return { 1, flush(), undecided, pages_counted(), over(), idle }
end

-- the first five of `commit`; when the URL is due, tries, outcome
function verbs.postpone()
  local server, token, lengths, received, duration = unpack(ARGV, FIRST, FIRST + 4)
  local due, tries, outcome = unpack(ARGV, FIRST + 5, FIRST + 7)
  local number, since = end_lease(server, token, lengths, received)
  if not number then return since end
  call('ZADD', LATER, due, number .. ' ' .. server)
  call('HSET', TRIES, number, tries .. ' ' .. outcome)
  count(TALLY, 'postponed\n' .. outcome, 1)
  rest(server, since, duration)
  flush()
  return 1
end

-- the first five of `commit`; its URL, what is kept of the page or "" if it is held no more, when it is
-- due, its kind and site, changes in how many days, by what the price's logarithm changes, what its
-- server's listings had said of it or "", "1" if that was right, number of tallies and of pages in order
-- anew; tallies: field, count; of each such page number, what was known of
-- it, what is kept now, and when it is due; offers
function verbs.commit_again()
  local server, token, lengths, received, duration = unpack(ARGV, FIRST, FIRST + 4)
  local url, held, due, kind, site, changes, days = unpack(ARGV, FIRST + 5, FIRST + 11)
  local price, claim, is_right, tallies, ordered = unpack(ARGV, FIRST + 12, FIRST + 16)
  local number, since = end_lease(server, token, lengths, received)
  if not number then return { since, flush(), {}, over() } end
  behind.catch_up({ server })
  local first = FIRST + 17
  local rows = first + 2 * tallies
  local offers = rows + 4 * ordered
  local _, undecided = store(offers, number, site_of(server))
  local record = read(number)
  if call('HEXISTS', pages_again.key, number) == 0 then
    held = '' -- what was recorded of it was lost meanwhile
  elseif held == '' then
    pages_again.drop(number)
    write(number, url)
  else
    call('HSET', pages_again.key, number, held)
    call('ZADD', pages_again.due, due, number)
    write(number, record:sub(1, record:find('\0', UNIT, true)) .. url)
    pages_again.learn('changes', kind, site, changes)
    pages_again.learn('days', kind, site, days)
  end
  call('HINCRBYFLOAT', pages_again.budget, 'price', price)
  if claim ~= '' then
    call('HINCRBY', prefix .. 'claims', claim .. ' ' .. server, 1)
    if is_right == '1' then call('HINCRBY', prefix .. 'claims', 'right_' .. claim .. ' ' .. server, 1) end
  end
  pages_again.order(rows, offers - 1)
  rest(server, since, duration)
  for i = first, rows - 1, 2 do count(TALLY, ARGV[i], ARGV[i + 1]) end
  return { 1, flush(), undecided, over() }
end

-- fingerprint, number, record without referrer, what is kept of the page or "" if it isn't relevant any
-- more, when it is due, number of its visit, each: pages that were recorded while none was visited again
function verbs.hold()
  local mark, none = call('HGET', ABOUT, 'next') + 1, struct.pack('>I5', 0)
  for i = FIRST, #ARGV, 6 do
    local fingerprint, number, record, held, due, visit = unpack(ARGV, i, i + 5)
    local bucket, field = seen(fingerprint)
    local by, known = call('HGET', bucket, field) or '', call('HGET', pages_again.key, number)
    local is_own = by:match('^%.%d+:(%d+)$') == number
    local kept = read(tonumber(number))
    if known and is_own and struct.unpack('>I4', known, HELD_KIND + 1) < tonumber(visit) then
      pages_again.drop(number)
    elseif known or not by:match('^%.%d+$') or not kept or kept:byte(1) == 0 then
      held = ''
    end
    if held ~= '' then
      if not is_own then call('HSET', bucket, field, by .. ':' .. number) end
      held = struct.pack('>I5', mark) .. held
      call('HSET', pages_again.key, number, held)
      call('ZADD', pages_again.due, due, number)
      write(tonumber(number), with_whole_url(none .. record, held:sub(HELD_SERVER)))
    end
  end
end

-- how many changes were told and believed, and how many told and not; pages as for pages_again.order
function verbs.hear()
  count(TALLY, TOLD.believed, ARGV[FIRST])
  count(TALLY, TOLD.disbelieved, ARGV[FIRST + 1])
  pages_again.order(FIRST + 2, #ARGV)
  flush()
end

-- Take it that a URL didn't end by an outcome of which it may return; return that, nil if it didn't.
function known_urls.unend(number)
  local failed = call('HGET', FAILED, number)
  if not failed then return nil end
  local outcome, server = failed:match('^(.-)\n(.*)$')
  local field = server .. '\n' .. outcome
  call('HDEL', FAILED, number)
  count(TALLY, 'finished\n' .. outcome, -1)
  if OF_QUOTA['finished\n' .. outcome] and call('HINCRBY', LEFT_OUT, field, -1) <= 0 then
    call('HDEL', LEFT_OUT, field)
  end
  return outcome
end

-- fingerprints of URLs: take it that those that have ended weren't seen, and hold their pages no more
function verbs.lose()
  local lost = 0
  for i = FIRST, #ARGV do
    local bucket, field = seen(ARGV[i])
    local said = call('HGET', bucket, field) or ''
    local waits, held = tonumber(said:match('^%d+$')), tonumber(said:match(':(%d+)$'))
    if held and call('HEXISTS', pages_again.key, held) == 1 then
      write(held, url_of(read(held)))
      pages_again.drop(held)
    elseif waits and known_urls.unend(waits) then
      local url = url_of(read(waits))
      write(waits, url:find('^http') and url or '') -- whole if it is some link's referrer
      waits = nil
    end
    if not waits then lost = lost + call('HDEL', bucket, field) end
  end
  if lost > 0 then known_urls.grow(-lost) end
  flush()
end

-- number, server, each: URLs that are finished and may return, or were postponed: they are due at once.
-- Returns how many still were either.
function verbs.retry()
  local number = 0
  for i = FIRST, #ARGV, 2 do
    local url, member = ARGV[i], ARGV[i] .. ' ' .. ARGV[i + 1]
    local outcome = known_urls.unend(url)
    if outcome then
      call('HSET', TRIES, url, '0 ' .. outcome)
      count(TALLY, 'postponed\n' .. outcome, 1)
    end
    if outcome or call('ZSCORE', LATER, member) then
      call('ZADD', LATER, 0, member)
      number = number + 1
    end
  end
  flush()
  return number
end

-- "kind name" of what has too many URLs, its cells (2 bytes each, the worst first). Returns what is
-- too much still, as one call discards some. If a cell has come that isn't among them, as a URL was
-- found better meanwhile, nothing is discarded: the client must say again which is the worst.
function verbs.discard()
  if behind.go_on(STEPS) then return { 1, flush(), over() } end
  local member, order = ARGV[FIRST], ARGV[FIRST + 1]
  local kind, name = member:match('^(%S+) (.*)$')
  local most_now, given = excess(kind, name), {}
  local left = math.min(most_now, URLS)
  local rest = most_now - left
  for i = 1, #order, 2 do given[order:byte(i) * 256 + order:byte(i + 1)] = true end
  for _, cell in ipairs(left > 0 and cells_of(kind, name) or {}) do
    if not given[cell] then return { 1, flush(), over() } end
  end
  for i = 1, #order, 2 do
    local cell = order:byte(i) * 256 + order:byte(i + 1)
    if kind == 'server' then
      if left > 0 then left = left - discard(name, cell, left, FULL.server) end
    else
      while left > 0 do
        local last = call('ZRANGE', lines(name), cell, cell, 'BYSCORE', 'REV', 'LIMIT', 0, 1)
        if not last[1] then break end
        local server = last[1]:match('^%d+ (.*)$', 5)
        local number = discard(server, cell, left, FULL.site)
        if number == 0 then call('ZREM', lines(name), last[1]) end -- a line without URLs
        left = left - number
      end
    end
  end
  local pending = flush()
  if left + rest <= 0 or #cells_of(kind, name) == 0 then call('SREM', OVER, member) end
  return { 1, pending, over() }
end

-- server, token, ms from the lease until its server is free, each. Returns how many of these leases
-- hadn't ended.
function verbs.release()
  local released = 0
  for i = FIRST, #ARGV, 3 do
    local token, number, since, again = lease_of(ARGV[i])
    if token == ARGV[i + 1] then
      give_back(ARGV[i], number, again)
      rest(ARGV[i], since, ARGV[i + 2])
      released = released + 1
    end
  end
  return { released, flush() }
end

-- The worker ends: it holds no lease any more.
function verbs.leave() call('ZREM', LIVES, worker) end

-- what the worker does now, a point of the course or "", ms in which no other is taken
function verbs.tell()
  local now, point, wait = unpack(ARGV, FIRST, FIRST + 2)
  call('HSET', prefix .. 'now', worker, now)
  if point == '' then return end
  if wait == '0' or call('SET', prefix .. 'told', '', 'NX', 'PX', wait) then
    call('RPUSH', prefix .. 'course', point)
  end
end

-- Na, Nr
function verbs.status()
  return status(tonumber(ARGV[FIRST]), tonumber(ARGV[FIRST + 1]))
end

-- Na, Nr of a server, its site
function verbs.place()
  local pages = {}
  for i = 0, 2, 2 do
    pages[#pages + 1] = {
      downloaded = tonumber(ARGV[FIRST + i]),
      relevant = tonumber(ARGV[FIRST + i + 1]),
    }
  end
  return place_of(unpack(pages))
end

return function(keys, arguments)
  begin(keys, arguments)
  -- Of a slot that a cluster is moving to another node a key that isn't here can't be asked for: so the
  -- call ends here, before it has written.
  call('EXISTS', prefix .. 'never')
  if mark ~= '' then
    if call('HGET', ABOUT, 'mark') ~= mark then return redis.error_reply(LOST) end
    if before ~= '' and verb ~= 'open' then
      local latest = call('HGET', LATEST, worker)
      -- A commit that is asked for again, after a lost connection, may have been done.
      if latest ~= before and latest ~= ARGV[FIRST + 1] then return redis.error_reply(OLDER) end
    end
  end
  arrive(prefix, ARGV[FIRST - 2])
  if ARGV[FIRST - 1] ~= '' then improve_decided(ARGV[FIRST - 1]) end
  return verbs[verb]()
end
