/**
 * Each script is one atomic step. The time is the server's, so processes need not agree on it.
 * Keys of a queue, in this order wherever several are used: ids, dead, members, leases, streams.
 */

/**
 * ids, streams; how many may wait, then triples of partition, key, record. A record that waits already is not
 * added again. Answers 0 where there is no room.
 */
export const PUT = `
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
for i = 2, #ARGV, 3 do
  if redis.call('SADD', KEYS[1], ARGV[i + 1]) == 1 then
    redis.call('XADD', KEYS[1 + tonumber(ARGV[i])], '*', 'r', ARGV[i + 2])
  end
end
return 1`;

/** ids, streams; group, then triples of partition, entry, key. */
export const DONE = `
for i = 2, #ARGV, 3 do
  local stream = KEYS[1 + tonumber(ARGV[i])]
  redis.call('XACK', stream, ARGV[1], ARGV[i + 1])
  redis.call('XDEL', stream, ARGV[i + 1])
  redis.call('SREM', KEYS[1], ARGV[i + 2])
end`;

/** ids, dead, stream; group, entry, key, record, reason. Only what still stands in the queue dies. */
export const BURY = `
redis.call('XACK', KEYS[3], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[3], ARGV[2]) == 0 then return 0 end
redis.call('SREM', KEYS[1], ARGV[3])
redis.call('XADD', KEYS[2], '*', 'r', ARGV[4], 'reason', ARGV[5])
return 1`;

/**
 * ids, dead, streams; how many may wait, then dead letter, partition, key, record of each. Answers how many
 * went from the dead letters into the queue, or -1 where there is no room.
 */
export const RESEND = `
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[1]) then return -1 end
local resent = 0
for i = 2, #ARGV, 4 do
  if redis.call('XDEL', KEYS[2], ARGV[i]) == 1 then
    resent = resent + 1
    if redis.call('SADD', KEYS[1], ARGV[i + 2]) == 1 then
      redis.call('XADD', KEYS[2 + tonumber(ARGV[i + 1])], '*', 'r', ARGV[i + 3])
    end
  end
end
return resent`;

/**
 * members, then leases, then streams; group, me, lease in ms, whether to tell all that is pending, then how
 * many new entries each partition has room for. Renews the partitions that are mine, takes free ones up to a
 * fair share, claims what their last holder had read, and reads on. Answers
 * { share, { partition, isFresh, { entry, times given, record }… }… }.
 *
 * The lease says that nobody else works on a partition, so its last holder is dead or has lost it, and all
 * that is pending is claimed whatever its idle time.
 */
export const READ = `
local n = (#KEYS - 1) / 2
local group, me, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
redis.call('ZADD', KEYS[1], now, me)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lease)
local share = math.ceil(n / redis.call('ZCARD', KEYS[1]))
local mine, held = {}, 0
for i = 1, n do
  if redis.call('GET', KEYS[1 + i]) == me then
    redis.call('PEXPIRE', KEYS[1 + i], lease)
    mine[i] = 'held'
    held = held + 1
  end
end
for i = 1, n do
  if not mine[i] and held < share and redis.call('SET', KEYS[1 + i], me, 'NX', 'PX', lease) then
    redis.pcall('XGROUP', 'CREATE', KEYS[1 + n + i], group, '0', 'MKSTREAM')
    mine[i] = 'fresh'
    held = held + 1
  end
end
local answer = { share }
for i = 1, n do
  local room = tonumber(ARGV[4 + i])
  if mine[i] then
    local stream = KEYS[1 + n + i]
    local found = { i, mine[i] == 'fresh' and 1 or 0 }
    if mine[i] == 'fresh' or ARGV[4] == 'pending' then
      local from = '0-0'
      repeat
        local claimed = redis.call('XAUTOCLAIM', stream, group, me, 0, from, 'COUNT', 1000)
        from = claimed[1]
        for _, entry in ipairs(claimed[2]) do
          local pending = redis.call('XPENDING', stream, group, entry[1], entry[1], 1)
          found[#found + 1] = { entry[1], pending[1] and pending[1][4] - 1 or 1, entry[2][2] }
        end
      until from == '0-0'
      room = room - #found + 2
    end
    if room > 0 then
      local read = redis.call('XREADGROUP', 'GROUP', group, me, 'COUNT', room, 'STREAMS', stream, '>')
      if read then
        for _, entry in ipairs(read[1][2]) do
          found[#found + 1] = { entry[1], 0, entry[2][2] }
        end
      end
    end
    answer[#answer + 1] = found
  end
end
return answer`;

/** members, leases; me. Gives the leases up that are still mine; also my membership where that is asked for. */
export const RELEASE = `
for i = 2, #KEYS do
  if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end
end
if ARGV[2] == 'leave' then redis.call('ZREM', KEYS[1], ARGV[1]) end`;

/** dead, streams. Answers { waiting, dead, oldest record of each stream }. */
export const SIZE = `
local waiting, firsts = 0, {}
for i = 2, #KEYS do
  waiting = waiting + redis.call('XLEN', KEYS[i])
  local first = redis.call('XRANGE', KEYS[i], '-', '+', 'COUNT', 1)[1]
  if first then firsts[#firsts + 1] = first[2][2] end
end
return { waiting, redis.call('XLEN', KEYS[1]), firsts }`;

/**
 * Claims; a life in ms, how a claim begins, then pairs of whether it is final, result. One that is not final
 * takes the place of a claim only.
 */
export const FINISH = `
for i = 1, #KEYS do
  local known = ARGV[1 + 2 * i] == '' and redis.call('GET', KEYS[i])
  if not known or string.sub(known, 1, #ARGV[2]) == ARGV[2] then
    redis.call('SET', KEYS[i], ARGV[2 + 2 * i], 'PX', ARGV[1])
  end
end`;

/** Claims; the holder's mark. Only a claim of one's own is given up. */
export const FORGET = `
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end
end`;
