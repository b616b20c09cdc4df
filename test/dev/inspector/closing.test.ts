import { describe, expect, it } from 'vitest';
import type { Status } from '../../../src/client/types.js';
import { closeNow } from '../../../src/dev/inspector/closing.js';
import type { Line } from '../../../src/dev/inspector/lines.js';
import { lineOf, NOW } from './line-of.js';

const SENT = [{ sentAt: NOW - 100, handoff: false }];

type Situation = Parameters<typeof closeNow>[0];

/** Names of the records by what would become of them. */
const close = (lines: Line[], more: Partial<Situation> = {}) => {
  const closing = closeNow({
    status: { storage: 'indexeddb' } as Status,
    ...{ isInTrouble: false, isAsked: false, isOffline: false, resends: false, now: NOW },
    isRelay: false,
    ...{ lines, ...more },
  });
  const names = (list: readonly Line[]) => list.map(({ name }) => name).join();
  const { handedOff, onTheWire, waits, lost, notStored } = closing;
  return {
    handedOff: names(handedOff),
    onTheWire: names(onTheWire),
    waits: names(waits),
    lost: names(lost),
    notStored,
  };
};

describe('if the page were closed now', () => {
  it('hands off what waits, oldest first, within the budget of the browser', () => {
    const body = JSON.stringify('a'.repeat(30_000));
    const lines = [lineOf('third'), lineOf('second', { body }), lineOf('first', { body })];
    expect(close(lines)).toMatchObject({ handedOff: 'first', waits: 'second,third' });
  });

  it.each([
    ['directly no more requests than the page starts', { resends: false, isRelay: false }, 128],
    ['with keys no more either', { resends: true, isRelay: false }, 128],
    ['by relay all of them in batches', { resends: true, isRelay: true }, 200],
  ])('hands off %s', (_, form, count) => {
    const lines = Array.from({ length: 200 }, (_, i) => lineOf(`${i}`));
    const { handedOff, waits } = close(lines, form);
    expect(handedOff.split(',')).toHaveLength(count);
    expect(waits.split(',').filter(Boolean)).toHaveLength(200 - count);
  });

  it('keeps what is handed off apart from what is on the wire, and from what has ended', () => {
    const end = { at: NOW, what: 'delivered', message: '' } as const;
    const lines = [lineOf('waits'), lineOf('runs', { tries: SENT }), lineOf('done', { end })];
    expect(close(lines)).toMatchObject({ handedOff: 'waits', onTheWire: 'runs', waits: '' });
  });

  it('hands off nothing in trouble, unless the receiver knows repeats and asked for no wait', () => {
    const lines = [lineOf('one'), lineOf('failed', { due: NOW + 500 })];
    expect(close(lines, { isInTrouble: true })).toMatchObject({ waits: 'failed,one' });
    expect(close(lines, { isOffline: true })).toMatchObject({ waits: 'failed,one' });
    const resends = { isInTrouble: true, resends: true };
    expect(close(lines, resends)).toMatchObject({ handedOff: 'failed,one' });
    expect(close(lines, { ...resends, isAsked: true })).toMatchObject({ waits: 'failed,one' });
  });

  it('lets a record that failed wait for its own turn', () => {
    const lines = [lineOf('one'), lineOf('failed', { due: NOW + 500 })];
    expect(close(lines)).toMatchObject({ handedOff: 'one', waits: 'failed' });
  });

  it('counts what waits and is not in the database yet', () => {
    const fresh = lineOf('fresh');
    delete fresh.storedAt;
    expect(close([fresh, lineOf('old')], { isInTrouble: true })).toMatchObject({ notStored: 1 });
  });

  it('loses what is in memory only, since consent is pending', () => {
    const status = { storage: 'none' } as Status;
    expect(close([lineOf('one')], { status })).toMatchObject({ lost: 'one', handedOff: '' });
  });
});
