/**
 * Each script is one atomic step, one for each verb of a queue. The time is the server's, so processes need not agree
 * on it. All but those that put records may run when Redis is over its `maxmemory`, because they free memory, or take
 * no more than they free. https://redis.io/docs/latest/develop/programmability/lua-api/#script_flags
 */
const FREES_MEMORY = '#!lua flags=allow-oom\n';

/** The keys of a queue, as every script is given them, in this order. */
export const QUEUE_KEYS = [
  // Hash of the records by their keys, each as `at tries failedAt client record`. `failedAt` is 0 until it has failed.
  'waiting',
  // Sorted set of the keys that may be taken, by the time from which they may. A record that has not failed has its `at`
  // with FRESH taken away, which is long past, so it comes before all that have failed.
  'order',
  // Sorted set of all keys by `at`: the oldest record is what an operator asks for.
  'ages',
  // Hash of the keys that are taken, with the token of who has them. Until when is their score in `order`.
  'taken',
  // Hash of what is kept, in KiB: `waiting`, `dead`, and both with a client behind them, such as `dead 3f9a`.
  'sizes',
  // Stream of the dead letters: `r` the record, `reason`, `c` the client.
  'dead',
  // List for each line (its name follows): identifies of one user from one client, the oldest first, and the events
  // behind them. The first one is always an identify, and the only one of the list that may be taken.
  'line:',
  // List for each client (its name follows) of the ids of its dead letters, the oldest first.
  'dead:',
] as const;

const QUEUE = `
local waiting, order, ages, taken, sizes, dead, lineOf, deadOf = unpack(KEYS)
local FRESH, PATIENCE = 1e13, 3
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

local function read(key)
  local value = redis.call('HGET', waiting, key)
  if not value then return nil end
  local at, tries, failedAt, client, record = string.match(value, '^(%d+) (%d+) (%d+) (%S*) (.*)$')
  return tonumber(at), tonumber(tries), tonumber(failedAt), client, record
end
local function write(key, at, tries, failedAt, client, record)
  redis.call('HSET', waiting, key, string.format('%d %d %d %s ', at, tries, failedAt, client) .. record)
end
local function isIdentify(key) return string.sub(key, 1, 9) == 'identify:' end
local function sizeOf(name) return tonumber(redis.call('HGET', sizes, name) or 0) end
local function resize(name, client, record, sign)
  local by = sign * math.ceil(#record / 1024)
  for _, field in ipairs(client == '' and { name } or { name, name .. ' ' .. client }) do
    if redis.call('HINCRBY', sizes, field, by) <= 0 then redis.call('HDEL', sizes, field) end
  end
end

-- Lets a record be taken, from now on.
local function offer(key)
  local at, tries = read(key)
  redis.call('ZADD', order, tries > 0 and now or at - FRESH, key)
end
-- Lets the events behind the first identify of a line go.
local function letEventsGo(line)
  for _, key in ipairs(redis.call('LRANGE', line, 0, -1)) do
    if not isIdentify(key) then redis.call('LREM', line, 1, key) offer(key) end
  end
end

local function whyFull(client, most, mostOfClient)
  if sizeOf('waiting') >= tonumber(most) then return 'all' end
  return client ~= '' and sizeOf('waiting ' .. client) >= tonumber(mostOfClient) and 'client' or ''
end
local function put(line, key, at, client, record)
  local value = string.format('%d 0 0 %s ', at, client) .. record
  if redis.call('HSETNX', waiting, key, value) == 0 then return end
  redis.call('ZADD', ages, at, key)
  resize('waiting', client, record, 1)
  if line == '' then return offer(key) end
  line = lineOf .. line
  local first = redis.call('LINDEX', line, 0)
  local _, tries = nil, PATIENCE
  if first then _, tries = read(first) end
  if isIdentify(key) or tries < PATIENCE then redis.call('RPUSH', line, key) end
  if not first or (tries >= PATIENCE and not isIdentify(key)) then offer(key) end
end
local function remove(line, key)
  local _, _, _, client, record = read(key)
  if not record then return false end
  redis.call('HDEL', waiting, key)
  redis.call('HDEL', taken, key)
  redis.call('ZREM', order, key)
  redis.call('ZREM', ages, key)
  resize('waiting', client, record, -1)
  if line == '' or not isIdentify(key) then return true end
  line = lineOf .. line
  redis.call('LREM', line, 1, key)
  -- The events that are now in front go, and so does the identify behind them.
  local first = redis.call('LINDEX', line, 0)
  while first and not isIdentify(first) do
    redis.call('LPOP', line)
    offer(first)
    first = redis.call('LINDEX', line, 0)
  end
  if first and not redis.call('ZSCORE', order, first) then offer(first) end
  return true
end

local function removeDead(id)
  local entry = redis.call('XRANGE', dead, id, id)[1]
  if not entry then return false end
  local client = entry[2][6] or ''
  redis.call('XDEL', dead, id)
  if client ~= '' then redis.call('LREM', deadOf .. client, 1, id) end
  resize('dead', client, entry[2][2], -1)
  return true
end
`;

/** How many may wait in all and of a client, then line, key, at, client, record of each. Answers where there is no room. */
export const PUT = `${QUEUE}
local full = whyFull(ARGV[6], ARGV[1], ARGV[2])
if full ~= '' then return full end
for i = 3, #ARGV, 5 do put(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]) end
return ''`;

/**
 * A token, how many to take, for how many ms, a token whose records nobody has heard of because the answer was lost,
 * whether only `fresh` or `failed` ones are asked for, and the longest wait. Answers { times tried before, ms since
 * it failed first, record } of each.
 */
export const TAKE = `${FREES_MEMORY}${QUEUE}
local token, limit, visible, lost, only = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
if lost ~= '' then
  local held = redis.call('HGETALL', taken)
  for i = 1, #held, 2 do
    if held[i + 1] == lost then redis.call('HDEL', taken, held[i]) offer(held[i]) end
  end
end
local function due(from, to)
  return redis.call('ZRANGE', order, from, to, 'BYSCORE', 'LIMIT', 0, limit)
end
local keys = only == 'failed' and {} or due('-inf', '(0')
if #keys == 0 and only ~= 'fresh' then keys = due(0, now) end
-- Nobody waits for so long: the clock was set back.
if #keys == 0 and only ~= 'fresh' then keys = due(now + math.max(visible, tonumber(ARGV[6])) + 1, '+inf') end
local found = {}
for _, key in ipairs(keys) do
  local at, tries, failedAt, client, record = read(key)
  if redis.call('HGET', taken, key) then -- the time of who had it is over
    tries = tries + 1
    write(key, at, tries, failedAt, client, record)
  end
  redis.call('HSET', taken, key, token)
  redis.call('ZADD', order, now + visible, key)
  found[#found + 1] = { tries, failedAt > 0 and now - failedAt or 0, record }
end
return found`;

/** Line and key of each. */
export const DONE = `${FREES_MEMORY}${QUEUE}
for i = 1, #ARGV, 2 do remove(ARGV[i], ARGV[i + 1]) end`;

/** Token, line, key, delay in ms, whether it has failed, of each. */
export const GIVE_BACK = `${FREES_MEMORY}${QUEUE}
for i = 1, #ARGV, 5 do
  local line, key, delay = ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3])
  local at, tries, failedAt, client, record = read(key)
  if at and redis.call('HGET', taken, key) == ARGV[i] then
    redis.call('HDEL', taken, key)
    if ARGV[i + 4] ~= '' then
      tries = tries + 1
      write(key, at, tries, failedAt > 0 and failedAt or now, client, record)
      if tries == PATIENCE and isIdentify(key) and line ~= '' then letEventsGo(lineOf .. line) end
    end
    if delay > 0 then redis.call('ZADD', order, now + delay, key) else offer(key) end
  end
end`;

/**
 * Line, key, client, record, reason; how many dead letters are kept in all and of a client. Only what still stands in
 * the queue dies. Answers how many went for it: of all, and of the client.
 */
export const BURY = `${FREES_MEMORY}${QUEUE}
local client, record = ARGV[3], ARGV[4]
if not remove(ARGV[1], ARGV[2]) then return { 0, 0 } end
local id = redis.call('XADD', dead, '*', 'r', record, 'reason', ARGV[5], 'c', client)
if client ~= '' then redis.call('RPUSH', deadOf .. client, id) end
resize('dead', client, record, 1)
local ofAll, ofClient = 0, 0
while client ~= '' and sizeOf('dead ' .. client) > tonumber(ARGV[7]) do
  removeDead(redis.call('LINDEX', deadOf .. client, 0))
  ofClient = ofClient + 1
end
while sizeOf('dead') > tonumber(ARGV[6]) and redis.call('XLEN', dead) > 0 do
  removeDead(redis.call('XRANGE', dead, '-', '+', 'COUNT', 1)[1][1])
  ofAll = ofAll + 1
end
return { ofAll, ofClient }`;

/**
 * How many may wait, then dead letter, line, key, at, client, record of each. Answers how many went from the dead
 * letters into the queue, or -1 where there is no room.
 */
export const RESEND = `${QUEUE}
if whyFull('', ARGV[1]) ~= '' then return -1 end
local resent = 0
for i = 2, #ARGV, 6 do
  if removeDead(ARGV[i]) then
    resent = resent + 1
    put(ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
  end
end
return resent`;

/** Ids of dead letters. Answers how many there were. */
export const PURGE = `${FREES_MEMORY}${QUEUE}
local purged = 0
for _, id in ipairs(ARGV) do if removeDead(id) then purged = purged + 1 end end
return purged`;

/** Lets all be taken that wait for their next try. */
export const TRY_NOW = `${FREES_MEMORY}${QUEUE}
for _, key in ipairs(redis.call('ZRANGE', order, '(' .. now, '+inf', 'BYSCORE')) do
  if redis.call('HEXISTS', taken, key) == 0 then redis.call('ZADD', order, now, key) end
end`;

/** Answers { waiting, dead, oldest }. */
export const SIZE = `${FREES_MEMORY}${QUEUE}
local first = redis.call('ZRANGE', ages, 0, 0, 'WITHSCORES')
return { redis.call('HLEN', waiting), redis.call('XLEN', dead), first[2] or '' }`;

/**
 * The prefix of the keys, and how many lanes were left out before. Takes over what version 1 has left, some lanes at a
 * time: a hash `records` of `at tries record`, a sorted set `heads` of lanes such as `["project","user"]` or
 * `["id"]`, and a list for each. Leaves out lanes that a process of version 1 has taken, until their time is over.
 * Answers how many it has taken over, and how many it has left out.
 */
export const MIGRATE = `${FREES_MEMORY}${QUEUE}
local function old(name) return ARGV[1] .. name end
local moved, left = 0, 0
for _, lane in ipairs(redis.call('ZRANGE', old('heads'), ARGV[2], ARGV[2] + 99)) do
  local isOut = redis.call('HEXISTS', old('out'), lane) == 1
  if isOut and tonumber(redis.call('ZSCORE', old('due'), lane) or 0) > now then
    left = left + 1
  else
    moved = moved + 1
    local line = #cjson.decode(lane) == 2 and '["",' .. string.sub(lane, 2) or ''
    for _, key in ipairs(redis.call('LRANGE', old('lane:') .. lane, 0, -1)) do
      local value = redis.call('HGET', old('records'), key)
      if value then
        local at, tries, record = string.match(value, '^(%d+) (%d+) (.*)$')
        put(line, key, at, '', record)
        redis.call('HDEL', old('records'), key)
      end
    end
    redis.call('DEL', old('lane:') .. lane)
    redis.call('ZREM', old('heads'), lane)
    redis.call('ZREM', old('due'), lane)
    redis.call('HDEL', old('out'), lane)
  end
end
if redis.call('ZCARD', old('heads')) == 0 then redis.call('DEL', old('weight')) end
return { moved, left }`;

/** Counts the dead letters that version 1 has left. */
export const COUNT_DEAD = `${FREES_MEMORY}${QUEUE}
if redis.call('HEXISTS', sizes, 'dead') == 1 then return end
local total = 0
for _, entry in ipairs(redis.call('XRANGE', dead, '-', '+')) do total = total + math.ceil(#entry[2][2] / 1024) end
if total > 0 then redis.call('HSET', sizes, 'dead', total) end`;

/** Claims; the mark of the holder, a life in ms. Answers for each what stood there, or an empty text. */
export const BEGIN = `${FREES_MEMORY}
local known = {}
for i = 1, #KEYS do
  known[i] = redis.call('SET', KEYS[i], ARGV[1], 'NX', 'GET', 'PX', ARGV[2]) or ''
end
return known`;

/**
 * A sorted set of clients by how many ids they have, with the sum as \`\`, how the list of the ids of a client begins, then claims. How a
 * claim begins, the client, how many ids are kept in all and of a client, then for each whether it is final, its life in
 * ms, its result. One that is not final takes the place of a claim only. Answers how many ids had to go: of all, and of
 * the client.
 */
export const FINISH = `${FREES_MEMORY}
local counts, listOf = KEYS[1], KEYS[2]
local mark, client = ARGV[1], ARGV[2]

local function change(whose, by)
  if tonumber(redis.call('ZINCRBY', counts, by, whose)) <= 0 then redis.call('ZREM', counts, whose) end
  redis.call('ZINCRBY', counts, by, '')
end
-- Forgets the oldest id of a client. Answers 1 where it was remembered still.
local function forget(whose)
  local key = redis.call('LPOP', listOf .. whose)
  change(whose, -1)
  return key and redis.call('DEL', key) or 0
end
-- Ids whose time is over stand in front.
local function sweep(whose, most)
  for _ = 1, most do
    local key = redis.call('LINDEX', listOf .. whose, 0)
    if not key or redis.call('EXISTS', key) == 1 then return end
    redis.call('LPOP', listOf .. whose)
    change(whose, -1)
  end
end

local whose = client == '' and '-' or client
for i = 3, #KEYS do
  local at = 5 + (i - 3) * 3
  local known = redis.call('GET', KEYS[i])
  local isKept = known and string.sub(known, 1, #mark) ~= mark
  if ARGV[at] ~= '' or not isKept then
    redis.call('SET', KEYS[i], ARGV[at + 2], 'PX', ARGV[at + 1])
    if not isKept then
      redis.call('RPUSH', listOf .. whose, KEYS[i])
      change(whose, 1)
    end
  end
end
sweep(whose, #KEYS)
local other = redis.call('ZRANDMEMBER', counts)
if other and other ~= '' then sweep(other, #KEYS + 20) end
local ofAll, ofClient = 0, 0
while client ~= '' and tonumber(redis.call('ZSCORE', counts, whose) or 0) > tonumber(ARGV[4]) do
  ofClient = ofClient + forget(whose)
end
while tonumber(redis.call('ZSCORE', counts, '') or 0) > tonumber(ARGV[3]) do
  local first, second = unpack(redis.call('ZREVRANGE', counts, 0, 1))
  ofAll = ofAll + forget(first == '' and second or first)
end
return { ofAll, ofClient }`;

/** Claims; the holder's mark. Only a claim of one's own is given up. */
export const FORGET = `${FREES_MEMORY}
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end
end`;
