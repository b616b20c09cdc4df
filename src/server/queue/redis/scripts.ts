import { PATIENCE } from '../../incoming.js';

/**
 * Each method of a queue is a script, which Redis runs as one atomic step. The clock is that of Redis, so processes
 * need not agree on the time. All scripts except those that put records may run when Redis is over its `maxmemory`,
 * because they free at least as much memory as they take.
 * https://redis.io/docs/latest/develop/programmability/lua-api/#script_flags
 */
export const FREES_MEMORY = '#!lua flags=allow-oom\n';

/** The keys of a queue, which every script gets in this order. */
export const QUEUE_KEYS = [
  // The version of the data, 3. If it is missing although `heads` is there, the data has version 1.
  'version',
  'heads',
  // Hash of the records by their keys, each as `at tries failedAt client record`. `failedAt` is 0 until it has failed.
  'waiting',
  // Sorted set of the keys that may be taken, by the time from which they may. For a record that has not failed this is
  // `at` minus FRESH, so it comes before all records that have failed.
  'order',
  // Sorted set of all keys by `at`, for the age of the oldest record.
  'ages',
  // Hash of the keys that are taken, with the token of the take. The score in `order` says until when.
  'taken',
  // Hash of sums of KiB: `waiting`, `dead`, and both with a client after it, such as `dead 3f9a`.
  'sizes',
  // Stream of the dead letters: `r` the record, `reason`, `c` the client.
  'dead',
  // List for each line (its name follows): identifies of one user from one client, the oldest first, and the events
  // behind them. The first one is always an identify, and the only one of the list that may be taken.
  'line:',
  // List for each client (its name follows) of the ids of its dead letters, the oldest first.
  'dead:',
  // Begins the key of each id that was put. These keys expire.
  'id:',
  // Sorted set of senders by the number of their ids; the empty name stands for all senders.
  'ids',
  // Begins the key of the list of ids of each sender, the oldest first.
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
-- Returns whether the record was there.
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
-- Writes the list anew, once: each single removal would step over all identifies before it.
local function letEventsGo(line)
  local identifies, events = {}, {}
  for _, key in ipairs(call('LRANGE', line, 0, -1)) do table.insert(isIdentify(key) and identifies or events, key) end
  if #events == 0 then return end
  call('DEL', line)
  for _, key in ipairs(identifies) do call('RPUSH', line, key) end
  for _, key in ipairs(events) do offer(key) end
end

-- Returns whether the dead letter was there.
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
 * Arguments: how many records may wait in all and of a client, the life of an id in ms, how many ids are kept in all
 * and of a client, the client; then line, key, at and record of each. Returns a word for each, `queued` or `known`, or
 * `all` or `client` (the bound that leaves no room), and how many ids were deleted: of all, and of the client.
 */
export const PUT = `${QUEUE}
local most, mostOfClient, life, mostIds, mostIdsOfClient, client = unpack(ARGV, 1, 6)
local whose = client == '' and '-' or client

local function change(sender, by)
  call('ZINCRBY', ids, by, '')
  if tonumber(call('ZINCRBY', ids, by, sender)) == 0 then call('ZREM', ids, sender) end
end
-- Forgets the oldest id of a client. Returns 1 if it had not expired yet.
local function forget(sender)
  local key = call('LPOP', idsOf .. sender)
  change(sender, -1)
  return call('DEL', key)
end
-- Forgets expired ids, which are at the front of the list.
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
    local first, second = unpack(call('ZREVRANGE', ids, 0, 1)) -- the empty name is first, unless one client has all ids
    ofAll = ofAll + forget(first == '' and second or first)
  end
end
return { placed, ofAll, ofClient }`;

/**
 * Arguments: a token, how many to take, for how many ms, the token of an earlier take whose answer was lost, `fresh` or
 * `failed` if only these are wanted, and the longest wait. Returns { times tried before, ms since it failed first,
 * record } of each.
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
  -- Records that seem to wait for longer: the clock was set back.
  if #keys == 0 then keys = due(now + math.max(visible, longest) + 1, '+inf') end
end
local records = {}
for i, key in ipairs(keys) do
  local at, tries, failedAt, client, record = read(key)
  if call('HGET', taken, key) then -- a consumer took it and never answered
    tries = tries + 1
    call('HSET', waiting, key, format(at, tries, failedAt, client, record))
  end
  call('HSET', taken, key, token)
  call('ZADD', order, now + visible, key)
  records[i] = { tries, failedAt > 0 and now - failedAt or 0, record }
end
return records`;

/** Arguments: line and key of each record. */
export const DONE = `${FREES_MEMORY}${QUEUE}
for i = 1, #ARGV, 2 do remove(ARGV[i], ARGV[i + 1]) end`;

/** Arguments: token, line, key, delay in ms, whether it has failed, of each record. */
export const GIVE_BACK = `${FREES_MEMORY}${QUEUE}
for i = 1, #ARGV, 5 do
  local token, line, key, delay, isTried = unpack(ARGV, i, i + 4)
  if call('HGET', taken, key) == token then
    call('HDEL', taken, key)
    if isTried ~= '' then
      local at, tries, failedAt, client, record = read(key)
      tries = tries + 1
      call('HSET', waiting, key, format(at, tries, failedAt > 0 and failedAt or now, client, record))
      -- >=, since a try without an answer counts, too: this may be a later one than the third.
      if tries >= PATIENCE and isIdentify(key) and line ~= '' then letEventsGo(lines .. line) end
    end
    if tonumber(delay) > 0 then call('ZADD', order, now + delay, key) else offer(key) end
  end
end`;

/**
 * Arguments: line, key, client, record, reason; how many dead letters are kept in all and of a client. Does nothing if
 * the record is no longer in the queue. Returns how many dead letters were deleted for it: of all, and of the client.
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

/** Arguments: first id, last id, how many. Returns the entries of the stream. */
export const LIST = `${FREES_MEMORY}${QUEUE}
return call('XRANGE', dead, ARGV[1], ARGV[2], 'COUNT', ARGV[3])`;

/**
 * Arguments: how many records may wait; then dead letter, line, key, at, client and record of each. Returns how many
 * went from the dead letters into the queue, or -1 if there is no room.
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

/** Arguments: ids of dead letters. Returns how many there were. */
export const PURGE = `${FREES_MEMORY}${QUEUE}
local purged = 0
for _, id in ipairs(ARGV) do if removeDead(id) then purged = purged + 1 end end
return purged`;

/** Makes all failed records due at once. */
export const TRY_NOW = `${FREES_MEMORY}${QUEUE}
for _, key in ipairs(call('ZRANGE', order, '(' .. now, '+inf', 'BYSCORE')) do
  if call('HEXISTS', taken, key) == 0 then call('ZADD', order, now, key) end
end`;

/** Returns { waiting, dead, oldest }. */
export const SIZE = `${FREES_MEMORY}${QUEUE}
local oldest = call('ZRANGE', ages, 0, 0, 'WITHSCORES')
return { call('HLEN', waiting), call('XLEN', dead), oldest[2] or '' }`;
