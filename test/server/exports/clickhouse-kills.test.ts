import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClickhouseTarget } from '../../../src/server/exports/clickhouse.js';
import { startExport } from '../../../src/server/exports/export.js';
import { createTell } from '../../../src/server/hooks.js';
import type { Target } from '../../../src/server/exports/target.js';
import type { Store } from '../../../src/server/store/port.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { startClickhouse, type ClickhouseServer } from '../../support/start-clickhouse.mjs';
import { tempFolder } from '../../support/temp-folder.js';
import { incomingEvent } from '../support/incoming.js';

vi.mock('../../../src/server/store/lock-ms.js', () => ({ LOCK_MS: 1_500 }));

const isNight = process.env['NIGHT'] === '1';
const ROWS = 5_000;

describe('an export to ClickHouse that is broken off', { tags: ['ClickHouse'] }, () => {
  let server: ClickhouseServer;
  beforeAll(async () => {
    server = await startClickhouse();
  });
  afterAll(() => server.stop());

  /** `isSlow`: an insert takes two seconds, so that it still runs when its sender is gone. */
  const enter = async (table: string, { isSlow = false } = {}) => {
    if (isSlow) {
      await createClickhouseTarget(`${server.url}?table=${table}`).prepare();
      await server.query(`ALTER TABLE ${table} ADD COLUMN slow UInt8 MATERIALIZED sleep(2)`);
    }
    const path = join(tempFolder(), 'rows.db');
    const store = createLibsqlStore({ path });
    onTestFinished(() => store.close());
    let written = 0;
    const write = async () => {
      const rows = Array.from({ length: ROWS }, (_, n) =>
        incomingEvent({ id: `${written + n}` }, { description: 'd'.repeat(300) }),
      );
      await store.write(rows);
      written += ROWS;
    };
    /** Exports with a store, and says when an insert begins. */
    const run = (of: Store, onInsert: () => void) => {
      const target = createClickhouseTarget(`${server.url}?table=${table}`);
      const quick: Target = {
        ...{ ...target, wait: { ms: 0, rows: 1 } },
        fill: (turn) => target.fill({ ...turn, mayWrite: () => turn.mayWrite().then(onInsert) }),
      };
      const stop = startExport({ store: of, target: quick, tell: createTell({}) });
      onTestFinished(stop);
      return stop;
    };
    /** Waits until all rows are there, and looks whether each is there once. */
    const expectEach = async () => {
      const counts = () =>
        server.query(`SELECT count(), uniqExact(id) FROM ${table}`).catch(String);
      await vi.waitFor(async () => expect(await counts()).toBe(`${written}\t${written}`), 60_000);
    };
    return { store, path, write, run, expectEach };
  };

  it('has each row once after kills of ClickHouse', { timeout: 600_000 }, async () => {
    const { store, write, run, expectEach } = await enter('killed');
    let began = (): void => {};
    run(store, () => began());
    for (let kill = 0; kill < (isNight ? 50 : 3); kill++) {
      const insert = new Promise<void>((resolve) => (began = resolve));
      await write();
      await insert;
      await sleep(Math.random() * 60);
      await server.kill();
      await server.restart();
    }
    await expectEach();
  });

  it('has each row once where only the sender gives up', { timeout: 600_000 }, async () => {
    const { store, write, run, expectEach } = await enter('given_up', { isSlow: true });
    for (let time = 0; time < (isNight ? 10 : 3); time++) {
      await write();
      let stop!: () => Promise<void>;
      await new Promise<void>((resolve) => (stop = run(store, resolve)));
      await sleep(Math.random() * 300);
      await stop();
    }
    run(store, () => {});
    await expectEach();
  });

  it(
    'has each row once where another process takes over while an insert runs',
    { timeout: 600_000 },
    async () => {
      const { path, write, run, expectEach } = await enter('taken_over', { isSlow: true });
      for (let time = 0; time < (isNight ? 10 : 2); time++) {
        await write();
        const frozen = createLibsqlStore({ path });
        onTestFinished(() => frozen.close());
        let isFrozen = false;
        let goOn = (): void => {};
        const frost = new Promise<void>((resolve) => (goOn = resolve));
        const keep: Store['progress']['keep'] = async (...args) => {
          if (isFrozen) await frost;
          return frozen.progress.keep(...args);
        };
        const stuck = { ...frozen, progress: { ...frozen.progress, keep } };
        let stopStuck!: () => Promise<void>;
        await new Promise<void>((resolve) => (stopStuck = run(stuck, resolve)));
        isFrozen = true;
        const next = createLibsqlStore({ path });
        onTestFinished(() => next.close());
        const stop = run(next, () => {});
        await expectEach();
        goOn();
        await Promise.all([stop(), stopStuck()]);
      }
      await expectEach();
    },
  );
});
