import { describe, expect, it } from 'vitest';
import { createShares } from '../../../src/relay/delivery/seen-memory.js';

describe('shares', () => {
  it('give up the oldest of the client that has the most', () => {
    const shares = createShares();
    shares.add('a', 'a1');
    for (const item of ['b1', 'b2', 'b3']) shares.add('b', item);
    expect([shares.removeOldest(), shares.removeOldest()]).toEqual(['b1', 'b2']);
    shares.add('a', 'a2');
    expect(shares.removeOldest()).toBe('a1');
  });

  it('know of nobody whose last thing has gone', () => {
    const shares = createShares();
    shares.add('a', 'a1');
    shares.add('b', 'b1');
    shares.remove('a', 'a1');
    expect(shares.removeOldest()).toBe('b1');
    shares.add('c', 'c1');
    expect(shares.removeOldest()).toBe('c1');
  });

  it('agree with a count of everything, whatever is added and removed', () => {
    const shares = createShares();
    const all = new Map<string, string[]>();
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 5_000; step++) {
      const client = `c${random(9)}`;
      const items = all.get(client) ?? [];
      all.set(client, items);
      const what = random(5);
      if (items.length && what < 1) {
        shares.remove(client, items.splice(random(items.length), 1)[0]!);
      } else if (items.length && what < 2) {
        const most = Math.max(...[...all.values()].map(({ length }) => length));
        const item = shares.removeOldest();
        const loser = [...all.values()].find(([first]) => first === item);
        expect(loser?.length).toBe(most);
        loser?.shift();
      } else {
        items.push(`i${step}`);
        shares.add(client, `i${step}`);
      }
    }
  });
});
