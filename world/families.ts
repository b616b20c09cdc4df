import type { Kind } from './draw.js';
import type { Promised } from './judge.js';

export interface Family {
  kind: Kind;
  promised: Promised;
}

const WAYS: Kind['ways'] = ['direct', 'keyed', 'relay'];
const EVERYTHING: Promised = {
  once: true,
  inOrder: true,
  oneFate: true,
  waits: 'of both',
  storedWithinMs: 0,
};
/** Of what a page writes as it goes, WebKit keeps what is in localStorage alone: where that is full, it keeps nothing. */
const KEEPERS: Kind['engines'] = ['chromium', 'firefox'];
/** What holds everywhere: nothing is lost that was stored, and nothing without a word. */
const LEAST: Promised = {
  once: false,
  inOrder: false,
  oneFate: false,
  waits: 'of none',
  storedWithinMs: Infinity,
};

/** Families of worlds, and what is promised in each. A world that nobody can promise this for is drawn in none of them. */
export const FAMILIES: Record<string, Family> = {
  'storage works, clocks are right: each record is stored once, in order, and has one end': {
    kind: { ways: WAYS, stands: true },
    promised: EVERYTHING,
  },
  'pages are killed: only what was called in that moment is lost': {
    kind: { ways: WAYS, stands: true, kills: true },
    promised: { ...EVERYTHING, oneFate: false, storedWithinMs: 100 },
  },
  'IndexedDB fails once: nothing changes': {
    kind: { ways: WAYS, faults: { least: 1, most: 1, of: ['storage'] } },
    promised: EVERYTHING,
  },
  'localStorage is full once: pages no longer share their waits, and nothing else changes': {
    kind: { ways: WAYS, engines: KEEPERS, faults: { least: 1, most: 1, of: ['shelf'] } },
    promised: { ...EVERYTHING, waits: 'of records' },
  },
  'IndexedDB fails, pages are killed, and clocks are set: nothing is lost without a word': {
    kind: {
      ways: ['direct'],
      stands: true,
      kills: true,
      crashes: true,
      faults: { least: 2, most: 2, of: ['storage', 'clock', 'clear'] },
    },
    promised: LEAST,
  },
  'localStorage is full, pages are killed, and clocks are set: nothing is lost without a word': {
    kind: {
      ways: ['direct'],
      engines: KEEPERS,
      stands: true,
      kills: true,
      faults: { least: 2, most: 2, of: ['shelf', 'clock', 'clear'] },
    },
    promised: LEAST,
  },
  'repeats are recognised: each record is stored once, whatever happens': {
    kind: {
      ways: ['keyed', 'relay'],
      stands: true,
      kills: true,
      crashes: true,
      faults: { least: 0, most: 3, of: ['storage', 'clock', 'clear'] },
    },
    promised: { ...LEAST, once: true },
  },
};
