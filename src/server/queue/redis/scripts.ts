import { PATIENCE } from '../ports.js';

/**
 * Each script is one atomic step, one for each verb of a queue. The time is the server's, so processes need not agree
 * on it. All but those that put records may run when Redis is over its `maxmemory`, because they free memory, or take
 * no more than they free. https://redis.io/docs/latest/develop/programmability/lua-api/#script_flags
 */
export const FREES_MEMORY = '#!lua flags=allow-oom\n';

/** The keys of a queue, as every script is given them, in this order. */
export const QUEUE_KEYS = [
  // The version of all that follows, 3. What has none, but this key, is of version 1.
  'version',
  'heads',
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
  // Begins the key of each id that was put, which ends by itself.
  'id:',
  // Sorted set of senders by how many ids they have; `` stands for all of them.
  'ids',
  // Begins the key of each sender: the list of its ids, the oldest first.
  'ids:',
] as const;

const QUEUE = `
local version, heads, waiting, order, ages, taken, sizes, dead, lines, deadOf, idOf, ids, idsOf = unpack(KEYS)
local FRESH, PATIENCE = 1e13, ${PATIENCE}
local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local found = call('GET', version)
if not found then
  found = call('EXISTS', heads) == 1 and '1' or '3'
  if found == '3' then call('SET', version, '3') end
end
if found ~= '3' then
  return redis.error_reply('ERR Redis holds data of version ' .. found .. ' in ' .. waiting .. ', and this program ' ..
    'knows version 3: run the program that has written it, or name another prefix')
end

local function read(key)
  local at, tries, failedAt, client, record =
    string.match(call('HGET', waiting, key) or '', '^(%d+) (%d+) (%d+) (%S*) (.*)$')
  return tonumber(at), tonumber(tries), tonumber(failedAt), client, record
end
local function format(at, tries, failedAt, client, record)
  return string.format('%d %d %d %s ', at, tries, failedAt, client) .. record
end
local function isIdentify(key) return string.sub(key, 1, 11) == '["identify"' end
local function sizeOf(name) return tonumber(call('HGET', sizes, name) or 0) end
local function resize(name, client, record, sign)
  for _, field in ipairs(client == '' and { name } or { name, name .. ' ' .. client }) do
    if call('HINCRBY', sizes, field, sign * math.ceil(#record / 1024)) == 0 then call('HDEL', sizes, field) end
  end
end
-- Lets a record be taken from now on.
local function offer(key)
  local at, tries = read(key)
  call('ZADD', order, tries > 0 and now or at - FRESH, key)
end

local function whyFull(client, most, mostOfClient)
  if sizeOf('waiting') >= tonumber(most) then return 'all' end
  return client ~= '' and sizeOf('waiting ' .. client) >= tonumber(mostOfClient) and 'client' or ''
end
local function put(line, key, at, client, record)
  if call('HSETNX', waiting, key, format(at, 0, 0, client, record)) == 0 then return end
  call('ZADD', ages, at, key)
  resize('waiting', client, record, 1)
  local first = line ~= '' and call('LINDEX', lines .. line, 0)
  local mustWait = first and (isIdentify(key) or select(2, read(first)) < PATIENCE)
  if mustWait or line ~= '' and isIdentify(key) then call('RPUSH', lines .. line, key) end
  if not mustWait then call('ZADD', order, at - FRESH, key) end
end
-- Answers whether the record was there.
local function remove(line, key)
  local _, _, _, client, record = read(key)
  if not record then return false end
  call('HDEL', waiting, key)
  call('HDEL', taken, key)
  call('ZREM', order, key)
  call('ZREM', ages, key)
  resize('waiting', client, record, -1)
  if line == '' or not isIdentify(key) then return true end
  line = lines .. line
  call('LREM', line, 1, key)
  -- The events that are now in front go, and so does the identify behind them.
  local first = call('LINDEX', line, 0)
  while first and not isIdentify(first) do
    offer(call('LPOP', line))
    first = call('LINDEX', line, 0)
  end
  if first and not call('ZSCORE', order, first) then offer(first) end
  return true
end
-- The list is written anew, once: one removal each would step over all identifies before it.
local function letEventsGo(line)
  local identifies, events = {}, {}
  for _, key in ipairs(call('LRANGE', line, 0, -1)) do table.insert(isIdentify(key) and identifies or events, key) end
  if #events == 0 then return end
  call('DEL', line)
  for _, key in ipairs(identifies) do call('RPUSH', line, key) end
  for _, key in ipairs(events) do offer(key) end
end

-- Answers whether the dead letter was there.
local function removeDead(id)
  local entry = call('XRANGE', dead, id, id)[1]
  if not entry then return false end
  local record, client = entry[2][2], entry[2][6] or ''
  call('XDEL', dead, id)
  call('LREM', deadOf .. client, 1, id)
  resize('dead', client, record, -1)
  return true
end
`;

/**
 * How many may wait in all and of a client, the life of an id in ms, how many ids are kept in all and of a client, the
 * client; then line, key, at, record of each. Answers for each whether it is `queued` or `known`, or `all` or `client`
 * where there is no room for it, and how many ids had to go: of all, and of the client.
 */
export const PUT = `${QUEUE}
local most, mostOfClient, life, mostIds, mostIdsOfClient, client = unpack(ARGV, 1, 6)
local whose = client == '' and '-' or client

local function change(sender, by)
  call('ZINCRBY', ids, by, '')
  if tonumber(call('ZINCRBY', ids, by, sender)) == 0 then call('ZREM', ids, sender) end
end
-- Forgets the oldest id of a client. Answers 1 where it was known still.
local function forget(sender)
  local key = call('LPOP', idsOf .. sender)
  change(sender, -1)
  return call('DEL', key)
end
-- Ids whose time is over stand in front.
local function sweep(sender, limit)
  for _ = 1, limit do
    local key = call('LINDEX', idsOf .. sender, 0)
    if not key or call('EXISTS', key) == 1 then return end
    forget(sender)
  end
end
local function isOver(sender, bound) return tonumber(call('ZSCORE', ids, sender) or 0) > tonumber(bound) end

-- Before ids are added: one that comes again after its time must not stand there twice.
if life ~= '0' then sweep(whose, #ARGV) end
local full = whyFull(client, most, mostOfClient)
local placed = {}
for i = 7, #ARGV, 4 do
  local line, key, at, record = unpack(ARGV, i, i + 3)
  local place = full
  if call('HEXISTS', waiting, key) == 1 or call('EXISTS', idOf .. key) == 1 then
    place = 'known'
  elseif full == '' then
    place = 'queued'
    put(line, key, at, client, record)
    if life ~= '0' then
      call('SET', idOf .. key, '', 'PX', life)
      call('RPUSH', idsOf .. whose, idOf .. key)
      change(whose, 1)
    end
  end
  placed[#placed + 1] = place
end
local ofAll, ofClient = 0, 0
if life ~= '0' then
  local other = call('ZRANDMEMBER', ids)
  if other and other ~= '' then sweep(other, #ARGV + 20) end
  while client ~= '' and isOver(client, mostIdsOfClient) do ofClient = ofClient + forget(client) end
  while isOver('', mostIds) do
    local first, second = unpack(call('ZREVRANGE', ids, 0, 1)) -- all are the most, but where one client has all
    ofAll = ofAll + forget(first == '' and second or first)
  end
end
return { placed, ofAll, ofClient }`;

/**
 * A token, how many to take, for how many ms, a token whose records nobody has heard of because the answer was lost,
 * whether only `fresh` or `failed` ones are asked for, and the longest wait. Answers { times tried before, ms since
 * it failed first, record } of each.
 */
export const TAKE = `${FREES_MEMORY}${QUEUE}
local token, limit, visible, lost, only, longest = unpack(ARGV)
if lost ~= '' then
  local held = call('HGETALL', taken)
  for i = 1, #held, 2 do
    if held[i + 1] == lost then call('HDEL', taken, held[i]) offer(held[i]) end
  end
end
local function due(from, to) return call('ZRANGE', order, from, to, 'BYSCORE', 'LIMIT', 0, limit) end
local keys = only == 'failed' and {} or due('-inf', '(0')
if #keys == 0 and only ~= 'fresh' then
  keys = due(0, now)
  -- Nobody waits for longer: the clock was set back.
  if #keys == 0 then keys = due(now + math.max(visible, longest) + 1, '+inf') end
end
local records = {}
for i, key in ipairs(keys) do
  local at, tries, failedAt, client, record = read(key)
  if call('HGET', taken, key) then -- the time of who had it is over
    tries = tries + 1
    call('HSET', waiting, key, format(at, tries, failedAt, client, record))
  end
  call('HSET', taken, key, token)
  call('ZADD', order, now + visible, key)
  records[i] = { tries, failedAt > 0 and now - failedAt or 0, record }
end
return records`;

/** Line and key of each. */
export const DONE = `${FREES_MEMORY}${QUEUE}
for i = 1, #ARGV, 2 do remove(ARGV[i], ARGV[i + 1]) end`;

/** Token, line, key, delay in ms, whether it has failed, of each. */
export const GIVE_BACK = `${FREES_MEMORY}${QUEUE}
for i = 1, #ARGV, 5 do
  local token, line, key, delay, isTried = unpack(ARGV, i, i + 4)
  if call('HGET', taken, key) == token then
    call('HDEL', taken, key)
    if isTried ~= '' then
      local at, tries, failedAt, client, record = read(key)
      tries = tries + 1
      call('HSET', waiting, key, format(at, tries, failedAt > 0 and failedAt or now, client, record))
      -- A try that nobody came back from counts, too, so this may be a later one than the third.
      if tries >= PATIENCE and isIdentify(key) and line ~= '' then letEventsGo(lines .. line) end
    end
    if tonumber(delay) > 0 then call('ZADD', order, now + delay, key) else offer(key) end
  end
end`;

/**
 * Line, key, client, record, reason; how many dead letters are kept in all and of a client. Only what still stands in
 * the queue dies. Answers how many went for it: of all, and of the client.
 */
export const BURY = `${FREES_MEMORY}${QUEUE}
local line, key, client, record, reason, most, mostOfClient = unpack(ARGV)
if not remove(line, key) then return { 0, 0 } end
local id = call('XADD', dead, '*', 'r', record, 'reason', reason, 'c', client)
if client ~= '' then call('RPUSH', deadOf .. client, id) end
resize('dead', client, record, 1)
local ofAll, ofClient = 0, 0
while client ~= '' and sizeOf('dead ' .. client) > tonumber(mostOfClient) do
  removeDead(call('LINDEX', deadOf .. client, 0))
  ofClient = ofClient + 1
end
while sizeOf('dead') > tonumber(most) do
  removeDead(call('XRANGE', dead, '-', '+', 'COUNT', 1)[1][1])
  ofAll = ofAll + 1
end
return { ofAll, ofClient }`;

/** From which id to which, and how many. Answers the entries of the stream. */
export const LIST = `${FREES_MEMORY}${QUEUE}
return call('XRANGE', dead, ARGV[1], ARGV[2], 'COUNT', ARGV[3])`;

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
    put(unpack(ARGV, i + 1, i + 5))
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
for _, key in ipairs(call('ZRANGE', order, '(' .. now, '+inf', 'BYSCORE')) do
  if call('HEXISTS', taken, key) == 0 then call('ZADD', order, now, key) end
end`;

/** Answers { waiting, dead, oldest }. */
export const SIZE = `${FREES_MEMORY}${QUEUE}
local oldest = call('ZRANGE', ages, 0, 0, 'WITHSCORES')
return { call('HLEN', waiting), call('XLEN', dead), oldest[2] or '' }`;
