-- Slots of groups, as rides.lua has them: clock.lua and that stand before this file. KEYS: the clock.
-- ARGV     what goes with the call; verb, and what it needs
-- take: token, ms until a dead worker's slot is free, slots and name of each group. Returns as `take_slots` does.
-- renew: ms until then from now on, token and group of each slot.

local prefix = KEYS[1]:sub(1, -6)
arrive(prefix, ARGV[1])

local firsts, names = {}, {}
local verb, at = ARGV[2], ARGV[2] == 'take' and 5 or 4
for i = at, #ARGV, 2 do firsts[#firsts + 1], names[#names + 1] = ARGV[i], ARGV[i + 1] end
if verb == 'take' then return { take_slots(prefix, names, firsts, ARGV[3], tonumber(ARGV[4])) } end
if verb == 'renew' then
  local now, life = redis_clock(KEYS[1]), tonumber(ARGV[3])
  for i, name in ipairs(names) do
    local key = prefix .. 'slots:' .. name
    redis.call('ZADD', key, 'XX', now + life, firsts[i])
    redis.call('PEXPIRE', key, math.max(2 * life, redis.call('PTTL', key)))
  end
end
return { 0, 0 }
