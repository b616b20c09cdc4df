import { expect } from '@playwright/test';
import { inspectManners } from './manners.js';
import { WAYS, waysOf, type Row, type Way } from './row.js';
import { GROUPS } from './rows/all.js';
import { settle } from './settle.js';
import { test } from './test.js';
import type { Promised } from './verdicts.js';

test.describe.configure({ timeout: 180_000 });

const tagsOf = ({ isSmoke, nightly }: Row, way: Way): string[] => {
  if (nightly === true || nightly?.includes(way)) return ['@nightly'];
  return isSmoke ? ['@smoke'] : [];
};

/** A row as one test, in one way to send. */
const testRow = (group: string, row: Row, way: Way, promised: Promised): void => {
  test.use({ way, mode: way === 'relay' ? 'relay' : 'direct', needs: row.needs ?? {} });
  for (const [name, { promised, because }] of Object.entries(row.except ?? {})) {
    if (!promised) test.skip(({ engine }) => engine.name === name, because);
  }
  const about = { group, what: row.what, way: WAYS[way], promised: promised.words };
  const details = {
    tag: tagsOf(row, way),
    annotation: { type: 'row', description: JSON.stringify(about) },
  };

  test(`${row.id}: ${row.what}`, details, async ({ stage }, { annotations }) => {
    const { name, version } = stage.engine;
    annotations.push({ type: 'version', description: version });
    const fates = await settle(stage, row, await row.run(stage));
    annotations.push({ type: 'fates', description: JSON.stringify(fates) });
    await inspectManners(stage);
    const { check } = row.except?.[name]?.promised ?? promised;
    expect(check(fates), JSON.stringify(fates)).toBeUndefined();
  });
};

for (const [group, rows] of Object.entries(GROUPS)) {
  for (const row of rows) {
    for (const [way, promised] of waysOf(row)) {
      test.describe(`${group}, ${WAYS[way]}`, () => testRow(group, row, way, promised));
    }
  }
}
