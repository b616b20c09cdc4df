import { describe, expect, it } from 'vitest';
import { createBreaker, type Pass } from '../../../src/relay/delivery/breaker.js';
import { createTell } from '../../../src/relay/hooks.js';

const setUp = () => {
  const clock = { time: 0 };
  let made = 0;
  const states: number[] = [];
  const breaker = createBreaker({
    failureThreshold: 3,
    now: () => clock.time,
    random: () => 0.5,
    tell: createTell({ onMetric: (_, value) => states.push(value) }),
  });
  const enter = async (): Promise<Pass> => {
    const pass = await breaker.enter();
    if (!pass) throw new Error('it is open');
    return pass;
  };
  const fail = (pass: Pass, retryAfterMs = 0, id = `r${made++}`) =>
    breaker.leave(pass, id, { outcome: 'retry', retryAfterMs });
  const failThrice = async () => {
    for (let n = 0; n < 3; n++) fail(await enter());
  };
  return { breaker, clock, states, enter, fail, failThrice };
};

describe('a breaker', () => {
  it('opens after failures in a row', async () => {
    const { breaker, states, enter, fail } = setUp();
    fail(await enter());
    fail(await enter());
    breaker.leave(await enter(), 'a', { outcome: 'delivered', retryAfterMs: 0 });
    fail(await enter());
    fail(await enter());
    expect(breaker.waitMs()).toBe(0);
    fail(await enter());
    expect(breaker.waitMs()).toBe(500);
    expect(await breaker.enter()).toBeUndefined();
    expect(states).toEqual([2]);
  });

  it('stays closed while one and the same record fails', async () => {
    const { breaker, enter, fail } = setUp();
    for (let n = 0; n < 20; n++) fail(await enter(), 0, 'poison');
    expect(breaker.waitMs()).toBe(0);
  });

  it('opens at once when the service says how long', async () => {
    const { breaker, enter, fail } = setUp();
    fail(await enter(), 9_000);
    expect(breaker.waitMs()).toBe(9_500);
  });

  it('lets one probe through, and all behind it when it passes', async () => {
    const { breaker, clock, states, enter, failThrice } = setUp();
    await failThrice();
    clock.time = 500;
    const probe = await enter();
    expect(probe.isProbe).toBe(true);
    expect(breaker.waitMs()).toBe(1_000);
    const others = [breaker.enter(), breaker.enter()];
    breaker.leave(probe, 'a', { outcome: 'delivered', retryAfterMs: 0 });
    expect((await Promise.all(others)).map((pass) => pass?.isProbe)).toEqual([false, false]);
    expect(breaker.waitMs()).toBe(0);
    expect(states).toEqual([2, 1, 0]);
  });

  it('waits longer each time a probe fails', async () => {
    const { breaker, clock, enter, fail, failThrice } = setUp();
    await failThrice();
    clock.time = 500;
    const probe = await enter();
    const other = breaker.enter();
    fail(probe);
    expect(await other).toBeUndefined();
    expect(breaker.waitMs()).toBe(1_000);
    clock.time = 1_500;
    fail(await enter());
    expect(breaker.waitMs()).toBe(2_000);
  });

  it('gives the place of a probe that was not sent to the next', async () => {
    const { breaker, clock, enter, failThrice } = setUp();
    await failThrice();
    clock.time = 500;
    const probe = await enter();
    const next = breaker.enter();
    breaker.leave(probe, 'a');
    expect((await next)?.isProbe).toBe(true);
  });

  it('counts failures of one time once', async () => {
    const { breaker, enter, fail } = setUp();
    const passes = [await enter(), await enter(), await enter(), await enter(), await enter()];
    for (const pass of passes) fail(pass);
    expect(breaker.waitMs()).toBe(500);
    breaker.leave(passes[0]!, 'a', { outcome: 'delivered', retryAfterMs: 0 });
    expect(breaker.waitMs()).toBe(500);
  });

  it('heeds what a late answer says of the time to wait', async () => {
    const { breaker, enter, fail, failThrice } = setUp();
    const late = await enter();
    await failThrice();
    fail(late, 60_000);
    expect(breaker.waitMs()).toBe(60_000);
  });
});
