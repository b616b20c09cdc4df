import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, vi } from 'vitest';
import { createFakeShelf, type FakeShelf } from './fake-shelf.js';
import { FAKED, settle } from './settle.js';

/** An empty database, an empty shelf and a clock that stands still, for each test. */
export const storageEach = (): { shelf: FakeShelf } => {
  const world = { shelf: createFakeShelf() };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: [...FAKED], now: Date.UTC(2026, 0, 1) });
    vi.stubGlobal('indexedDB', new IDBFactory());
    world.shelf = createFakeShelf();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await settle();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  return world;
};
