import type { RecordType } from '../../../../interface/bodies.js';

/** Which rows are shown. The address of the page and the queries to the service use the same names. */
export interface Filters {
  text: string;
  project: string;
  channel: string;
  user: string;
  type: RecordType | '';
  /** Names of events: only these. */
  event: readonly string[];
  /** Names of events: not these. */
  not: readonly string[];
  /** Only what this browser sent. */
  mine: boolean;
}

export const NO_FILTERS: Filters = {
  ...{ text: '', project: '', channel: '', user: '', type: '' },
  ...{ event: [], not: [], mine: false },
};

/** The service takes no longer text. */
export const MAX_TEXT = 200;

const SINGLE = ['text', 'project', 'channel', 'user'] as const;
const isType = (text: string | null): text is RecordType => text === 'event' || text === 'identify';
const unique = (names: readonly string[]): string[] => [...new Set(names.filter(Boolean))];

export const readFilters = (query: string): Filters => {
  const given = new URLSearchParams(query);
  const type = given.get('type');
  return {
    ...NO_FILTERS,
    ...Object.fromEntries(
      SINGLE.map((name) => [
        name,
        (given.get(name) ?? '').slice(0, name === 'text' ? MAX_TEXT : undefined),
      ]),
    ),
    type: isType(type) ? type : '',
    event: unique(given.getAll('event')),
    not: unique(given.getAll('not')),
    mine: given.get('mine') === '1',
  };
};

export const queryOf = (filters: Filters): URLSearchParams => {
  const query = new URLSearchParams();
  for (const name of [...SINGLE, 'type'] as const) {
    if (filters[name]) query.set(name, filters[name]);
  }
  for (const name of filters.event) query.append('event', name);
  for (const name of filters.not) query.append('not', name);
  if (filters.mine) query.set('mine', '1');
  return query;
};

export const isFiltered = (filters: Filters): boolean => queryOf(filters).size > 0;

/** Shows only events of this name, or no longer only these if they are shown alone already. */
export const withOnly = (filters: Filters, name: string): Filters => ({
  ...filters,
  type: '',
  event: unique([...filters.event, name]),
  not: filters.not.filter((other) => other !== name),
});

export const withHidden = (filters: Filters, name: string): Filters => ({
  ...filters,
  event: filters.event.filter((other) => other !== name),
  not: unique([...filters.not, name]),
});

/** One filter that is on: in words, and the filters without it. */
export interface ActiveFilter {
  /** `only`, `not`, `project` … */
  word: string;
  value: string;
  without: Filters;
}

const WORDS = { text: 'text', project: 'project', channel: 'channel', user: 'user' } as const;

export const activeFilters = (filters: Filters): ActiveFilter[] => [
  ...SINGLE.filter((name) => filters[name]).map((name) => ({
    ...{ word: WORDS[name], value: filters[name], without: { ...filters, [name]: '' } },
  })),
  ...(filters.type
    ? [
        {
          word: 'only',
          value: `${filters.type} records`,
          without: { ...filters, type: '' as const },
        },
      ]
    : []),
  ...filters.event.map((name) => ({
    ...{ word: 'only', value: name },
    without: { ...filters, event: filters.event.filter((other) => other !== name) },
  })),
  ...filters.not.map((name) => ({
    ...{ word: 'hidden', value: name },
    without: { ...filters, not: filters.not.filter((other) => other !== name) },
  })),
  ...(filters.mine
    ? [{ word: 'only', value: 'this browser', without: { ...filters, mine: false } }]
    : []),
];
