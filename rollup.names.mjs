/** Packages whose code is in the built files. Their licenses go with them, and users need not install them. */
export const BUNDLED = ['nanoid', 'idb-keyval', 'preact', 'web-vitals'];

/** What the name of a folder ends with while it is being built, beside the one of the last build. */
export const NEXT = '.new';

/**
 * Members of objects that stay inside of a tag's script, which the minifier shortens there. A name stands here only if
 * no page, no storage and no other script ever sees it (`test/internal-names.test.ts`). The platform has members of
 * some of these names, too (`database`, `order`), and no code of the tags reads those.
 */
export const INTERNAL = [
  // what the outbox has, and its records
  ...['born', 'bytes', 'database', 'dirty', 'emit', 'isClaiming', 'isDue', 'isNamed', 'isOpen'],
  ...['isSent', 'maker', 'medium', 'noted', 'onRestart', 'order', 'parcel', 'parcels', 'resends'],
  ...['settings', 'timer', 'writes', 'writing'],
  // claims
  ...['after', 'claim', 'excess', 'hasLeft', 'hurry', 'look', 'mustWait', 'soonest', 'taken'],
  // delivery
  ...['ask', 'passed', 'conclude', 'controller', 'failed', 'flushAll', 'forget', 'halt', 'handOff'],
  ...['count', 'defer', 'isCutOff', 'isSilent', 'lacksToken', 'loseRunning', 'outbox'],
  ...['prepare', 'problem', 'pump', 'read', 'reconfigure', 'restart'],
  ...['retryAfterMs', 'room', 'silent', 'standing', 'start', 'backoff'],
  // the page, consent, and the user
  ...['accept', 'begin', 'configure', 'current', 'end', 'erase', 'erasing', 'follow', 'leave'],
  ...['lastAt', 'analytics', 'made', 'offer', 'online', 'remember', 'sayAs'],
  // what is captured
  ...['later', 'listen', 'moment', 'onEnd', 'onLeave', 'onView'],
];
