-- The frontier's verbs, run inside Redis: each call is atomic for all workers.
--
-- KEYS[1]  "{<crawl>}:about"; every key of the crawl begins with "{<crawl>}:", so they share a slot
-- ARGV     verb, now in ms ("" for Redis's own clock), T, classes, "1" if counting by directory,
--          delay in ms; then the verb's own
--
-- about          hash   what the crawl is, and "next", the number of URLs so far
-- seen:<n>       hash   fingerprint -> the URL's number; once the URL is finished "", or "http" if
--                       that only redirected
-- urls:<n>       list   64 URLs by number: a record while pending or leased; afterwards the URL if
--                       it is some link's referrer, else "" (as for a discarded URL)
-- queue:<server> zset   number of a pending URL -> rank; best first
-- free           zset   server that may be leased -> rank of its best URL
-- busy           zset   server -> when it's looked at again: its lease expires, or it is rested
-- leases         hash   server -> "token number since" of its lease
-- servers        set    all servers; only if counting by directory
-- units          hash   server or directory -> "Na Nr"
-- of:<unit>      set    numbers of a directory's pending URLs; only if counting by directory
-- pending        hash   tier -> number of URLs
-- statuses       hash   status -> number of units
-- tally          hash   "kind\nname" -> count
-- records        hash   worker -> lengths of its files in bytes, as JSON
-- latest         hash   worker -> number of the URL that it finished last
--
-- A rank orders by tier, then first in first out: tier * 2^40 + number, exact in a double.
-- A record: referrer's number (5 bytes, big-endian, 0 for none), then what the client packed:
-- 1 + tier under each of the 4 statuses (0: discard), distance, code (2 bytes), depth (2), inherited,
-- redirects, the unit ("" if it is the server), NUL, the URL. The tiers come with the URL, so no
-- strategy is known here and asking one again is reading one byte.

local prefix = KEYS[1]:sub(1, -6)
local verb, clock, tolerated, classes = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local by_directory, delay = ARGV[5] == '1', tonumber(ARGV[6])
local FIRST = 7 -- of the verb's own arguments
local STEP, CHUNK = 2 ^ 40, 64
local TIERS, DISTANCE, DEPTH, REDIRECTS, UNIT = 6, 10, 13, 16, 17 -- offsets in a record
local DISCARD = -1
local ABOUT, FREE, BUSY = KEYS[1], prefix .. 'free', prefix .. 'busy'
local LEASES, SERVERS = prefix .. 'leases', prefix .. 'servers'
local UNITS, RECORDS, LATEST = prefix .. 'units', prefix .. 'records', prefix .. 'latest'
local PENDING, STATUSES, TALLY = prefix .. 'pending', prefix .. 'statuses', prefix .. 'tally'
local call = redis.call

local changes = { [PENDING] = {}, [STATUSES] = {}, [TALLY] = {} }

local function count(hash, field, by)
  changes[hash][field] = (changes[hash][field] or 0) + by
end

local function flush()
  for hash, fields in pairs(changes) do
    for field, by in pairs(fields) do
      if by ~= 0 then call('HINCRBY', hash, field, by) end
    end
  end
end

local function drop(number)
  count(TALLY, 'dropped\nserver became irrelevant', number)
end

local function now()
  if clock ~= '' then return tonumber(clock) end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function queue(server) return prefix .. 'queue:' .. server end

local function of(unit) return prefix .. 'of:' .. unit end

-- 65,536 buckets keep each hash in Redis's compact encoding up to 33 million URLs.
local function seen(fingerprint)
  return prefix .. 'seen:' .. fingerprint:byte(1) * 256 + fingerprint:byte(2), fingerprint:sub(3)
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

-- lswc.strategy.status, and a test holds that they are equal.
local function status(downloaded, relevant)
  if relevant > 0 then return 2 end
  if downloaded > tolerated then return 3 end
  if downloaded == 0 then return 0 end
  return 1
end

local function counters(unit)
  local downloaded, relevant = (call('HGET', UNITS, unit) or ''):match('(%d+) (%d+)')
  return tonumber(downloaded), tonumber(relevant)
end

local function status_of(unit)
  local downloaded, relevant = counters(unit)
  if not downloaded then
    call('HSET', UNITS, unit, '0 0')
    count(STATUSES, 0, 1)
    return 0
  end
  return status(downloaded, relevant)
end

local function tier_of(record, state) return record:byte(TIERS + state) - 1 end

local function depth_of(record) return record:byte(DEPTH) * 256 + record:byte(DEPTH + 1) end

local function with_depth_of(record, other)
  return record:sub(1, DEPTH - 1) .. other:sub(DEPTH, DEPTH + 1) .. record:sub(DEPTH + 2)
end

local function unit_of(record, server)
  if record:byte(UNIT) == 0 then return server end
  return record:sub(UNIT, record:find('\0', UNIT, true) - 1)
end

local function url_of(record) return record:sub(record:find('\0', UNIT, true) + 1) end

-- Bring `free` up to date with a server's queue, unless the server is busy.
local function set_head(server)
  if call('ZSCORE', BUSY, server) then return end
  local head = call('ZRANGE', queue(server), 0, 0, 'WITHSCORES')
  if head[2] then
    call('ZADD', FREE, head[2], server)
  else
    call('ZREM', FREE, server)
  end
end

local function put(server, unit, number, tier)
  call('ZADD', queue(server), tier * STEP + number, number)
  if by_directory then call('SADD', of(unit), number) end
  count(PENDING, tier, 1)
end

local function take(server, unit, number, tier)
  call('ZREM', queue(server), number)
  if by_directory then call('SREM', of(unit), number) end
  count(PENDING, tier, -1)
end

local function move(server, number, from, to)
  call('ZADD', queue(server), to * STEP + number, number)
  count(PENDING, from, -1)
  count(PENDING, to, 1)
end

-- A unit's status changed: ask the strategy again about its pending URLs.
local function ask_again(server, unit, before, after)
  local numbers
  if by_directory then
    numbers = call('SMEMBERS', of(unit))
  else
    numbers = call('ZRANGE', queue(server), 0, -1)
  end
  for _, number in ipairs(numbers) do
    number = tonumber(number)
    local record = read(number)
    local from, to = tier_of(record, before), tier_of(record, after)
    if to == DISCARD then
      take(server, unit, number, from)
      write(number, '')
      drop(1)
    elseif to ~= from then
      move(server, number, from, to)
    end
  end
end

local function count_page(server, unit, is_relevant)
  local downloaded, relevant = counters(unit)
  local before = status(downloaded, relevant)
  downloaded, relevant = downloaded + 1, relevant + is_relevant
  call('HSET', UNITS, unit, downloaded .. ' ' .. relevant)
  local after = status(downloaded, relevant)
  if before == after then return end
  count(STATUSES, before, -1)
  count(STATUSES, after, 1)
  -- Equal classes: the strategy gives every link the same tier under both.
  if classes:byte(before + 1) ~= classes:byte(after + 1) then
    ask_again(server, unit, before, after)
  end
end

local function rediscover(server, number, known, record, state)
  local tier, known_tier = tier_of(record, state), tier_of(known, state)
  local nearer = record:byte(DISTANCE) < known:byte(DISTANCE)
  if tier < known_tier or tier == known_tier and nearer then
    record = record:sub(1, UNIT - 1) .. known:sub(UNIT) -- the URL stays, its twin may have come
    if depth_of(known) < depth_of(record) then record = with_depth_of(record, known) end
    write(number, record)
    if call('ZSCORE', queue(server), number) then -- else it is leased
      move(server, number, known_tier, tier)
    end
    return true
  end
  if depth_of(record) < depth_of(known) then write(number, with_depth_of(known, record)) end
  return false
end

local function add(server, unit, record, tier)
  local number = call('HINCRBY', ABOUT, 'next', 1)
  local list = place(number)
  call('RPUSH', list, record)
  put(server, unit, number, tier)
  return number
end

-- lswc.frontier.contract.is_twin_of_redirect, and a test holds that they are equal.
local function is_twin_of_redirect(record)
  return record:byte(REDIRECTS) > 0 and url_of(record):sub(1, 6) == 'https:'
end

-- Store the offers from ARGV[first] on: server, fingerprint, record without referrer, each.
-- Return whether any of them keeps the referrer.
local function store(first, referrer)
  local touched, kept = {}, false
  local from = struct.pack('>I5', referrer)
  for i = first, #ARGV, 3 do
    local server, record = ARGV[i], from .. ARGV[i + 2]
    local unit = unit_of(record, server)
    if by_directory then call('SADD', SERVERS, server) end
    local state = status_of(unit)
    local tier = tier_of(record, state)
    if tier == DISCARD then
      drop(1) -- the status changed since the strategy was asked
    else
      local bucket, field = seen(ARGV[i + 1])
      local number = call('HGET', bucket, field)
      if number == 'http' then number = not is_twin_of_redirect(record) and '' end
      if number ~= '' then -- else it is finished
        local known = number and read(number) or ''
        if known == '' then -- never seen, or discarded since
          call('HSET', bucket, field, add(server, unit, record, tier))
          kept = true
        elseif rediscover(server, tonumber(number), known, record, state) then
          kept = true
        end
        touched[server] = true
      end
    end
  end
  for server in pairs(touched) do set_head(server) end
  return kept
end

local function lease_of(server)
  local lease = call('HGET', LEASES, server)
  if not lease then return nil end
  local token, number, since = lease:match('(%S+) (%d+) (%d+)')
  return token, tonumber(number), tonumber(since)
end

-- Make a leased URL pending again. Its server's state is the caller's to set.
local function give_back(server, number)
  call('HDEL', LEASES, server)
  local record = read(number)
  local unit = unit_of(record, server)
  local tier = tier_of(record, status_of(unit))
  if tier == DISCARD then
    write(number, '')
    drop(1)
  else
    put(server, unit, number, tier)
  end
end

-- The delay counts from the end of a request: however late it was sent after its lease, and
-- whatever the worker asked of the server before (robots.txt), the next one comes later still.
local function rest(server, till)
  if till then
    call('ZADD', BUSY, till, server)
  else
    call('ZREM', BUSY, server)
    set_head(server)
  end
end

-- Free the servers that are rested, and those whose lease expired because its worker died.
local function wake(time)
  for _, server in ipairs(call('ZRANGE', BUSY, '-inf', time, 'BYSCORE')) do
    local token, number, since = lease_of(server)
    if token then give_back(server, number) end
    rest(server, token and since + delay > time and since + delay)
  end
end

local verbs = {}

-- worker; identity: field, value, ...
function verbs.open()
  if call('EXISTS', ABOUT) == 0 then call('HSET', ABOUT, unpack(ARGV, FIRST + 1)) end
  call('HSETNX', RECORDS, ARGV[FIRST], '{}')
  return call('HGETALL', ABOUT)
end

-- offers
function verbs.offer()
  store(FIRST, 0)
  flush()
end

-- token, time to live in ms
function verbs.lease()
  local time = now()
  wake(time)
  local server = call('ZRANGE', FREE, 0, 0)[1]
  if not server then
    flush()
    return { time }
  end
  local head = call('ZRANGE', queue(server), 0, 0, 'WITHSCORES')
  local number, tier = tonumber(head[1]), math.floor(head[2] / STEP)
  local record = read(number)
  take(server, unit_of(record, server), number, tier)
  call('ZREM', FREE, server)
  call('ZADD', BUSY, time + ARGV[FIRST + 1], server)
  call('HSET', LEASES, server, ARGV[FIRST] .. ' ' .. number .. ' ' .. time)
  flush()
  local referrer = struct.unpack('>I5', record)
  return { time, server, number, tier, record:sub(TIERS), referrer > 0 and read(referrer) }
end

-- token, time to live in ms, servers
function verbs.renew()
  local till = now() + ARGV[FIRST + 1]
  for i = FIRST + 2, #ARGV do
    if lease_of(ARGV[i]) == ARGV[FIRST] then call('ZADD', BUSY, till, ARGV[i]) end
  end
end

-- token, server, number, fingerprint, "1" if relevant, "0" if not, "" if it is no page, worker,
-- lengths of its files or "", what `seen` keeps of it, number of tallies; tallies: field, count;
-- offers
function verbs.finish()
  local token, server, ended, fingerprint = unpack(ARGV, FIRST, FIRST + 3)
  local relevant, worker, length, kept, tallies = unpack(ARGV, FIRST + 4, FIRST + 8)
  local held, number, since = lease_of(server)
  if held ~= token or number ~= tonumber(ended) then
    -- After a lost connection the client asks again, though the first time may have done it.
    return call('HGET', LATEST, worker) == ended and 1 or 0
  end
  call('HSET', LATEST, worker, ended)
  call('HDEL', LEASES, server)
  local bucket, field = seen(fingerprint)
  call('HSET', bucket, field, kept)
  local record = read(number)
  local unit = unit_of(record, server)
  if relevant ~= '' then count_page(server, unit, tonumber(relevant)) end
  local offers = FIRST + 9 + 2 * tallies
  write(number, store(offers, number) and url_of(record) or '')
  rest(server, delay > 0 and math.max(since, now()) + delay)
  for i = FIRST + 9, offers - 1, 2 do count(TALLY, ARGV[i], ARGV[i + 1]) end
  if length ~= '' then call('HSET', RECORDS, worker, length) end
  flush()
  return 1
end

-- token, servers
function verbs.release()
  for i = FIRST + 1, #ARGV do
    local token, number, since = lease_of(ARGV[i])
    if token == ARGV[FIRST] then
      give_back(ARGV[i], number)
      rest(ARGV[i], delay > 0 and math.max(since, now()) + delay)
    end
  end
  flush()
end

-- Na, Nr
function verbs.status()
  return status(tonumber(ARGV[FIRST]), tonumber(ARGV[FIRST + 1]))
end

return verbs[verb]()
