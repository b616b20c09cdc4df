import { newTables, upgrade, VERSION } from '../schema.js';
import type { Tables } from './file.js';
import { SQLITE, SQLITE_TYPES } from './dialect.js';

const upgradeFrom = (version: number): string => `
  DROP TRIGGER rows_counted;
  DROP TRIGGER rows_uncounted;
  DROP TRIGGER refused_counted;
  DROP TRIGGER refused_uncounted;
  DROP TABLE refused_sizes;
  DROP INDEX refused_by_kind;
  ${version < 2 ? 'ALTER TABLE rows RENAME TO records;' : ''}
  ALTER TABLE counts RENAME TO row_counts;
  ${upgrade(version, SQLITE, SQLITE_TYPES)}`;

export const TABLES: Tables = {
  version: VERSION,
  // For each file anew, since each is a source of its own for the targets of exports.
  sqlFrom: (version) => (version ? upgradeFrom(version) : newTables(SQLITE, SQLITE_TYPES)),
};
