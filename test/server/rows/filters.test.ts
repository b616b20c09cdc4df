import { describe, expect, it } from 'vitest';
import {
  activeFilters,
  isFiltered,
  NO_FILTERS,
  queryOf,
  readFilters,
  withHidden,
  withOnly,
  withTyped,
  type Filters,
} from '../../../src/server/rows/page/state/filters.js';

const ALL: Filters = {
  ...{ text: 'a & b=c', project: 'shop', channel: 'web', user: 'anna+1@example.org' },
  ...{ type: 'event', event: ['Order Placed', '\u200b'], not: ['Page Viewed, twice'], mine: true },
  ...{ tag: ['plan=pro'], from: '2026-03-01T12:00:00.000Z', to: '2026-03-01T13:00:00.000Z' },
};

describe('filters', () => {
  it('come back from the address as they were', () => {
    expect(readFilters(`?${queryOf(ALL)}`)).toEqual(ALL);
    expect(readFilters('')).toEqual(NO_FILTERS);
  });

  it('take from an address only what they know', () => {
    expect(readFilters('?type=row&mine=yes&event=&event=A&event=A&show=refused&x=1')).toEqual({
      ...NO_FILTERS,
      event: ['A'],
    });
  });

  it('ask for no longer text than the service takes', () => {
    expect(readFilters(`?text=${'x'.repeat(300)}`).text).toHaveLength(200);
  });

  it.each<[typed: string, Partial<Filters>]>([
    ['red shoes', { text: 'red shoes' }],
    ['event:Signed Up', { event: ['Signed Up'] }],
    ['x event:A event:"B" -event:C', { text: 'x', event: ['A', 'B'], not: ['C'] }],
    [
      'user:mia@example.com tag:plan=pro tag:n',
      { user: 'mia@example.com', tag: ['plan=pro', 'n'] },
    ],
    [
      'type:identify project:shop channel:web',
      { type: 'identify', project: 'shop', channel: 'web' },
    ],
    ['type:row event:', {}],
    ['https://a.example/x', { text: 'https://a.example/x' }],
  ])('are what is typed: %s', (typed, filters) =>
    expect(withTyped({ ...NO_FILTERS, text: 'before' }, typed)).toEqual({
      ...NO_FILTERS,
      ...filters,
    }),
  );

  it('know whether there are any', () => {
    expect([isFiltered(NO_FILTERS), isFiltered({ ...NO_FILTERS, mine: true })]).toEqual([
      ...[false, true],
    ]);
  });

  it('show or hide a name, and never both', () => {
    const only = withOnly(NO_FILTERS, 'A');
    expect([only.event, only.not]).toEqual([['A'], []]);
    const hidden = withHidden(only, 'A');
    expect([hidden.event, hidden.not]).toEqual([[], ['A']]);
    expect(withOnly(hidden, 'A')).toEqual(only);
    // Only events have names.
    expect(withOnly({ ...NO_FILTERS, type: 'identify' }, 'A').type).toBe('');
  });

  it('can be taken away one by one, until none is left', () => {
    let filters = ALL;
    const seen: string[] = [];
    for (let [next] = activeFilters(filters); next; [next] = activeFilters(filters)) {
      seen.push(`${next.word} ${next.value}`);
      filters = next.without;
    }
    expect(seen).toHaveLength(11);
    expect(filters).toEqual(NO_FILTERS);
  });
});
