/**
 * Members of objects that stay inside of a tag's script, which the minifier shortens there. A name stands here only if
 * no page, no storage and no other script ever sees it (`test/internal-names.test.ts`). The platform has members of
 * some of these names, too (`database`, `order`), and no code of the tags reads those.
 */
export const INTERNAL = [
  // what the outbox has, and its records
  ...[
    'born',
    'bytes',
    'database',
    'dirty',
    'emit',
    'isClaiming',
    'isNamed',
    'isSent',
    'lookAt',
    'maker',
    'noted',
    'onRestart',
    'order',
  ],
  ...['parcel', 'resends', 'settings', 'soonest', 'taken', 'timer', 'walk', 'writes', 'writing'],
  // delivery
  ...[
    'ask',
    'failed',
    'handOff',
    'halt',
    'isCutOff',
    'isLeaving',
    'isSilent',
    'joins',
    'lacksToken',
  ],
  ...['look', 'loseRunning', 'mayGo', 'onEnd', 'outbox', 'places', 'prepare', 'problem', 'pump'],
  ...['reconfigure', 'retryAfterMs', 'room', 'trouble'],
  // the page, consent, and the user
  ...['begin', 'current', 'erase', 'erasing', 'leave', 'offer', 'online', 'remember'],
  // what is captured
  ...['listen', 'onLeave', 'onView'],
];
