-- Verbs of a rebalance (rebalance.py), which stand before the end of redis.lua: no worker runs. The
-- first argument of those that write is the token of who does it: another that began later has the last.

do
  local PIECE = 2 * STEPS -- URLs of a call

  local function family_ends(server)
    local family = call('HGET', BUSY_FOR, server)
    if not family then return end
    call('HDEL', BUSY_FOR, server)
    if call('HINCRBY', BUSY_FAMILIES, family, -1) <= 0 then call('HDEL', BUSY_FAMILIES, family) end
  end

  -- What stays of a URL that another server has now: its name, if a link may have come from it.
  local function leave(number)
    local record = read(number)
    local url = record and record:byte(1) == 0 and url_of(record) or ''
    if record and record:byte(1) == 0 then write(number, url:find('^http') and url or '') end
    call('HDEL', TRIES, number)
  end

  -- The number that a site has here, 0 if it is "".
  local function number_of(site)
    if site == '' then return 0 end
    local found = family_of_site(site)
    if found.number == 0 then
      found.number, found.level = call('HINCRBY', ABOUT, 'sites', 1), PROVEN
      keep_site(site, found)
    end
    return found.number
  end

  local function name_head(site)
    if site ~= '' then call('HSET', HEADS, digits(number_of(site)), site) end
  end

  -- A verb of whoever began the latest rebalance.
  local function own(verb)
    return function()
      if call('HGET', ABOUT, 'rebalancer') ~= ARGV[FIRST] then
        return redis.error_reply('OTHER rebalance of the crawl has begun meanwhile')
      end
      return verb()
    end
  end

  -- Returns the names of the workers that live, and how many leases haven't ended.
  function verbs.alive()
    local time, left = redis_clock(prefix .. 'clock'), 0
    for _, server in ipairs(call('HKEYS', LEASES)) do
      local till = call('ZSCORE', BUSY, server)
      if till and tonumber(till) > time then left = left + 1 end
    end
    return { call('ZRANGE', LIVES, '(' .. digits(time), '+inf', 'BYSCORE'), left }
  end

  -- Give back the leases of the dead, and bring all servers to their places. Returns whether there is
  -- more to do.
  verbs.settle = own(function()
    local steps = 0
    for _, server in ipairs(call('HKEYS', LEASES)) do
      local _, number, _, again = lease_of(server)
      give_back(server, number, again)
      free(server)
      steps = steps + 1
      if steps == STEPS then break end
    end
    local more = behind.go_on(STEPS) or call('EXISTS', LEASES) == 1
    flush()
    return more and 1 or 0
  end)

  -- number of words, command, key without prefix, ..., each
  verbs.write = own(function()
    local i = FIRST + 1
    while i <= #ARGV do
      local last = i + ARGV[i]
      call(ARGV[i + 1], prefix .. ARGV[i + 2], unpack(ARGV, i + 3, last))
      i = last + 1
    end
  end)

  -- site, level, names of its family and branch or "", pages, number of supporters, their names, each
  verbs.adopt_sites = own(function()
    local i = FIRST + 1
    while i <= #ARGV do
      local site, level, family, branch, pages, number = unpack(ARGV, i, i + 5)
      local own = tonumber(level) ~= NEW and number_of(site) or 0
      local supporters = {}
      for n = 1, number do supporters[n] = number_of(ARGV[i + 5 + n]) end
      keep_site(site, {
        level = tonumber(level), number = own, family = number_of(family), branch = number_of(branch),
        supporters = supporters, pages = pages,
      })
      if tonumber(level) == UNPROVEN then
        name_head(family)
        if branch ~= site then name_head(branch) end
      end
      i = i + 6 + number
    end
  end)

  -- server or directory, site of a server or "", what `units` has of it or "", each
  verbs.adopt_servers = own(function()
    for i = FIRST + 1, #ARGV, 3 do
      local name, site, text = unpack(ARGV, i, i + 2)
      if text == '' then
        call('HSET', SERVERS, name, call('HLEN', SERVERS) .. ' ' .. site)
      else
        local pages = parse(text)
        pages.number, pages.site = nil, nil
        if site ~= '' then
          pages.number, pages.site = call('HLEN', UNITS), site
          if learns or supports then call('SADD', set_of_site(site), name) end
        end
        keep(UNITS, name, pages)
        count(STATUSES, status(pages.downloaded, pages.relevant), 1)
      end
    end
    flush()
  end)

  -- "pending", "later", "failed" or "name" (of a URL that others link from), server, referrer's number
  -- here, record without referrer (or the URL), when it is due or how it ended, tries, each
  verbs.adopt_urls = own(function()
    local touched = {}
    for i = FIRST + 1, #ARGV, 6 do
      local state, server, referrer, record, more, tries = unpack(ARGV, i, i + 5)
      if state ~= 'name' then record = struct.pack('>I5', referrer) .. record end
      local number = call('HINCRBY', ABOUT, 'next', 1)
      local name = digits(number)
      call('RPUSH', place(number), record)
      if tries ~= '' then call('HSET', TRIES, name, tries) end
      if state == 'pending' then
        local unit = unit_of(record, server)
        local line, cell = line_of(record, unit)
        put(server, unit, name, line, cell)
        count(WAITING, site_of(server), 1)
        touched[server] = touched[server] or {}
        touched[server][line] = cell
      elseif state == 'later' then
        call('ZADD', LATER, more, name .. ' ' .. server)
        count(TALLY, 'postponed\n' .. tries:match('%d+ (.*)'), 1)
      elseif state == 'failed' then
        call('HSET', FAILED, name, more .. '\n' .. server)
        count(TALLY, 'finished\n' .. more, 1)
      end
    end
    for server, found in pairs(touched) do
      for line, cell in pairs(found) do
        set_head(server, line, cell)
        set_line(server, line, cell)
      end
      if not is_busy(server) then call('SADD', FREE, server) end
    end
    flush()
  end)

  -- key, what is kept of its URL, each
  verbs.adopt_seen = own(function()
    local number = 0
    for i = FIRST + 1, #ARGV, 2 do
      local bucket, field = seen(ARGV[i])
      number = number + call('HSET', bucket, field, ARGV[i + 1])
    end
    known_urls.grow(number)
  end)

  -- number of a hash of `seen`, its fields of URLs that another server has now
  verbs.abandon_seen = own(function()
    local number = call('HDEL', prefix .. 'seen:' .. ARGV[FIRST + 1], unpack(ARGV, FIRST + 2))
    call('HINCRBY', ABOUT, 'known', -number)
  end)

  -- server. Forget it, and what waits of it; returns whether more does.
  verbs.abandon = own(function()
    local server, touched = ARGV[FIRST + 1], {}
    local found = call('ZRANGE', queue(server), 0, PIECE - 1)
    for _, name in ipairs(found) do
      local number = tonumber(name)
      local record = read(number)
      local unit = unit_of(record, server)
      local line, cell = line_of(record, unit)
      take(server, unit, name, cell)
      count(WAITING, site_of(server), -1)
      touched[line] = cell
      leave(number)
    end
    for line, cell in pairs(touched) do
      if next_line(server, line) ~= line then forget_line(server, line, cell) end
    end
    if #found < PIECE then
      family_ends(server)
      call('HDEL', ASIDE, server)
      call('SREM', FREE, server)
      call('ZREM', BUSY, server)
      call('SREM', set_of_site(site_of(server)), server)
      if by_directory then
        call('HDEL', SERVERS, server)
      else
        local pages = unit_pages(server)
        count(STATUSES, status(pages.downloaded, pages.relevant), -1)
        call('HDEL', UNITS, server)
      end
    end
    flush()
    return #found == PIECE and 1 or 0
  end)

  -- directories
  verbs.abandon_units = own(function()
    for i = FIRST + 1, #ARGV do
      local text = call('HGET', UNITS, ARGV[i])
      if text then
        local pages = parse(text)
        count(STATUSES, status(pages.downloaded, pages.relevant), -1)
        call('HDEL', UNITS, ARGV[i])
      end
    end
    flush()
  end)

  -- number, server, each, of URLs that were postponed, or ended so that they may return
  verbs.abandon_urls = own(function()
    for i = FIRST + 1, #ARGV, 2 do
      local number, server = ARGV[i], ARGV[i + 1]
      local failed, tries = call('HGET', FAILED, number), call('HGET', TRIES, number)
      if failed then
        count(TALLY, 'finished\n' .. failed:match('^(.-)\n'), -1)
        call('HDEL', FAILED, number)
      end
      if call('ZREM', LATER, number .. ' ' .. server) == 1 then
        count(TALLY, 'postponed\n' .. tries:match('%d+ (.*)'), -1)
      end
      leave(tonumber(number))
    end
    flush()
  end)

  -- sites: what others here go by stays, their numbers
  verbs.abandon_sites = own(function()
    for i = FIRST + 1, #ARGV do
      local site = ARGV[i]
      local found = family_of_site(site)
      call('DEL', lines(site), set_of_site(site))
      if found.number == 0 then
        call('HDEL', SITES, site)
      else
        found.pages = '0 0 0'
        keep_site(site, found)
      end
    end
  end)

  -- Count the families of unproven sites anew: what is a small one depends on the number of servers.
  verbs.recount = own(function()
    local all, large_ones, found = 0, 0, call('HGETALL', FAMILY_SITES)
    for i = 1, #found, 2 do
      if found[i]:find('^[1-9]') and tonumber(found[i + 1]) > 0 then
        all = all + 1
        if tonumber(found[i + 1]) > small_family then large_ones = large_ones + 1 end
      end
    end
    if #found > 0 then call('HSET', FAMILY_SITES, 'families', all, 'large', large_ones) end
  end)
end
