-- What goes with a call, whatever that is for (lswc.frontier.rides): of each its kind, name and value, behind
-- their lengths, the ms that are left, and how many are kept. `prefix` begins every key of the crawl.
--
-- slots:<group>  zset   token -> when its slot is free, in ms
-- groups         hash   web server -> slots and name of each group that its requests take one of, a line each
-- rules          hash   file -> when it ends in ms, a space, its bytes
-- rules:until    zset   file -> when it ends

local rides = {}

-- A slot is given back: the value is its token.
function rides.slot(prefix, now, group, token, left)
  local key = prefix .. 'slots:' .. group
  if left > 0 then
    redis.call('ZADD', key, now + left, token)
    redis.call('PEXPIRE', key, math.max(left, redis.call('PTTL', key)))
  else
    redis.call('ZREM', key, token)
  end
end

-- The groups of a web server's requests are known: the value is as `groups` has it. All are forgotten when
-- they are too many.
function rides.groups(prefix, _, server, groups, _, most)
  local key = prefix .. 'groups'
  redis.call('HSET', key, server, groups)
  if redis.call('HLEN', key) > most then redis.call('UNLINK', key) end
end

-- A file of a server's rules: the value is its bytes. Those are kept that end last.
function rides.file(prefix, now, file, bytes, left, most)
  local rules, ends = prefix .. 'rules', prefix .. 'rules:until'
  local till = string.format('%.0f', now + left)
  redis.call('HSET', rules, file, till .. ' ' .. bytes)
  redis.call('ZADD', ends, till, file)
  local first = redis.call('ZRANGE', ends, '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)
  local more = redis.call('ZCARD', ends) - #first - most
  if more > 0 then first = redis.call('ZRANGE', ends, 0, #first + more - 1) end
  for _, old in ipairs(first) do
    redis.call('ZREM', ends, old)
    redis.call('HDEL', rules, old)
  end
end

local function arrive(prefix, packed)
  local at, now = 1, packed ~= '' and redis_clock(prefix .. 'clock')
  while at <= #packed do
    local kind, name, value, left, most
    kind, name, value, left, most, at = struct.unpack('>I1c0I2c0I4c0I4I4', packed, at)
    rides[kind](prefix, now, name, value, left, most)
  end
end

-- Take a slot of each group: `names` and how many `slots` each has. A dead worker's slot is free after `life` ms.
-- Return 0, or ms to wait and for which of them, from 0.
local function take_slots(prefix, names, slots, token, life)
  local now, wait, full = redis_clock(prefix .. 'clock'), 0, 0
  for i, name in ipairs(names) do
    local key = prefix .. 'slots:' .. name
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    if redis.call('ZCARD', key) >= tonumber(slots[i]) then
      local left = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] - now
      if left > wait then wait, full = left, i - 1 end
    end
  end
  if wait > 0 then return wait, full end
  for _, name in ipairs(names) do
    local key = prefix .. 'slots:' .. name
    redis.call('ZADD', key, now + life, token)
    redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
  end
  return 0, 0
end
