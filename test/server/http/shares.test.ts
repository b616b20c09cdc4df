import { describe, expect, it } from 'vitest';
import { createAdmission, type OwnRate } from '../../../src/server/http/admission.js';
import { createShares } from '../../../src/server/http/shares.js';

interface Sender {
  client: string;
  own?: OwnRate;
}
/** Sends what it likes, each tick. */
type Crowd = (send: (sender: Sender, records: number) => boolean, tick: number) => void;

const TICK_MS = 5;
const TICKS_A_SECOND = 1_000 / TICK_MS;

/** Runs crowds beside each other, with the limits by default. */
const run = (seconds: number, crowds: readonly Crowd[]): void => {
  let time = 1_000_000;
  const admission = createAdmission({
    now: () => time,
    tell: { metric: () => {}, error: () => {} } as never,
  });
  /** A batch takes the way of a request, and passes if nothing refuses it. */
  const send = ({ client, own }: Sender, records: number): boolean => {
    const { charge, admit } = admission.accountOf(client, own);
    return !(charge(0) ?? admit(0) ?? charge(records) ?? admit(records));
  };
  for (let tick = 0; tick < seconds * TICKS_A_SECOND; tick++) {
    for (const crowd of crowds) crowd(send, tick);
    time += TICK_MS;
  }
};

/** Ten times a second each sends batches of so many records until one is refused, four of them at the most. */
const flood =
  (senders: readonly Sender[], records: number): Crowd =>
  (send, tick) => {
    for (let at = tick % 20; at < senders.length; at += 20)
      for (let n = 0; n < 4 && send(senders[at]!, records); n++);
  };

/** Senders who send batches of five records in turn, so many a second, and send none of them again. */
const visits = (senders: readonly Sender[], batchesASecond: number) => {
  const passed: boolean[] = [];
  const crowd: Crowd = (send, tick) => {
    while (passed.length * TICKS_A_SECOND < (tick + 1) * batchesASecond)
      passed.push(send(senders[passed.length % senders.length]!, 5));
  };
  const shareOf = (part: readonly boolean[]) => part.filter(Boolean).length / part.length;
  return {
    crowd,
    /** The share that passed in the first ten seconds, and after them. */
    served: (): [early: number, late: number] => [
      shareOf(passed.slice(0, 10 * batchesASecond)),
      shareOf(passed.slice(10 * batchesASecond)),
    ],
  };
};

const many = (count: number, clientOf: (n: number) => string): Sender[] =>
  Array.from({ length: count }, (_, n) => ({ client: clientOf(n) }));
/** Addresses of networks of IPv4, with so many of each. */
const ofV4 = (networks: number, addresses: number, first = 10) =>
  many(networks * addresses, (n) => {
    const network = Math.floor(n / addresses);
    return `${first}.${network >> 8}.${network & 255}.${1 + (n % addresses)}`;
  });
/** Addresses of networks of IPv6 (/48), with so many of each, in so many blocks of providers (/32). */
const ofV6 = (networks: number, addresses: number, blocks = 1, first = 0x100) =>
  many(networks * addresses, (n) => {
    const block = (first + (n % blocks)).toString(16);
    return `2001:${block}:${(n % networks).toString(16)}:${n.toString(16)}::/64`;
  });

const ATTACKS: Record<string, readonly Sender[]> = {
  'a /24 of 200 addresses': ofV4(1, 200),
  '3 /24s of 70 addresses': ofV4(3, 70),
  '6 /48s of 40 addresses': ofV6(6, 40),
  'a /32 of 300 /48s': ofV6(300, 1),
  'a token without a limit': Array(60).fill({ client: 'x', own: { key: '0', rate: false } }),
  '300 /24s': ofV4(300, 2),
};

const FLOODS = Object.keys(ATTACKS).flatMap((name) =>
  [10, 100].map((records) => ({ name, records })),
);

it.each(FLOODS)('leaves others at least 95 % beside $name with $records at once', (attack) => {
  const crowds = [
    visits(ofV4(2_000, 1, 11), 20),
    visits(ofV6(2_000, 1, 50, 0x200), 20),
    visits(
      many(1, () => ''),
      0.2,
    ), // all clients without an address
  ];
  run(20, [flood(ATTACKS[attack.name]!, attack.records), ...crowds.map(({ crowd }) => crowd)]);
  for (const { served } of crowds)
    for (const share of served()) expect(share).toBeGreaterThanOrEqual(0.95);
});

/** Each with the batches of five that it sends a second; a client has 100 records a second. */
const CROWDS: Record<string, [senders: readonly Sender[], batchesASecond: number]> = {
  'an office of 300 behind one address': [many(300, () => '192.0.2.1'), 19],
  'a /24 of a carrier': [ofV4(1, 250), 240],
  'homes of one provider of IPv6': [ofV6(2_000, 1), 300],
  'a university with one /48': [ofV6(1, 400), 300],
  'clients without an address': [many(1, () => ''), 19],
};

it.each(Object.keys(CROWDS).map((name) => ({ name })))(
  'serves all of $name without an attack',
  ({ name }) => {
    const { crowd, served } = visits(...CROWDS[name]!);
    run(20, [crowd]);
    expect(served()).toEqual([1, 1]);
  },
);

describe('the share of a network', () => {
  const setUp = (perSecond: number, burst: number) => {
    const clock = { time: 1_000_000 };
    const passes = createShares({ perSecond, burst }, () => clock.time);
    /** How many single records of a network pass at once. */
    const pour = (network: string) => {
      let count = 0;
      while (passes(network, 1)) count++;
      return count;
    };
    return { clock, passes, pour };
  };

  it('is half of what the others leave', () => {
    const { pour } = setUp(10, 800);
    expect(['a', 'b', 'c', 'd'].map(pour)).toEqual([401, 200, 100, 50]);
  });

  it('is four times as much of what is left for a /32 of IPv6', () => {
    const { pour } = setUp(10, 1_000);
    const passed = [0, 1, 2, 3, 4, 5].map((n) => pour(`2001:db8:${n}::/48`));
    expect(passed.reduce((sum, one) => sum + one)).toBe(801);
    expect(pour('2001:db9:0::/48')).toBe(100);
  });

  it('is all of the rate for a network that is alone', () => {
    const { clock, passes } = setUp(100, 200);
    let passed = 0;
    for (let n = 0; n < 10_000; n++) {
      clock.time += 5;
      if (passes('a', 1)) passed++;
    }
    expect(passed).toBeGreaterThan(5_000);
  });

  it('lets a batch pass that is larger than the burst', () => {
    const { clock, passes } = setUp(10, 20);
    expect(passes('a', 100)).toBe(true);
    expect(passes('b', 1)).toBe(false);
    clock.time += 8_000;
    expect(passes('b', 1)).toBe(true);
  });

  it('neither grows nor shrinks where the clock is set back, and goes on by the new time', () => {
    const { clock, passes, pour } = setUp(100, 1_000);
    pour('a');
    clock.time = 0;
    expect(passes('a', 0)).toBe(false);
    expect(passes('b', 400)).toBe(true);
    clock.time += 10_000;
    expect(passes('a', 0)).toBe(true);
  });

  it('is charged only for what passed, of 10,000 networks', () => {
    const { passes, pour } = setUp(0.001, 100_000);
    expect(pour('a')).toBe(50_001);
    for (let n = 0; n < 20_000; n++) passes(`refused ${n}`, 60_000);
    for (let n = 0; n < 9_999; n++) passes(`passed ${n}`, 1);
    expect(passes('a', 0)).toBe(false);
    passes('one more', 1);
    expect(passes('a', 0)).toBe(true);
  });
});
