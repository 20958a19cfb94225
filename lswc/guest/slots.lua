-- Slots of groups: each key but the first, which is the clock's (clock.lua stands before this file),
-- is a sorted set, token -> when its slot is free, in ms.
-- take: token, ms until a dead worker's slot is free, slots of each key. Returns 0, or ms to wait.
-- renew: ms until then from now on, a token of each key.
-- give back: token, ms that the slot rests.

local verb, token = ARGV[1], ARGV[2]
local now = redis_clock(KEYS[1])

if verb == 'give back' then
  local rest = tonumber(ARGV[3])
  if rest > 0 then
    redis.call('ZADD', KEYS[2], now + rest, token)
    redis.call('PEXPIRE', KEYS[2], math.max(rest, redis.call('PTTL', KEYS[2])))
  else
    redis.call('ZREM', KEYS[2], token)
  end
  return 0
end

if verb == 'renew' then
  local life = tonumber(ARGV[2])
  for i, key in ipairs({ unpack(KEYS, 2) }) do
    redis.call('ZADD', key, 'XX', now + life, ARGV[2 + i])
    redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
  end
  return 0
end

local life = tonumber(ARGV[3])
local wait = 0
for i, key in ipairs({ unpack(KEYS, 2) }) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[3 + i]) then
    wait = math.max(wait, redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] - now)
  end
end
if wait > 0 then return wait end
for _, key in ipairs({ unpack(KEYS, 2) }) do
  redis.call('ZADD', key, now + life, token)
  redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
end
return 0
