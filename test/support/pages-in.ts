import { createPage } from './create-page.js';
import { makeRecords } from './make-record.js';
import { settle } from './settle.js';
import type { storageEach } from './storage-each.js';

/** The pages of a test that share its storage. */
export const pagesIn = (world: ReturnType<typeof storageEach>) => {
  const pageOf = (limits = {}) => createPage(world.shelf, limits);
  return {
    pageOf,
    /** A page that stores these and dies. */
    leaveBehind: async (records = makeRecords(3)) => {
      const page = pageOf();
      page.add(...records);
      await settle(60 + 2 * records.length);
      return page;
    },
  };
};
