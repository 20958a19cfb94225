-- Files of servers' rules that workers share. KEYS: the clock (clock.lua stands before this file), the
-- hash file -> when it ends in ms, a space, its bytes; the sorted set file -> when it ends.
-- get: file. Returns the ms that it still holds, and its bytes; or nothing.
-- put: file, ms that it holds, its bytes, how many files are kept at most: those that end last.

local verb, file = ARGV[1], ARGV[2]
local now = redis_clock(KEYS[1])

if verb == 'get' then
  local found = redis.call('HGET', KEYS[2], file)
  local till, body = (found or ''):match('^(%d+) (.*)$')
  if not till or tonumber(till) <= now then return false end
  return { tonumber(till) - now, body }
end

local till = string.format('%.0f', now + ARGV[3])
redis.call('HSET', KEYS[2], file, till .. ' ' .. ARGV[4])
redis.call('ZADD', KEYS[3], till, file)
local first = redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)
local more = redis.call('ZCARD', KEYS[3]) - #first - tonumber(ARGV[5])
if more > 0 then first = redis.call('ZRANGE', KEYS[3], 0, #first + more - 1) end
for _, old in ipairs(first) do
  redis.call('ZREM', KEYS[3], old)
  redis.call('HDEL', KEYS[2], old)
end
