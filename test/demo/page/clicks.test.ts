import { expect, it } from 'vitest';
import { createClicks, markIn, tallyOf, verdictOf, type End } from '../../../demo/page/clicks.js';

const begin = () => {
  const clicks = createClicks();
  const one = (id: string) => clicks.all().find((click) => click.id === id)!;
  const withIt = (id: string, readAt: number) => verdictOf(one(id), 'with', readAt);
  return { clicks, one, withIt };
};

it('believes the service’s rows, whatever the page says', () => {
  const { clicks, withIt } = begin();
  const id = clicks.add();
  clicks.end(id, 'with', { as: 'dropped', at: 1_000 });
  clicks.store(id, 'with');
  expect(withIt(id, 2_000)).toBe('stored');
  clicks.store(id, 'with');
  expect(withIt(id, 2_000)).toBe('twice');
});

it.each([
  ['answered', 'lost'],
  ['dropped', 'dropped'],
  ['unknown', 'unknown'],
] as [End['as'], string][])(
  'says what became of a click only after a later look: %s',
  (as, verdict) => {
    const { clicks, withIt } = begin();
    const id = clicks.add();
    expect(withIt(id, 5_000)).toBe('waiting');
    clicks.end(id, 'with', { as, at: 2_000 });
    expect(withIt(id, 2_000)).toBe('waiting');
    expect(withIt(id, 2_001)).toBe(verdict);
  },
);

it('counts the two ways of a click apart', () => {
  const { clicks } = begin();
  const [kept, lost] = [clicks.add('down'), clicks.add('down')];
  clicks.store(kept, 'with');
  clicks.store(kept, 'without');
  clicks.end(lost, 'without', { as: 'answered', at: 1_000 });
  const none = { stored: 0, waiting: 0, dropped: 0, unknown: 0, lost: 0, twice: 0 };
  expect(tallyOf(clicks.all(), 'with', 2_000)).toEqual({ ...none, stored: 1, waiting: 1 });
  expect(tallyOf(clicks.all(), 'without', 2_000)).toEqual({ ...none, stored: 1, lost: 1 });
});

it('knows its own rows by their tags or properties, and no others', () => {
  const mark = { demo_id: 'a-1', demo_lane: 'without' };
  expect(markIn({ event: 'Paid', tags: mark })).toEqual({ id: 'a-1', lane: 'without' });
  expect(markIn({ user_id: 'u', properties: mark })).toEqual({ id: 'a-1', lane: 'without' });
  expect(markIn({ event: 'Paid', tags: { demo_id: 'a-1', demo_lane: 'other' } })).toBe(undefined);
  expect(markIn({ event: 'Paid' })).toBe(undefined);
});
