import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../src/server/deliver/slots.js';

/** Work that ends when it is told to, in slots of a fixed number. */
const setUp = (limit: number) => {
  const inSlot = createSlots((underWay) => underWay < limit);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (client: string, name: string): Promise<void> =>
    inSlot(client, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  /** Ends what runs, one after the other in the order of its start, until nothing waits. */
  const endAll = async (): Promise<void> => {
    for (let next = 0; next < started.length; next++) {
      ends.get(started[next]!)!();
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  return { inSlot, add, started, endAll };
};

const settle = () => new Promise((resolve) => setTimeout(resolve));

describe('slots', () => {
  it('let clients that wait take turns, and keep the order of each', async () => {
    const { add, started, endAll } = setUp(2);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void add('a', name);
    for (const name of ['b1', 'b2']) void add('b', name);
    void add('c', 'c1');
    await settle();
    expect(started).toEqual(['a1', 'a2']);
    await endAll();
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  it('give a client that is alone all there are', async () => {
    const { add, started } = setUp(3);
    for (const name of ['a1', 'a2', 'a3', 'a4']) void add('a', name);
    await settle();
    expect(started).toEqual(['a1', 'a2', 'a3']);
  });

  it('are free again after work that fails', async () => {
    const { inSlot } = setUp(1);
    const failing = inSlot('a', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await inSlot('b', async () => 'done')).toBe('done');
  });
});
