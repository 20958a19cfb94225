-- A clock of Redis's that never goes back: if the machine's does, it goes on from where it was.
-- Else servers would rest, and leases last, as long as that step.

local function redis_clock(key)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local known = redis.call('HMGET', key, 'last', 'ahead')
  local last, ahead = tonumber(known[1] or 0), tonumber(known[2] or 0)
  if now < last then
    ahead = ahead + last - now
    redis.call('HSET', key, 'last', now, 'ahead', ahead)
  elseif now > last + 200 then -- not at each call: a smaller step costs less than that
    redis.call('HSET', key, 'last', now)
  end
  return now + ahead
end
