import { describe, expect, it } from 'vitest';
import { createPage } from '../../support/create-page.js';
import { makeRecord } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { readStored } from '../../support/stored.js';

const world = storageEach();

describe('a browser that cannot commit a transaction by hand', () => {
  it('stores what is recorded all the same', async () => {
    const { prototype } = IDBTransaction;
    const commit = Object.getOwnPropertyDescriptor(prototype, 'commit')!;
    Object.defineProperty(prototype, 'commit', { ...commit, value: undefined });
    try {
      const page = createPage(world.shelf);
      page.add(makeRecord('a'));
      await settle();
      expect((await readStored()).values).toMatchObject([{ records: [{ id: 'a' }] }]);
      expect(page.storage).toEqual(['indexeddb']);
    } finally {
      Object.defineProperty(prototype, 'commit', commit);
    }
  });
});
