-- Slots of groups: each key is a sorted set, token -> when its slot is free (ms of Redis's clock).
-- take: token, ms until a dead worker's slot is free, slots of each key. Returns 0, or ms to wait.
-- give back: token, ms that the slot rests.

local verb, token = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

if verb == 'give back' then
  local rest = tonumber(ARGV[3])
  if rest > 0 then
    redis.call('ZADD', KEYS[1], now + rest, token)
  else
    redis.call('ZREM', KEYS[1], token)
  end
  return 0
end

local life = tonumber(ARGV[3])
local wait = 0
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  -- No slot is taken, or rests, for longer than a life: the clock was put back.
  for _, late in ipairs(redis.call('ZRANGE', key, '(' .. now + life, '+inf', 'BYSCORE')) do
    redis.call('ZADD', key, now + life, late)
  end
  if redis.call('ZCARD', key) >= tonumber(ARGV[3 + i]) then
    wait = math.max(wait, redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] - now)
  end
end
if wait > 0 then return wait end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + life, token)
  redis.call('PEXPIRE', key, 2 * life)
end
return 0
