/**
 * Each script is one atomic step. The time is the server's, so processes need not agree on it. All but the one that
 * puts records may run when Redis is over its `maxmemory`, because they free memory, or take no more than they free.
 * https://redis.io/docs/latest/develop/programmability/lua-api/#script_flags
 */
const FREES_MEMORY = '#!lua flags=allow-oom\n';

/**
 * What the scripts of a queue share. Its keys, in this order:
 *
 * - `records`: a hash of the records by their keys, each as `at tries record`;
 * - `weight`: what all of them count for `maxWaiting`, one for each KiB begun;
 * - `heads`: a sorted set of the lanes that have records, by the `at` of the first one;
 * - `due`: a sorted set of the same lanes, by the time from which their records may be taken. A lane that has not
 *   failed is in front of all that have: its score is its `at` with `FRESH` taken away, a time long past;
 * - `out`: a hash of the lanes that are taken: `token count due`, whose `due` is when the lane may be taken again;
 * - `dead`: a stream of the dead letters.
 *
 * The first argument begins the name of the list that each lane has, of the keys of its records.
 */
const QUEUE = `
local records, weight, heads, due, out, dead = unpack(KEYS)
local lanes = ARGV[1]
local FRESH = 1e13
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

local function read(value)
  local at, tries, record = string.match(value, '^(%d+) (%d+) (.*)$')
  return tonumber(at), tonumber(tries), record
end
local function weigh(record) return math.ceil(#record / 1024) end

local function put(lane, key, at, record)
  if redis.call('HSETNX', records, key, at .. ' 0 ' .. record) == 0 then return end
  redis.call('INCRBY', weight, weigh(record))
  redis.call('RPUSH', lanes .. lane, key)
  if redis.call('ZADD', heads, 'NX', at, lane) == 1 then redis.call('ZADD', due, at - FRESH, lane) end
end
local function isFull(most)
  if redis.call('HLEN', records) == 0 then redis.call('DEL', weight) end
  return tonumber(redis.call('GET', weight) or 0) >= tonumber(most)
end

local function remove(lane, key)
  local value = redis.call('HGET', records, key)
  if not value then return false end
  local _, _, record = read(value)
  redis.call('HDEL', records, key)
  redis.call('LREM', lanes .. lane, 1, key)
  if redis.call('DECRBY', weight, weigh(record)) <= 0 then redis.call('DEL', weight) end
  return true
end

-- Lets others take a lane, from a time on. A lane without records is gone.
local function free(lane, from)
  redis.call('HDEL', out, lane)
  local key = redis.call('LINDEX', lanes .. lane, 0)
  local value = key and redis.call('HGET', records, key)
  if not value then
    if key then redis.call('LPOP', lanes .. lane) return free(lane, from) end
    redis.call('ZREM', heads, lane)
    redis.call('ZREM', due, lane)
    return
  end
  local at, tries = read(value)
  if from == 0 then from = tries > 0 and now or at - FRESH end
  redis.call('ZADD', heads, at, lane)
  redis.call('ZADD', due, from, lane)
end

-- One of the records that were taken with a token is done with.
local function settle(lane, token, from)
  local held = redis.call('HGET', out, lane)
  if not held then return end
  local holder, count, until_ = string.match(held, '^(%S+) (%d+) (%d+)$')
  if holder ~= token then return end
  from = math.max(from, tonumber(until_))
  count = count - 1
  if count > 0 then redis.call('HSET', out, lane, string.format('%s %d %d', token, count, from))
  else free(lane, from) end
end
`;

/** How many may wait, then lane, key, at, record of each. Answers 0 where there is no room. */
export const PUT = `${QUEUE}
if isFull(ARGV[2]) then return 0 end
for i = 3, #ARGV, 4 do put(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) end
return 1`;

/**
 * A token, how many to take, for how many ms, and a token whose records nobody has heard of because the answer was
 * lost. Answers { times tried before, record } of each.
 */
export const TAKE = `${FREES_MEMORY}${QUEUE}
local token, limit, lost = ARGV[2], tonumber(ARGV[3]), ARGV[5]
if lost ~= '' then
  local held = redis.call('HGETALL', out)
  for i = 1, #held, 2 do
    if string.match(held[i + 1], '^%S+') == lost then free(held[i], 0) end
  end
end
if redis.call('ZCARD', due) < redis.call('ZCARD', heads) then -- somebody has deleted it
  for _, lane in ipairs(redis.call('ZRANGE', heads, 0, -1)) do redis.call('ZADD', due, 'NX', now, lane) end
end
local found = {}
for _, lane in ipairs(redis.call('ZRANGE', due, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)) do
  local room = limit - #found
  if room <= 0 then break end
  local isLeft = redis.call('HGET', out, lane) -- the time of its holder is over
  local keys = redis.call('LRANGE', lanes .. lane, 0, room - 1)
  local count = 0
  for _, key in ipairs(keys) do
    local value = redis.call('HGET', records, key)
    if value then
      local at, tries, record = read(value)
      if isLeft then
        tries = tries + 1
        redis.call('HSET', records, key, string.format('%d %d ', at, tries) .. record)
      end
      count = count + 1
      found[#found + 1] = { tries, record }
    end
  end
  if count == 0 then free(lane, 0)
  else
    redis.call('ZADD', due, now + tonumber(ARGV[4]), lane)
    redis.call('HSET', out, lane, token .. ' ' .. count .. ' 0')
  end
end
return found`;

/** Token, lane and key of each. */
export const DONE = `${FREES_MEMORY}${QUEUE}
for i = 2, #ARGV, 3 do
  remove(ARGV[i + 1], ARGV[i + 2])
  settle(ARGV[i + 1], ARGV[i], 0)
end`;

/** A delay in ms, then token, lane and key of each. */
export const RETRY = `${FREES_MEMORY}${QUEUE}
local delay = tonumber(ARGV[2])
for i = 3, #ARGV, 3 do
  local lane, key = ARGV[i + 1], ARGV[i + 2]
  local held = redis.call('HGET', out, lane)
  local value = redis.call('HGET', records, key)
  if held and value and string.match(held, '^%S+') == ARGV[i] and delay > 0 then
    local at, tries, record = read(value)
    redis.call('HSET', records, key, string.format('%d %d ', at, tries + 1) .. record)
  end
  settle(lane, ARGV[i], delay > 0 and now + delay or 0)
end`;

/** Token, lane, key, record, reason. Only what still stands in the queue dies. */
export const BURY = `${FREES_MEMORY}${QUEUE}
if remove(ARGV[3], ARGV[4]) then redis.call('XADD', dead, '*', 'r', ARGV[5], 'reason', ARGV[6]) end
settle(ARGV[3], ARGV[2], 0)`;

/**
 * How many may wait, then dead letter, lane, key, at, record of each. Answers how many went from the dead letters
 * into the queue, or -1 where there is no room.
 */
export const RESEND = `${QUEUE}
if isFull(ARGV[2]) then return -1 end
local resent = 0
for i = 3, #ARGV, 5 do
  if redis.call('XDEL', dead, ARGV[i]) == 1 then
    resent = resent + 1
    put(ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  end
end
return resent`;

/** Answers { waiting, dead, oldest }. */
export const SIZE = `${QUEUE}
local first = redis.call('ZRANGE', heads, 0, 0, 'WITHSCORES')
return { redis.call('HLEN', records), redis.call('XLEN', dead), first[2] or '' }`;

/** Claims; the mark of the holder, a life in ms. Answers for each what stood there, or an empty text. */
export const BEGIN = `${FREES_MEMORY}
local known = {}
for i = 1, #KEYS do
  known[i] = redis.call('SET', KEYS[i], ARGV[1], 'NX', 'GET', 'PX', ARGV[2]) or ''
end
return known`;

/**
 * Claims; a life in ms, how a claim begins, then pairs of whether it is final, result. One that is not final
 * takes the place of a claim only.
 */
export const FINISH = `${FREES_MEMORY}
for i = 1, #KEYS do
  local known = ARGV[1 + 2 * i] == '' and redis.call('GET', KEYS[i])
  if not known or string.sub(known, 1, #ARGV[2]) == ARGV[2] then
    redis.call('SET', KEYS[i], ARGV[2 + 2 * i], 'PX', ARGV[1])
  end
end`;

/** Claims; the holder's mark. Only a claim of one's own is given up. */
export const FORGET = `${FREES_MEMORY}
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end
end`;
