-- Slots of groups: each key but the first, which is the clock's (clock.lua stands before this file),
-- is a sorted set, token -> when its slot is free, in ms.
-- ARGV     how many slots are given back, one of each key that comes next; the token, and the ms that
--          the slot rests, of each; verb, and what it needs for the keys after those
-- take: token, ms until a dead worker's slot is free, slots of each key. Returns 0, or ms to wait and for which of them, from 0.
-- renew: ms until then from now on, a token of each key.

local now = redis_clock(KEYS[1])
local given = tonumber(ARGV[1])

for i = 1, given do
  local key, token, rest = KEYS[1 + i], ARGV[2 * i], tonumber(ARGV[2 * i + 1])
  if rest > 0 then
    redis.call('ZADD', key, now + rest, token)
    redis.call('PEXPIRE', key, math.max(rest, redis.call('PTTL', key)))
  else
    redis.call('ZREM', key, token)
  end
end

local keys, own = { unpack(KEYS, 2 + given) }, 2 + 2 * given
local verb = ARGV[own]

if verb == 'renew' then
  local life = tonumber(ARGV[own + 1])
  for i, key in ipairs(keys) do
    redis.call('ZADD', key, 'XX', now + life, ARGV[own + 1 + i])
    redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
  end
end
if verb ~= 'take' then return { 0, 0 } end

local token, life, wait, full = ARGV[own + 1], tonumber(ARGV[own + 2]), 0, 0
for i, key in ipairs(keys) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[own + 2 + i]) then
    local left = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] - now
    if left > wait then wait, full = left, i - 1 end
  end
end
if wait > 0 then return { wait, full } end
for _, key in ipairs(keys) do
  redis.call('ZADD', key, now + life, token)
  redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
end
return { 0, 0 }
