import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/compile.js';
import { tempFolder } from '../support/temp-folder.js';

const run = (args: readonly string[], env: NodeJS.ProcessEnv, cwd = ROOT) => {
  const all = { ...process.env, SETUP: '', NO_SKIP: '', ...env };
  const { status, stdout } = spawnSync(process.execPath, args, {
    ...{ cwd, env: all, encoding: 'utf8' },
  });
  return { status, lines: stdout.trim().split('\n') };
};

it('leaves out what needs a browser if there is none, says why first and last, and fails with NO_SKIP', () => {
  const why = 'CHROMIUM_PATH is /nowhere, and that is not there.';
  const only = ['scripts/test.mjs', '--only', 'e2e'];
  const { status, lines } = run(only, { CHROMIUM_PATH: '/nowhere' });
  expect(lines[0]).toBe(`The tests in a browser are left out: ${why}`);
  expect(lines.slice(-2)).toEqual([`left out: all of e2e: ${why}`, '0 passed, 0 failed']);
  expect(status).toBe(0);
  const strict = run(only, { CHROMIUM_PATH: '/nowhere', NO_SKIP: '1' });
  expect(strict.lines.at(-1)).toBe('0 passed, 1 failed');
  expect(strict.status).toBe(1);
});

// Elsewhere a browser may be in a place that is not on the path.
describe.runIf(process.platform === 'linux')('on a machine with Node alone', () => {
  /** Folders of programs with these shell scripts in them, and no browser to download. */
  const machine = (scripts: Record<string, string>): NodeJS.ProcessEnv => {
    const PATH = tempFolder();
    for (const name of ['env', 'true']) symlinkSync(`/usr/bin/${name}`, join(PATH, name));
    for (const [name, script] of Object.entries(scripts))
      writeFileSync(join(PATH, name), `#!/bin/sh\n${script}`, { mode: 0o755 });
    return {
      PATH,
      ...{ CHROMIUM_PATH: '', FIREFOX_PATH: '', PLAYWRIGHT_BROWSERS_PATH: tempFolder() },
      PLAYWRIGHT_DOWNLOAD_HOST: 'http://127.0.0.1:1',
    };
  };

  it('says what it installs before it does, and installs what is missing and nothing else', () => {
    const env = machine({
      // "Installs" the package named last, after the folder of the path.
      'apt-get': `for name; do :; done; [ "$name" = update ] || : > "$PATH/$name"; : > "$PATH/postgres"`,
      sudo: 'shift; exec "$@"',
    });
    const { status, lines } = run(['scripts/setup.mjs'], env);
    const chromium = ['playwright install', 'apt-get update', 'apt-get install'];
    expect(lines.slice(0, 4)).toEqual([
      'There is no Chromium on this machine.',
      ...chromium.map((words) => (/update/.test(words) ? `${words} …` : `${words} chromium …`)),
    ]);
    expect(lines).toContain('apt-get install firefox-esr …');
    expect(lines.join()).not.toContain('left out');
    expect(status).toBe(0);
    expect(run(['scripts/setup.mjs'], env)).toEqual({ status: 0, lines: [''] });
  });

  it('names in one line each what it cannot install', () => {
    const { status, lines } = run(['scripts/setup.mjs'], machine({}));
    const [browser, others] = lines.slice(-2);
    expect(browser).toMatch(
      /^The tests in a browser are left out: there is no Chromium: playwright install chromium failed \(.+\), there is no apt-get$/,
    );
    expect(others).toMatch(/^Not on this machine: Firefox, .*OpenSSL\. /);
    expect(status).toBe(1);
  });
});

it('counts a hook that fails as one failure, and names the reason of what is left out', () => {
  const folder = join(ROOT, '.tmp/vitest-report');
  mkdirSync(folder, { recursive: true });
  const tags = [{ name: 'OpenSSL', skip: true }];
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `export default { test: { tags: ${JSON.stringify(tags)} } }`,
  );
  writeFileSync(
    join(folder, 'a.test.mjs'),
    `import { beforeAll, describe, expect, it } from 'vitest';
    it('passes', () => {});
    it('fails', () => expect(1).toBe(2));
    it('needs a program', { tags: ['OpenSSL'] }, () => {});
    it.skip('is skipped', () => {});
    describe('over a server', () => {
      beforeAll(() => { throw new Error('it does not start') });
      it('one', () => {});
      it('two', () => {});
    });`,
  );
  const REPORT = join(folder, 'report.json');
  const reporter = join(ROOT, 'scripts/vitest-report.mjs');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  run([vitest, 'run', `--reporter=${reporter}`], { REPORT, PATH: '/nowhere' }, folder);
  expect(JSON.parse(readFileSync(REPORT, 'utf8'))).toEqual({
    passed: 1,
    failed: [
      expect.stringMatching(/^a\.test\.mjs: over a server\n.*it does not start/),
      expect.stringMatching(/^a\.test\.mjs: fails\n.*expected 1 to be 2/),
    ],
    leftOut: [{ why: 'there is no OpenSSL' }, { why: 'a.test.mjs skips them' }],
  });
});
