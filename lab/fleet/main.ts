/**
 * A fleet of clients and a server in trouble: `npm run fleet`, see docs/fleet.md.
 *
 *     npm run fleet                                   all, a part of the fleet that stands for the whole
 *     npm run fleet -- --part 1                       every client of the whole fleet: hours
 *     npm run fleet -- --only retry-at --policy ours  one scenario, one policy, to the console alone
 *     npm run fleet -- --write                        into docs/fleet.md and docs/fleet/
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { measure } from './measure.js';
import { createOutboxClient } from './outbox-client.js';
import { plot, type Line } from './plot.js';
import { createExponentialClient, createFixedClient, createPerRecordClient } from './policies.js';
import { putInto, tableOf, type Row } from './report.js';
import { callsPerSecond, HEADROOM, run } from './run.js';
import { SCENARIOS } from './scenarios.js';
import type { Second } from './server.js';
import { sourcesNow } from './sources-now.js';

const FLEET = 1_000_000;
const PLOTS = 'docs/fleet';
const PAGE = 'docs/fleet.md';

const POLICIES = [
  { name: 'ours', title: 'analytics-outbox', create: createOutboxClient },
  { name: 'fixed', title: 'fixed delay of 10 s', create: createFixedClient },
  { name: 'exponential', title: 'exponential, no jitter', create: createExponentialClient },
  { name: 'per-record', title: 'a timer for each record', create: createPerRecordClient },
] as const;

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    policy: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const chosen = <T extends { name: string }>(all: readonly T[], name: string | undefined): T[] => {
  const found = all.filter((one) => name === undefined || one.name === name);
  if (found.length === 0) {
    throw new Error(`no ${name}; there are: ${all.map((one) => one.name).join(', ')}`);
  }
  return found;
};

const part = Number(values.part);
const clients = Math.round(FLEET / part);
/** What a part of the fleet does, as the whole would. */
const scale = (seconds: readonly Second[]): Second[] =>
  seconds.map(({ sent, wasted, repeated, waiting }) => ({
    sent: sent * part,
    wasted: wasted * part,
    repeated: repeated * part,
    waiting: waiting * part,
  }));

const perSecond = callsPerSecond(FLEET);
console.log(
  `${FLEET} clients, 1 of ${part} simulated, ${Math.round(perSecond)} requests a second on a good day, ` +
    `delivery code ${sourcesNow()}\n`,
);
if (values.write) await mkdir(PLOTS, { recursive: true });
const rows: Row[] = [];
for (const scenario of chosen(SCENARIOS, values.only)) {
  const lines: Line[] = [];
  for (const { title, create } of chosen(POLICIES, values.policy)) {
    const started = performance.now();
    const seconds = scale(await run({ clients, seed: Number(values.seed), create, scenario }));
    const row = {
      scenario: scenario.title,
      policy: title,
      ...measure(seconds, perSecond, scenario.troubleMs),
    };
    rows.push(row);
    lines.push({ name: title, seconds });
    const took = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`${tableOf([row]).split('\n').at(-1)!}  (${took} s)`);
  }
  if (!values.write) continue;
  const { title, troubleMs } = scenario;
  const svg = plot({ title, perSecond, headroom: HEADROOM, troubleMs, lines });
  await writeFile(`${PLOTS}/${scenario.name}.svg`, svg);
}
const table = tableOf(rows);
console.log(`\n${table}`);
if (values.write) {
  const stamp = `Run on ${new Date().toISOString().slice(0, 10)} with the delivery code \`${sourcesNow()}\`; \`npm run fleet\` prints the present one.`;
  await putInto(PAGE, `${stamp}\n\n${table}`);
}
