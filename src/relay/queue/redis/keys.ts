import { laneOf } from '../lane.js';
import type { QueuedRecord } from '../ports.js';
import { recordKeyOf } from '../record-key.js';

/** The names of a queue. The braces keep all of them on one node of a cluster, so that scripts may use them. */
export const createQueueKeys = (prefix: string) => {
  const name = (rest: string) => `{${prefix}}:${rest}`;
  return {
    /** What every script of the queue is given, in this order. */
    all: ['records', 'weight', 'heads', 'due', 'out', 'dead'].map(name),
    dead: name('dead'),
    /** How the lists of the lanes begin. */
    lanes: name('lane:'),
  };
};

/** What the scripts have to know of a record that is put. */
export const putArgsOf = (record: QueuedRecord): (string | number)[] => [
  laneOf(record),
  recordKeyOf(record),
  record.at,
  JSON.stringify(record),
];
