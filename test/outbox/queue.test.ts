import { describe, expect, it } from 'vitest';
import { createEntry, createHold } from '../../src/outbox/entry.js';
import { createQueue } from '../../src/outbox/queue.js';
import { makeRecord } from '../support/make-record.js';

const own = () => createHold('own', 0, true);
const adopted = (owner = 'other') => createHold(owner, 0, false);

const entry = (id: string, hold = own(), parts: Parameters<typeof makeRecord>[1] = {}) =>
  createEntry(makeRecord(id, parts), hold, 0);

const idsOf = (queue: ReturnType<typeof createQueue>) =>
  queue.entries.map(({ record }) => record.id);

describe('the queue', () => {
  it("puts adopted records before this page's own, behind those adopted earlier", () => {
    const queue = createQueue();
    queue.push(entry('own1'), true);
    queue.insert([entry('a1', adopted('a')), entry('a2', adopted('a'))]);
    queue.push(entry('own2'), true);
    queue.insert([entry('b1', adopted('b'))]);
    expect(idsOf(queue)).toEqual(['a1', 'a2', 'b1', 'own1', 'own2']);
  });

  it('puts what comes back from a lost owner where it stood among the calls', () => {
    const queue = createQueue();
    for (const id of ['a', 'b', 'c']) queue.push(entry(id), true);
    const [, b] = [...queue.entries];
    queue.take(b!);
    queue.push(createEntry(b!.record, own(), 7, b!.order), false);
    expect(idsOf(queue)).toEqual(['a', 'b', 'c']);
  });

  it('puts what another page called before the calls made later', () => {
    const queue = createQueue();
    queue.push(entry('early', own(), { at: 1 }), true);
    queue.push(entry('late', own(), { at: 3 }), true);
    queue.push(entry('of another', own(), { at: 2 }), false);
    expect(idsOf(queue)).toEqual(['early', 'of another', 'late']);
  });

  it('counts records and bytes for their hold', () => {
    const queue = createQueue();
    const hold = own();
    const [a, b] = [entry('a', hold, { bytes: 10 }), entry('b', hold, { bytes: 5 })];
    queue.push(a, true);
    queue.push(b, true);
    expect([hold.count, hold.bytes]).toEqual([2, 15]);
    queue.take(a);
    queue.take(a);
    expect([hold.count, hold.bytes]).toEqual([1, 5]);
  });

  it('counts bytes of UTF-8, not letters', () => {
    const hold = own();
    createQueue().push(createEntry({ ...makeRecord('a'), body: '"é🎉"' }, hold, 0), true);
    expect(hold.bytes).toBe(8);
  });

  it('has no surplus within the caps', () => {
    const queue = createQueue();
    queue.push(entry('a', own(), { bytes: 10 }), true);
    expect(queue.surplus({ maxRecords: 1, maxBytes: 10 })).toBeUndefined();
    expect(queue.surplus({ maxRecords: 0, maxBytes: 10 })?.record.id).toBe('a');
    expect(queue.surplus({ maxRecords: 1, maxBytes: 9 })?.record.id).toBe('a');
  });

  it('lets events go before identifies, adopted ones before own ones', () => {
    const queue = createQueue();
    queue.push(entry('own'), true);
    queue.insert([
      entry('who', adopted(), { type: 'identify', user: 'u' }),
      entry('event', adopted()),
    ]);
    const gone: string[] = [];
    let surplus;
    while ((surplus = queue.surplus({ maxRecords: 0, maxBytes: 0 }))) {
      gone.push(surplus.record.id);
      queue.take(surplus);
    }
    expect(gone).toEqual(['event', 'own', 'who']);
  });

  it('has no surplus in what is in flight', () => {
    const queue = createQueue();
    const flying = entry('a');
    flying.state = 'flight';
    queue.push(flying, true);
    expect(queue.surplus({ maxRecords: 0, maxBytes: 0 })).toBeUndefined();
  });
});
