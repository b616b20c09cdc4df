import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../support/compile.js';

it('begins nothing without a browser: it says how to get one, and how to do without', () => {
  const env = { ...process.env, CHROMIUM_PATH: '/nowhere/chromium' };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.mjs'], {
    ...{ cwd: ROOT, env, encoding: 'utf8' },
  });
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /^CHROMIUM_PATH is \/nowhere\/chromium, .+npx playwright install chromium/,
  );
  expect(stderr).toMatch(/node scripts\/test\.mjs --only build,lint,format,unit,world,packed$/m);
});
