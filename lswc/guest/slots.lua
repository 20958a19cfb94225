-- Slots of groups: each key but the first, which is the clock's (clock.lua and rides.lua stand before this
-- file), is a sorted set, token -> when its slot is free, in ms.
-- ARGV     what goes with the call; verb, and what it needs for the keys
-- take: token, ms until a dead worker's slot is free, slots of each key. Returns 0, or ms to wait and for which of them, from 0.
-- renew: ms until then from now on, a token of each key.

arrive(KEYS[1]:sub(1, -6), ARGV[1])
local now, verb = redis_clock(KEYS[1]), ARGV[2]
local keys = { unpack(KEYS, 2) }

if verb == 'renew' then
  local life = tonumber(ARGV[3])
  for i, key in ipairs(keys) do
    redis.call('ZADD', key, 'XX', now + life, ARGV[3 + i])
    redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
  end
end
if verb ~= 'take' then return { 0, 0 } end

local token, life, wait, full = ARGV[3], tonumber(ARGV[4]), 0, 0
for i, key in ipairs(keys) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[4 + i]) then
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
