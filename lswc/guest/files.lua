-- Files of servers' rules that workers share, by what rides.lua keeps of them: clock.lua and that stand before
-- this file. KEYS: the clock, the hash of files.
-- ARGV     what goes with the call; names of files. Returns the ms that each still holds, and its bytes; or
--          false of those that aren't known

arrive(KEYS[1]:sub(1, -6), ARGV[1])
local now, found = redis_clock(KEYS[1]), {}
for i, known in ipairs(redis.call('HMGET', KEYS[2], unpack(ARGV, 2))) do
  local till, bytes = (known or ''):match('^(%d+) (.*)$')
  found[i] = till and tonumber(till) > now and { tonumber(till) - now, bytes } or false
end
return found
