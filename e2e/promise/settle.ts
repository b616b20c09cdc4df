import { heard } from '../support/heard.js';
import { keptBodies } from '../support/stored-records.js';
import { until, untilQuiet } from '../support/until.js';
import type { Tab } from './engines/engine.js';
import { fatesOf, type Evidence, type Fates } from './fates.js';
import type { Row } from './row.js';
import type { Stage } from './stage.js';

const WITHIN_MS = 30_000;
const QUIET_MS = 300;

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
  const dropped: string[] = [];
  let waits = 0;
  for (const tab of await talkingTabs(stage)) {
    for (const { outcome, record } of await heard(tab, 'outcome')) {
      if (outcome === 'unknown') unknown.push(nameOf(record.body));
    }
    for (const { record } of await heard(tab, 'drop'))
      if (record) dropped.push(nameOf(record.body));
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

/** Waits until all records have come to their end, or time is up, and says what became of them. */
export const settle = async (
  stage: Stage,
  { within = WITHIN_MS, quietFor = QUIET_MS }: Row,
  made: readonly string[],
): Promise<Fates> => {
  const look = async () => fatesOf(await gather(stage, made));
  await until(
    async () => {
      const { waiting, lost } = await look();
      return waiting + lost === 0;
    },
    { within },
  );
  await untilQuiet(stage.asked, { quietFor, within: WITHIN_MS });
  const fates = await look();
  if (fates.lost === 0) return fates;
  const evidence = await gather(stage, made);
  return fatesOf(await withKept(stage, evidence).catch(() => evidence));
};
