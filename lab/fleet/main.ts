/**
 * A fleet of clients and a server in trouble: the product's own delivery against a modelled server. Ends with an error
 * if clients ask a server in trouble, or one that comes back, for more than the bound allows.
 *
 *     node scripts/run-typescript.mjs lab/fleet/main.ts                   all, one client of 500 for the whole fleet
 *     node scripts/run-typescript.mjs lab/fleet/main.ts --part 50         more of them: minutes
 *     node scripts/run-typescript.mjs lab/fleet/main.ts --only retry-at   one scenario
 */
import { parseArgs } from 'node:util';
import { isWithin, measure } from './measure.js';
import { callsPerSecond, run } from './run.js';
import { SCENARIOS } from './scenarios.js';

const FLEET = 1_000_000;

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const clients = Math.round(FLEET / Number(values.part));
const scenarios = SCENARIOS.filter(({ name }) => !values.only || name === values.only);
if (!scenarios.length) {
  throw new Error(`no ${values.only}; there are: ${SCENARIOS.map(({ name }) => name).join(', ')}`);
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

for (const scenario of scenarios) {
  const seconds = await run({ clients, seed: Number(values.seed), scenario });
  const figures = measure(seconds, callsPerSecond(clients), scenario.troubleMs);
  const { peakDuring, peakAfter, drainS, wasted, repeated } = figures;
  const isGood = isWithin(figures);
  if (!isGood) process.exitCode = 1;
  console.log(
    `${isGood ? 'good' : 'BAD '}  ${scenario.title}: ` +
      `${peakDuring.toFixed(1)} × the usual requests at the most during it, ${peakAfter.toFixed(1)} × after it; ` +
      `drained after ${drainS ?? 'more than this run'} s; ${percent(wasted)} wasted, ${percent(repeated)} stored twice`,
  );
}
