import { describe, expect, it } from 'vitest';
import { networkOf } from '../../../src/server/http/client.js';
import { createHeldBodies, type HeldBody } from '../../../src/server/http/held-bodies.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Bodies that are being read; each knows whether it was cut off. */
const setUp = (most?: Parameters<typeof createHeldBodies>[0]) => {
  const hold = createHeldBodies(most);
  return (client: string, network = networkOf(client)) => {
    const held = hold(client, network);
    const body = {
      ...{ held, isCut: false, status: (to: number) => held.grow(to)?.status },
      settled: () => (held.cutOff = undefined),
    };
    held.cutOff = ({ status }) => (body.isCut = status === 503);
    return body;
  };
};

describe('the room for bodies', () => {
  const small = { all: 100 * KIB, large: 75 * KIB, ofClient: 40 * KIB };

  it('is bounded for a client, and free again for what is released', () => {
    const open = setUp(small);
    const body = open('192.0.2.1');
    expect(body.status(40 * KIB)).toBeUndefined();
    expect(open('192.0.2.1').status(1)).toBe(429);
    expect(open('192.0.2.2').status(40 * KIB)).toBeUndefined();
    body.held.release();
    expect(open('192.0.2.1').status(40 * KIB)).toBeUndefined();
  });

  it('counts what is announced at once, and a kibibyte at least', () => {
    const open = setUp({ all: 10 * KIB });
    const bodies = Array.from({ length: 11 }, () => open('192.0.2.1'));
    expect(bodies.map(({ status }) => status(0))).toEqual([...Array(10).fill(undefined), 503]);
    const body = setUp(small)('192.0.2.1');
    body.held.grow(30 * KIB);
    body.held.grow(1);
    expect(body.held.size()).toBe(30 * KIB);
    body.held.release();
    expect(body.held.size()).toBe(30 * KIB);
  });

  it('is shared by clients that cannot be told apart', () => {
    const open = setUp(small);
    for (let n = 0; n < 10; n++) expect(open('').status(10 * KIB)).toBeUndefined();
    expect(open('').status(1)).toBe(503);
  });

  it('is made by the newest body of the network that holds most', () => {
    const open = setUp(small);
    const [first, second, third] = [1, 2, 3].map((n) => open(`192.0.2.${n}`));
    for (const body of [first!, second!, third!]) body.held.grow(20 * KIB);
    const other = open('198.51.100.1');
    other.held.grow(30 * KIB);
    expect(open('203.0.113.1').status(12 * KIB)).toBeUndefined();
    expect([first, second, third, other].map((body) => body!.isCut)).toEqual([
      ...[false, false, true, false],
    ]);
  });

  it('is refused to the network that would hold most', () => {
    const open = setUp(small);
    const bodies = [1, 2, 3].map((n) => open(`192.0.2.${n}`));
    for (const body of bodies) body.held.grow(20 * KIB);
    const other = open('198.51.100.1');
    other.held.grow(40 * KIB);
    expect(open('192.0.2.4').status(1)).toBe(503);
    expect(open('198.51.100.2').status(20 * KIB)).toBe(503);
    expect([...bodies, other].some(({ isCut }) => isCut)).toBe(false);
  });

  it('is kept in part for small bodies, and a body that has become large counts as one', () => {
    const open = setUp({ all: 400 * KIB, large: 300 * KIB });
    const large = [1, 2, 3].map((n) => open(`192.0.2.${n}`, `n${n}`));
    for (const body of large) {
      body.held.grow(60 * KIB);
      expect(body.status(100 * KIB)).toBeUndefined();
    }
    expect(open('192.0.2.4', 'n4').status(101 * KIB)).toBe(503);
    expect(open('192.0.2.5', 'n5').status(60 * KIB)).toBeUndefined();
    expect(large.some(({ isCut }) => isCut)).toBe(false);
  });

  it('is not made by a body that was read already', () => {
    const open = setUp(small);
    const bodies = [1, 2, 3].map((n) => open(`192.0.2.${n}`));
    for (const body of bodies) {
      body.held.grow(30 * KIB);
      body.settled();
    }
    expect(open('198.51.100.1').status(20 * KIB)).toBe(503);
    expect(bodies.some(({ isCut }) => isCut)).toBe(false);
  });
});

/** Bodies of an attacker, which are sent again and again where they are refused or cut off. */
interface Attack {
  clients: readonly string[];
  bodies: readonly (readonly [count: number, bytes: number])[];
  network?: string;
}
const addresses = (networks: number, each: number) =>
  Array.from(
    { length: networks * each },
    (_, n) => `10.0.${n % networks}.${Math.floor(n / networks)}`,
  );
const homes = (networks: number, each: number) =>
  Array.from({ length: networks * each }, (_, n) => `2001:db8:${n % networks}:${n}::/64`);

const ATTACKS: Record<string, Attack> = {
  '63 bodies of 1 MiB from 63 /64s of one /48, and many small ones': {
    clients: homes(1, 63),
    bodies: [
      [1, MIB - 1],
      [5, 60 * KIB],
      [10, 1],
    ],
  },
  '12 addresses in 12 /24s': { clients: addresses(12, 1), bodies: [[8, MIB - 1]] },
  'a /24 of 200 addresses': { clients: addresses(1, 200), bodies: [[4, 300 * KIB]] },
  '3 /24s of 70 addresses': { clients: addresses(3, 70), bodies: [[10, 60 * KIB]] },
  '6 /48s of 40 addresses': { clients: homes(6, 40), bodies: [[8, 100 * KIB]] },
  'a token without a limit': { clients: addresses(40, 1), bodies: [[20, MIB]], network: 'token 0' },
  '300 /24s': { clients: addresses(300, 1), bodies: [[2, 600 * KIB]] },
};

it.each(Object.keys(ATTACKS).map((name) => ({ name })))(
  'lets at least 95 % of slow bodies of others in beside $name',
  ({ name }) => {
    const { clients, bodies, network } = ATTACKS[name]!;
    const open = setUp();
    const wanted = clients.flatMap((client) =>
      bodies.flatMap(([count, bytes]) => Array(count).fill({ client, bytes })),
    ) as { client: string; bytes: number; body?: ReturnType<typeof open> }[];
    const attack = (): void => {
      for (const one of wanted) {
        if (one.body && !one.body.isCut) continue;
        const body = open(one.client, network);
        one.body = body;
        if (!body.status(one.bytes)) continue;
        body.held.release();
        delete one.body;
      }
    };
    // 200,000 bytes in 8 s, of half of them announced: two begin each tenth of a second.
    const STEPS = 80;
    const all: { held: HeldBody; step: number; isCut: () => boolean; isRefused: boolean }[] = [];
    for (let tick = 0; tick < 300; tick++) {
      if (tick % 5 === 0) attack();
      for (const [index, one] of all.entries()) {
        if (one.isRefused || one.isCut() || one.step === STEPS) continue;
        one.step++;
        one.isRefused = !!one.held.grow((index % 2 ? 1 : one.step / STEPS) * 200_000);
        if (one.isRefused || one.step === STEPS) one.held.release();
      }
      for (let n = 0; n < 2; n++) {
        const body = open(`11.${tick >> 8}.${tick & 255}.${n}`, `other ${tick} ${n}`);
        all.push({ held: body.held, step: 0, isCut: () => body.isCut, isRefused: false });
      }
    }
    const old = all.filter((_, index) => index < 400);
    const done = old.filter(({ step, isRefused }) => step === STEPS && !isRefused);
    expect(done.length / old.length).toBeGreaterThanOrEqual(0.95);
  },
);
