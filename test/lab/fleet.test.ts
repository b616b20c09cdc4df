import { expect, it } from 'vitest';
import { measure } from '../../lab/fleet/measure.js';
import { callsPerSecond, run } from '../../lab/fleet/run.js';
import { SCENARIOS } from '../../lab/fleet/scenarios.js';

const CLIENTS = 200;

it('many clients ask a server that is away for few times the usual, and it has all records in the end', async () => {
  const scenario = SCENARIOS.find(({ name }) => name === 'unavailable')!;
  const seconds = await run({ clients: CLIENTS, seed: 1, scenario });
  const figures = measure(seconds, callsPerSecond(CLIENTS), scenario.troubleMs);
  // So few clients leave more to chance than the bound of lab/fleet/main.ts does.
  expect(Math.max(figures.peakDuring, figures.peakAfter)).toBeLessThan(15);
  expect(figures.repeated).toBeLessThan(0.005);
  expect(seconds.at(-1)!.waiting).toBeLessThan(CLIENTS / 10);
}, 60_000);
