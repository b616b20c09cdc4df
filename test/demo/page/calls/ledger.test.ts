import { expect, it } from 'vitest';
import { createLedger } from '../../../../demo/page/calls/ledger';

const memoryStorage = () => {
  const items = new Map<string, string>();
  return {
    get: (key: string) => items.get(key),
    set: (key: string, value: string) => !!items.set(key, value),
    remove: (key: string) => void items.delete(key),
    keys: () => [...items.keys()],
  };
};

const call = (id: string, at: number) => ({ id, type: 'event' as const, name: id, at });

const setUp = () => {
  const storage = memoryStorage();
  let time = 0;
  const open = (visit: string) =>
    createLedger({ storage, prefix: 'demo calls db', visit, now: () => ++time });
  return { open, storage };
};

it('knows the calls of earlier visits, the newest first', () => {
  const { open } = setUp();
  open('v1').add([call('a', 1), call('b', 1)]);
  const later = open('v2');
  later.add([call('c', 2)]);
  expect(later.all().map(({ id }) => id)).toEqual(['c', 'b', 'a']);
});

it('believes the latest word on a call, whichever visit has it', () => {
  const { open } = setUp();
  const first = open('v1');
  first.add([call('a', 1)]);
  first.setFate('a', 'in flight');
  first.save();
  const second = open('v2');
  second.setFate('a', 'unknown');
  expect(second.all()[0]?.fate.kind).toBe('unknown');
});

it('forgets what is settled and keeps what is on its way', () => {
  const { open, storage } = setUp();
  open('v1').add([call('old', 1)]);
  const now = open('v2');
  now.add([call('a', 2), call('b', 3)]);
  now.setFate('a', 'delivered');
  now.setFate('old', 'dropped', 'expired');
  now.forgetSettled({ everywhere: true });
  expect(now.all().map(({ id }) => id)).toEqual(['b']);
  expect(storage.keys()).toHaveLength(1);
});

it('makes room for new visits by whole old ones', () => {
  const { open } = setUp();
  const many = (visit: string) =>
    open(visit).add(Array.from({ length: 1_500 }, (_, i) => call(`${visit}-${i}`, i)));
  many('v1');
  many('v2');
  const ids = open('v3')
    .all()
    .map(({ id }) => id);
  expect(ids).toHaveLength(1_500);
  expect(ids[0]).toMatch(/^v2/);
});
