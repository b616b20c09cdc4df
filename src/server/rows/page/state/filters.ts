import type { RecordType } from '../../../../interface/bodies.js';

/** Which rows are shown. The address of the page and the queries to the service use the same names. */
export interface Filters {
  text: string;
  project: string;
  channel: string;
  user: string;
  /** Rows that arrived from this time on, and before that one; ISO 8601. */
  from: string;
  to: string;
  type: RecordType | '';
  /** Names of events: only these. */
  event: readonly string[];
  /** Names of events: not these. */
  not: readonly string[];
  /** Tags or properties that a row has: `name=value`, or a name alone. */
  tag: readonly string[];
  /** Only what this browser sent. */
  mine: boolean;
}

export const NO_FILTERS: Filters = {
  ...{ text: '', project: '', channel: '', user: '', from: '', to: '', type: '' },
  ...{ event: [], not: [], tag: [], mine: false },
};

/** The service takes no longer text. */
export const MAX_TEXT = 200;

const SINGLE = ['text', 'project', 'channel', 'user', 'from', 'to'] as const;
const LISTS = ['event', 'not', 'tag'] as const;
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
    ...Object.fromEntries(LISTS.map((name) => [name, unique(given.getAll(name))])),
    type: isType(type) ? type : '',
    mine: given.get('mine') === '1',
  };
};

export const queryOf = (filters: Filters): URLSearchParams => {
  const query = new URLSearchParams();
  for (const name of [...SINGLE, 'type'] as const) {
    if (filters[name]) query.set(name, filters[name]);
  }
  for (const name of LISTS) for (const value of filters[name]) query.append(name, value);
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

export const withTag = (filters: Filters, tag: string): Filters => ({
  ...filters,
  tag: unique([...filters.tag, tag]),
});

/** The words that the filter box knows, each with a colon behind it. */
const WORD = /(?:^|\s)(-?event|user|project|channel|type|tag):/;

/** Whether a text has words of the filter box, which count when somebody presses Enter. */
export const hasWords = (typed: string): boolean => WORD.test(typed);

/**
 * What is typed into the filter box, as filters: text comes first, and each word's value goes on until the next word, so
 * `event:Signed Up tag:plan=pro` needs no quotes.
 */
export const withTyped = (filters: Filters, typed: string): Filters => {
  const [text = '', ...parts] = typed.split(new RegExp(WORD, 'g'));
  let next: Filters = { ...filters, text: text.trim().slice(0, MAX_TEXT) };
  for (let at = 0; at < parts.length; at += 2) {
    const [word, value] = [parts[at]!, parts[at + 1]!.trim().replace(/^"(.*)"$/s, '$1')];
    if (!value) continue;
    if (word === 'event') next = withOnly(next, value);
    else if (word === '-event') next = withHidden(next, value);
    else if (word === 'tag') next = withTag(next, value);
    else if (word !== 'type') next = { ...next, [word]: value };
    else if (isType(value)) next = { ...next, type: value };
  }
  return next;
};

/** One filter that is on: in words, and the filters without it. */
interface ActiveFilter {
  /** As in the filter box: `event`, `user`, `-event` …, or `time`, `only`. */
  word: string;
  /** As a query names it; the time has no count of its own. */
  name?: string;
  value: string;
  without: Filters;
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
});
/** `27 Nov, 14:00 to 15:00`, `since 27 Nov, 14:00` */
const timeInWords = ({ from, to }: Pick<Filters, 'from' | 'to'>): string => {
  const [start, end] = [from, to].map((iso) => (iso ? CLOCK.format(Date.parse(iso)) : ''));
  if (!to) return `since ${start}`;
  return from ? `${start} to ${end}` : `before ${end}`;
};

export const activeFilters = (filters: Filters): ActiveFilter[] => [
  ...(['text', 'project', 'channel', 'user', 'type'] as const)
    .filter((name) => filters[name])
    .map((name) => ({
      ...{ word: name, name, value: filters[name], without: { ...filters, [name]: '' } },
    })),
  ...LISTS.flatMap((name) =>
    filters[name].map((value) => ({
      ...{ word: name === 'not' ? '-event' : name, name, value },
      without: { ...filters, [name]: filters[name].filter((other) => other !== value) },
    })),
  ),
  ...(filters.from || filters.to
    ? [
        {
          ...{ word: 'time', value: timeInWords(filters) },
          without: { ...filters, from: '', to: '' },
        },
      ]
    : []),
  ...(filters.mine
    ? [{ word: 'only', name: 'mine', value: 'this browser', without: { ...filters, mine: false } }]
    : []),
];
