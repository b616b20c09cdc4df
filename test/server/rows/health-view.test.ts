// @vitest-environment happy-dom
import { h, render } from 'preact';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Feed, FeedState } from '../../../src/server/rows/page/state/feed.js';
import type { HealthWord } from '../../../src/server/rows/page/state/health.js';
import { Banner } from '../../../src/server/rows/page/views/banner.js';
import { HealthStrip, Notices } from '../../../src/server/rows/page/views/health-strip.js';
import { Live } from '../../../src/server/rows/page/views/top-bar.js';
import { clockTime } from '../../../src/show/times.js';

const NOW = Date.UTC(2026, 2, 20, 12, 30);
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();
const well: HealthWord = {
  ...{ status: 'ok', process: 'web-1/17' },
  storing: { state: 'ok', last: ago(3), room: { free: 120e9, size: 250e9 } },
  arriving: { state: 'usual', last: ago(4), usual: 10_800 },
  refused: { state: 'usual', last_hour: 3, usual: 2.5 },
  targets: [],
};
const target = {
  ...{ name: 'clickhouse', place: 1, behind: 0, delay_ms: 0, dead: 0, parked: 0 },
};
const failing: HealthWord = {
  ...well,
  status: 'failing',
  storing: { state: 'failing', since: ago(180), problem: 'the disk is full: rows.db cannot grow' },
};
const feed = { now: () => NOW, holds: () => false } as unknown as Feed;
const open = { kind: 'open' } as FeedState['connection'];

beforeEach(() => render(null, document.body));
const items = (health: HealthWord | undefined, connection = open): string[] => {
  const state = { health, connection } as FeedState;
  render(h(HealthStrip, { feed, state }), document.body);
  return [...document.querySelectorAll('li')].map(({ className, children }) =>
    [className.replace('wash ', ''), ...[...children].map(({ textContent }) => textContent)].join(
      ' | ',
    ),
  );
};

describe('the strip', () => {
  it('has a word, a sign, a number and what is usual for each of four', () => {
    expect(items(well)).toEqual([
      'ok | ✓ Storing | last write 3 s ago | 120 of 250 GB free',
      'ok | ✓ Arriving | last row 4 s ago | usual at this hour: 3 a second',
      'ok | ✓ Refused | 3 in the last hour | usual: 2.5 an hour',
      'soft | – Sent on | nowhere | no target is set',
    ]);
    expect(document.body.textContent).toContain('what the process web-1/17 sees');
  });

  it('says what is wrong', () => {
    const since = clockTime(NOW - 180_000);
    expect(
      items({
        ...failing,
        arriving: { state: 'silent', last: ago(2_400), usual: 80 },
        refused: { state: 'many', last_hour: 412, usual: 2, since: ago(180) },
        targets: [
          target,
          { ...target, name: 'files', behind: 24, delay_ms: 60_000, message: 'no route' },
        ],
      }),
    ).toEqual([
      `wrong | ✕ Not storing | since ${since} | the disk is full: rows.db cannot grow`,
      'late | ! Silent | last row 40 min ago | usual at this hour: 80 an hour | Look whether your pages have the tag, and what their console says.',
      `late | ! Many refused | 412 since ${since} | usual: 2 an hour | What, and why, is in the tab Refused.`,
      'late | ! Behind | files: 24 rows, 1 min behind | no route | Look whether it runs. Rows wait for it, and are sent when it takes them again.',
    ]);
  });

  it('names a project that is silent while others are not', () => {
    const arriving = {
      state: 'silent',
      last: ago(2_400),
      usual: 80,
      project: '<b>shop</b>',
    } as const;
    expect(items({ ...well, arriving })[1]).toMatch(
      /^late \| ! Silent in <b>shop<\/b> \| last row 40 min ago/,
    );
  });

  it('is not green where no rows were stored, where nothing is known yet, and on a disk with little room', () => {
    const [storing, arriving] = items({
      ...well,
      storing: { state: 'untried', since: ago(60) },
      arriving: { state: 'learning', last: ago(60) },
    });
    expect(storing).toMatch(/^soft \| – Storing \| no row was tried since/);
    expect(arriving).toMatch(/^soft .*learning/);
    const room = { free: 2e9, size: 250e9 };
    expect(items({ ...well, storing: { ...well.storing, room } })[0]).toMatch(
      /^late .*2 of 250 GB/,
    );
  });

  it('says two of them to whoever reads one project alone, and none if the service does not answer', () => {
    const { status, process, storing, arriving } = well;
    const ofProject = items({
      status,
      process,
      storing: { ...storing, room: undefined! },
      arriving,
    });
    expect(ofProject).toHaveLength(2);
    expect(items(undefined, { kind: 'silent', since: NOW - 6_000 })).toEqual([
      'wrong | ✕ No answer | from the server | so nothing is known of it',
    ]);
    expect(items(undefined)).toEqual([]);
  });
});

it('says over other tabs what is unusual, and what to do', () => {
  const words = (health: HealthWord | undefined) => {
    render(h(Notices, { feed, state: { health } as FeedState }), document.body);
    return [...document.querySelectorAll('li')].map(({ textContent }) => textContent);
  };
  expect([words(undefined), words(well)]).toEqual([[], []]);
  expect(
    words({
      ...failing,
      arriving: { state: 'silent', last: ago(2_400), usual: 80 },
      refused: { state: 'many', last_hour: 412, usual: 2 },
      targets: [{ ...target, name: 'house/db', behind: 24, delay_ms: 60_000, message: 'no route' }],
    }),
  ).toEqual([
    '! Silent: last row 40 min ago (usual at this hour: 80 an hour). Look whether your pages have the tag, and what their console says.',
    '! Many refused: 412 in the last hour (usual: 2 an hour). What, and why, is in the tab Refused.',
    '! Behind: house/db: 24 rows, 1 min behind (no route). Look whether it runs. Rows wait for it, and are sent when it takes them again.',
  ]);
});

describe('the banner', () => {
  const words = (health: HealthWord | undefined): string => {
    render(h(Banner, { health, now: NOW }), document.body);
    return document.body.textContent;
  };

  it('says since when rows are not stored, what pages do, and what to do', () => {
    expect(words(well)).toBe('');
    expect(words(undefined)).toBe('');
    const text = words(failing);
    expect(document.querySelector('[role="alert"]')).not.toBeNull();
    for (const part of [
      `Rows are not stored since ${clockTime(NOW - 180_000)}`,
      'the disk is full: rows.db cannot grow',
      'Pages keep their records and send them again, for 7 days',
      'Free room on that disk, or have old rows deleted by RETENTION_DAYS.',
    ])
      expect(text).toContain(part);
  });

  it.each([
    ['connect ECONNREFUSED 127.0.0.1:5432', 'Look whether the database runs'],
    ['the table records is missing', 'Look at the database'],
    ['another process has locked rows.db', 'End the other program'],
    ['rows.db may not be written to: look at the rights', 'Give the user of the server the right'],
    ['rows.db was deleted or replaced', 'Put the file back'],
    [undefined, 'Whoever runs the server can see why.'],
  ])('says what to do if %s', (problem, fix) => {
    const storing = { state: 'failing', since: ago(1), ...(problem && { problem }) } as const;
    expect(words({ ...well, storing })).toContain(fix);
  });
});

describe('the line of the top', () => {
  const live = (state: Partial<FeedState>): string => {
    const quiet = {
      ...{ connection: open, isReady: true, rate: { current: () => 0 }, health: well },
      ...{ kept: { shown: [] }, filters: { event: [], not: [], tag: [] } },
    };
    render(h(Live, { feed, state: { ...quiet, ...state } as unknown as FeedState }), document.body);
    const { className, textContent } = document.querySelector('.live')!;
    return `${className} | ${textContent}`;
  };

  it('is red while rows are not stored, and while the service gives no sign of life', () => {
    expect(live({})).toContain('quiet | Live');
    expect(live({ health: failing })).toMatch(/lost \| Rows are not storedsince/);
    const silent = { kind: 'silent', since: Date.now() - 6_000 } as const;
    expect(live({ connection: silent })).toMatch(
      /lost \| No sign of life ?from the server for 6 s/,
    );
  });

  it('says that rows are searched for, and not that it connects', () => {
    const filters = {
      event: [],
      not: [],
      tag: [],
      text: 'rare',
    } as unknown as FeedState['filters'];
    expect(live({ isReady: false, filters })).toContain('searching | Searching');
    expect(live({ isReady: false })).toContain('searching | Reading rows');
    expect(live({ connection: { kind: 'opening' } })).toContain('opening | Connecting');
  });
});
