/**
 * The whole way of a row with the packed program: sent, stored, in ClickHouse and in a file, and compared. At night the
 * program is killed meanwhile, so that it has to find out what ClickHouse has.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startClickhouse } from '../test/support/start-clickhouse.mjs';
import { MANIFEST } from './support/entries.js';
import { INSTALLED } from './support/install.js';
import { startProgram } from './support/program.js';
import { BATCH, recordOf, sendUntilTaken } from './support/senders.js';
import { ORIGIN } from './support/service.js';
import { until } from './support/until.js';

const KILLS = process.env.NIGHT === '1' ? 3 : 0;
const BATCHES = 20;

const folder = mkdtempSync(join(tmpdir(), 'export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const FILE = join(INSTALLED, MANIFEST.bin['analytics-outbox']!);

it(
  'what pages send is in ClickHouse once, and both sides are the same',
  { tags: ['ClickHouse'], timeout: 600_000 },
  async () => {
    const clickhouse = await startClickhouse();
    const env = {
      ...{ DATA_FOLDER: join(folder, 'data'), HOST: '127.0.0.1', PORT: '0', SITE_ORIGIN: ORIGIN },
      ...{ PROJECTS: 'shop', CHANNELS: 'web', RATE_LIMIT: 'off', CEILING: 'off' },
      EXPORT: `${clickhouse.url} file:${join(folder, 'parts')}`,
    };
    const start = async () => {
      const program = startProgram({ command: [process.execPath, FILE], folder, env });
      const [, url] = await program.says(/listens at (http:[\w.:/]+)/);
      return { ...program, url: `${url}/a` };
    };
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [FILE, ...args], {
        ...{ cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' },
      });
    try {
      let program = await start();
      let sent = 0;
      const send = async () => {
        for (let batch = 0; batch < BATCHES; batch++) {
          const records = Array.from({ length: BATCH }, () => recordOf(sent++));
          await sendUntilTaken([program], records, 0, () => {});
        }
      };
      const rows = () => clickhouse.query('SELECT count(), uniqExact(id) FROM analytics_rows');
      await send();
      for (let kill = 0; kill < KILLS; kill++) {
        await until(async () => (await rows().catch(() => '0')) !== '0', 'rows');
        await send();
        await program.kill();
        program = await start();
      }
      await until(async () => (await rows().catch(() => '')) === `${sent}\t${sent}`, 'all rows');
      expect(program.output()).not.toContain('write-token');
      // The place of the target moves a moment after the rows are there.
      const name = clickhouse.url.replace(/.*@/, '');
      const verified = () => run('export', 'verify', name);
      await until(() => verified().stdout.includes(`${sent} of ${sent} rows`), 'the last place');
      expect(verified().status).toBe(0);
      expect(run('export', 'list').stdout).not.toContain('secret');
      await program.stop();
    } finally {
      await clickhouse.stop();
    }
  },
);
