import { beforeEach, expect, test } from 'vitest';
import { createJudge, type Promised } from './judge.js';

const EVERYTHING: Promised = {
  once: true,
  inOrder: true,
  oneFate: true,
  waits: true,
  storedWithinMs: 100,
};

let time = 0;
let broken: string[] = [];
beforeEach(() => {
  time = 0;
  broken = [];
});

/** A judge of a world in which one page has called an identify and an event of the same user. */
const judgeOf = (promised: Partial<Promised> = {}, knowsRepeats = false) => {
  const judge = createJudge(
    { ...EVERYTHING, ...promised },
    knowsRepeats,
    () => time,
    (invariant) => void broken.push(invariant),
  );
  const common = { user: 'ada', destination: 'x', page: 'p' };
  judge.made({ ...common, id: 'i', name: 'identify 1', type: 'identify' }, true);
  judge.made({ ...common, id: 'e', name: 'event 2', type: 'event' }, true);
  return judge;
};
type Judge = ReturnType<typeof judgeOf>;

const send = (judge: Judge, id: string, page = 'p') => {
  judge.started(page, 'x', [id], false);
  judge.sent(id, false);
};
const deliver = (judge: Judge, id: string) => {
  send(judge, id);
  judge.stored(id);
  judge.outcome('p', id, 'delivered');
};
const fail = (judge: Judge, seconds?: number) => {
  send(judge, 'i');
  judge.answered('p', ['i'], seconds);
  judge.outcome('p', 'i', 'retry');
};

test('a world in which all is delivered in order breaks nothing', () => {
  const judge = judgeOf();
  deliver(judge, 'i');
  deliver(judge, 'e');
  judge.close();
  expect(broken).toEqual([]);
  expect(judge.isOver()).toBe(true);
});

test.each<[breaks: string, how: (judge: Judge) => void, promised?: Partial<Promised>]>([
  ['lost', (judge) => judge.close()],
  ['once', (judge) => ['i', 'i'].forEach(judge.stored)],
  ['order', (judge) => judge.stored('e')],
  ['one fate', (judge) => ['i', 'i'].forEach((id) => deliver(judge, id)), { once: false }],
  ['honest', (judge) => judge.outcome('p', 'i', 'delivered')],
  ['honest', (judge) => judge.outcome('p', 'i', 'unknown')],
  ['honest', (judge) => judge.dropped('p', 'i', 'rejected')],
  ['ids', (judge) => send(judge, 'nobody')],
  ['destination', (judge) => judge.started('p', 'y', ['i'], false)],
  ['waits', (judge) => (fail(judge), (time = 499), send(judge, 'i'))],
  ['waits', (judge) => (fail(judge, 9), (time = 8_999), send(judge, 'e', 'another page'))],
  ['caps', (judge) => (judge.limitAge(1_000), (time = 1_151), send(judge, 'i'))],
])('the judge sees what breaks "%s"', (breaks, how, promised) => {
  how(judgeOf(promised));
  expect([...new Set(broken)]).toEqual(
    breaks === 'lost' ? ['lost'] : expect.arrayContaining([breaks]),
  );
});

test('what may be sent again is never unknown', () => {
  const judge = judgeOf({ oneFate: false }, true);
  send(judge, 'i');
  judge.outcome('p', 'i', 'unknown');
  expect(broken).toEqual(['honest']);
});

test('a wait that is over, or that a page has a reason to end, breaks nothing', () => {
  const judge = judgeOf();
  fail(judge, 9);
  time = 9_000;
  fail(judge);
  judge.hoped();
  send(judge, 'i');
  expect(broken).toEqual([]);
});

test('a page that is killed as it hears an answer may tell no other of it', () => {
  const judge = judgeOf();
  fail(judge, 9);
  judge.killed(() => true);
  send(judge, 'i', 'another page');
  expect(broken).toEqual([]);
});

test('a killed page may lose what it has just called, and nothing that is stored or older', () => {
  const judge = judgeOf();
  judge.killed((id) => id === 'i');
  judge.close();
  expect(broken).toEqual(['lost']);

  broken = [];
  const older = judgeOf();
  time = 101;
  older.killed(() => false);
  older.close();
  expect(broken).toEqual(['lost', 'lost']);
});
