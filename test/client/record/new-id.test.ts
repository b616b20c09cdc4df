import { nanoid } from 'nanoid';
import { afterEach, describe, expect, it, vi } from 'vitest';

vi.mock('nanoid', async (load) => {
  const real = await load<typeof import('nanoid')>();
  return { ...real, nanoid: vi.fn(real.nanoid) };
});

/** With an empty pool. */
const load = async () => {
  vi.resetModules();
  return (await import('../../../src/client/record/new-id.js')).newId;
};

afterEach(() => vi.unstubAllGlobals());

describe('a new id', () => {
  it('is a nanoid of 21 characters, and none comes twice', async () => {
    const newId = await load();
    const ids = Array.from({ length: 1_000 }, newId);
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[\w-]{21}$/);
  });

  const broken = {
    missing: undefined,
    empty: {},
    throwing: {
      getRandomValues: () => {
        throw new Error('no randomness here');
      },
    },
  };
  for (const [how, crypto] of Object.entries(broken)) {
    it(`is as long, of the same letters and as rarely twice where \`crypto\` is ${how}`, async () => {
      vi.stubGlobal('crypto', crypto);
      const newId = await load();
      const ids = Array.from({ length: 1_000 }, newId);
      expect(new Set(ids).size).toBe(1_000);
      for (const id of ids) expect(id).toMatch(/^[\w-]{21}$/);
      expect(new Set(ids.join('')).size).toBe(64);
    });
  }

  it('does not ask for randomness each time', async () => {
    const newId = await load();
    vi.mocked(nanoid).mockClear();
    for (let i = 0; i < 160; i++) newId();
    expect(nanoid).toHaveBeenCalledTimes(10);
  });
});
