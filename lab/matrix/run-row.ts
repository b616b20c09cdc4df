import { heard } from '../../e2e/support/heard.js';
import { keptBodies } from '../../e2e/support/stored-records.js';
import { until, untilQuiet } from '../../e2e/support/until.js';
import type { Engine, Tab } from './engine.js';
import { fatesOf, NO_FATES, type Evidence, type Fates } from './fates.js';
import { limited } from './limited.js';
import { inspectManners, type Manners } from './manners.js';
import type { Row } from './row.js';
import { createStage, type Stage } from './stage.js';

const WITHIN_MS = 30_000;
const QUIET_MS = 600;
const RUN_WITHIN_MS = 60_000;

/** What one run of a row came to. */
export interface RunResult {
  fates: Fates;
  manners: Manners;
  /** What is not as promised. */
  wrong: string | undefined;
}

/** The name of a record: that of the event, or of the user that was identified. */
const nameOf = (body: string): string => {
  const { event, user_id } = JSON.parse(body) as { event?: string; user_id?: string };
  return event ?? `identify ${user_id}`;
};

const hasTag = (tab: Tab): Promise<boolean> =>
  tab.evaluate(
    () => typeof (window as { analytics?: { status?: unknown } }).analytics?.status === 'function',
  );

/** Pages with a tracker that can still be asked. */
const talkingTabs = async ({ tabs }: Stage): Promise<Tab[]> => {
  const open = tabs.filter((tab) => !tab.isClosed());
  const talks = await Promise.all(open.map((tab) => hasTag(tab).catch(() => false)));
  return open.filter((_, i) => talks[i]);
};

const gather = async (stage: Stage, made: readonly string[]): Promise<Evidence> => {
  const stored = [
    ...(await stage.service.events()).map(({ event }) => event),
    ...(await stage.service.identifies()).map(({ user_id }) => `identify ${user_id}`),
  ];
  const unknown: string[] = [];
  const dropped: { name: string; reason: Evidence['dropped'][number]['reason'] }[] = [];
  let waits = 0;
  for (const tab of await talkingTabs(stage)) {
    for (const { outcome, record } of await heard(tab, 'outcome')) {
      if (outcome === 'unknown') unknown.push(nameOf(record.body));
    }
    for (const { record, reason } of await heard(tab, 'drop')) {
      if (record ?? reason === 'unreadable')
        dropped.push({ name: record ? nameOf(record.body) : '', reason });
    }
    waits += await tab.evaluate(() => analytics.status().waiting + analytics.status().inFlight);
  }
  const open = made.filter((name) => !stored.includes(name) && !unknown.includes(name));
  return { made, stored, unknown, dropped, waiting: open.slice(0, waits) };
};

/** What no page has may still stand in the outbox, for a page to come. */
const withKept = async (stage: Stage, evidence: Evidence): Promise<Evidence> => {
  const [tab] = await talkingTabs(stage);
  const kept = tab ? (await keptBodies(tab)).map(nameOf) : [];
  return { ...evidence, waiting: [...evidence.waiting, ...kept] };
};

/** Waits until all records have come to their end, or time is up. */
const settle = async (stage: Stage, row: Row, made: readonly string[]): Promise<Fates> => {
  const { service } = stage;
  const look = async () => fatesOf(await gather(stage, made));
  await until(
    async () => {
      const { waiting, lost } = await look();
      return waiting + lost === 0;
    },
    { within: row.within ?? WITHIN_MS },
  );
  const count = async () => (await service.requests()).length;
  await untilQuiet(count, { quietFor: row.quietFor ?? QUIET_MS, within: WITHIN_MS });
  const fates = await look();
  if (fates.lost === 0) return fates;
  return fatesOf(await withKept(stage, await gather(stage, made)).catch(() => gather(stage, made)));
};

const NO_MANNERS: Manners = {
  problems: [],
  longTasks: undefined,
  isCached: undefined,
  isBareCached: undefined,
};

/** A run that did not come to its end. */
export const brokenRun = (error: unknown): RunResult => ({
  fates: NO_FATES,
  manners: NO_MANNERS,
  wrong: `the run broke off: ${String(error instanceof Error ? error.message : error).split('\n')[0]}`,
});

/** Plays one row once, on a stage of its own. */
export const runRow = async (
  engine: Engine,
  row: Row,
  { looksAtManners = true }: { looksAtManners?: boolean } = {},
): Promise<RunResult> => {
  const stage = await createStage(engine, row.needs);
  try {
    const made = await limited('the run', RUN_WITHIN_MS, row.run(stage));
    const fates = await limited(
      'the end of its records',
      RUN_WITHIN_MS + (row.within ?? 0),
      settle(stage, row, made),
    );
    const manners = looksAtManners
      ? await limited(
          'the look at manners',
          RUN_WITHIN_MS,
          inspectManners(stage, { goesBack: !row.needs?.forgetsPages }),
        )
      : NO_MANNERS;
    return { fates, manners, wrong: row.promised.check(fates) };
  } finally {
    await limited('the end of the browser', RUN_WITHIN_MS, stage.dispose());
  }
};
