import { expect, it } from 'vitest';
import { measure } from '../../lab/fleet/measure.js';
import { createOutboxClient } from '../../lab/fleet/outbox-client.js';
import { createFixedClient } from '../../lab/fleet/policies.js';
import { callsPerSecond, run } from '../../lab/fleet/run.js';
import { SCENARIOS } from '../../lab/fleet/scenarios.js';

const CLIENTS = 200;

it('runs the delivery of the product, which asks less of a failing server than a fixed delay', async () => {
  const [scenario] = SCENARIOS;
  const figuresOf = async (create: typeof createOutboxClient) => {
    const seconds = await run({ clients: CLIENTS, seed: 1, create, scenario: scenario! });
    return { ...measure(seconds, callsPerSecond(CLIENTS), scenario!.troubleMs), seconds };
  };
  const ours = await figuresOf(createOutboxClient);
  const fixed = await figuresOf(createFixedClient);

  expect(ours.wasted).toBeLessThan(fixed.wasted);
  expect(ours.repeated).toBeLessThan(0.005);
  expect(ours.seconds.at(-1)!.waiting).toBeLessThan(CLIENTS / 10);
}, 60_000);
