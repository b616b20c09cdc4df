import { nanoid } from 'nanoid';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/record/new-id.js';

vi.mock('nanoid', async (load) => {
  const { nanoid: real } = await load<typeof import('nanoid')>();
  return { nanoid: vi.fn(real) };
});

describe('a new id', () => {
  it('is a nanoid of 21 characters, and none comes twice', () => {
    const ids = Array.from({ length: 1_000 }, newId);
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[\w-]{21}$/);
  });

  it('does not ask for randomness each time', () => {
    vi.mocked(nanoid).mockClear();
    for (let i = 0; i < 160; i++) newId();
    expect(nanoid).toHaveBeenCalledTimes(10);
  });
});
