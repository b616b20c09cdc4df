import { newTables, upgrade, VERSION } from '../schema.js';
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

export const TABLES = {
  version: VERSION,
  sql: newTables(SQLITE, SQLITE_TYPES),
  upgrades: { 1: upgradeFrom(1), 2: upgradeFrom(2), 3: upgradeFrom(3) },
};
