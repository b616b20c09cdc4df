import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What a function of a script answers, asked in Node as the script runs. */
const ask = (file: string, name: string, ...args: unknown[]): unknown => {
  const code = `const { ${name} } = await import('./scripts/${file}');
    console.log(JSON.stringify(${name}(...${JSON.stringify(args)})))`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: ROOT });
  return JSON.parse(output.toString());
};

describe('a skipped test', () => {
  const counts = { passed: 5, failed: 1, skipped: 2 };

  it('is counted where a tool may be missing', () => {
    expect(ask('test-result.mjs', 'judge', counts, true)).toEqual(counts);
  });

  it('has failed where all can be installed', () => {
    expect(ask('test-result.mjs', 'judge', counts, false)).toEqual({
      passed: 5,
      failed: 3,
      skipped: 0,
    });
  });
});

describe('a release', () => {
  const good = {
    tag: 'v1.2.0',
    manifest: { version: '1.2.0' },
    lock: { version: '1.2.0' },
    changelog: '# Changelog\n\n## 1.2.0\n\n- Something new.\n\n## 1.1.0\n\n- Older.\n',
  };
  const problemsOf = (change: object) =>
    ask('check-release.mjs', 'problemsOf', { ...good, ...change });

  it('goes out under the tag of its version, with a word in the changelog', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it('does not go out under another tag, or with another version in the lock', () => {
    expect(problemsOf({ tag: 'v1.3.0' })).toEqual([
      'The tag is v1.3.0, the version in package.json 1.2.0.',
    ]);
    expect(problemsOf({ lock: { version: '1.1.0' } })).toEqual([
      'package-lock.json has version 1.1.0.',
    ]);
  });

  it('does not go out without a word in the changelog', () => {
    expect(problemsOf({ changelog: '# Changelog\n\n## 1.2.01\n\n- Other.\n' })).toEqual([
      'CHANGELOG.md has no section "## 1.2.0".',
    ]);
    expect(problemsOf({ changelog: '## 1.2.0\n\n## 1.1.0\n\n- Older.\n' })).toEqual([
      'CHANGELOG.md says nothing under "## 1.2.0".',
    ]);
  });
});

describe('the workflows', () => {
  const FOLDER = `${ROOT}.github/workflows/`;
  const read = (name: string): string => readFileSync(FOLDER + name, 'utf8');

  it.each(readdirSync(FOLDER))('%s may only read, but for what a job says', (name) => {
    expect(read(name)).toMatch(/^permissions:\n {2}contents: read\n(?! )/m);
  });

  it('test the oldest Node that is named, and the newer ones, and skip nothing', () => {
    const { engines } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
      engines: { node: string };
    };
    const oldest = `${engines.node.replace('>=', '')}.0`;
    expect(read('ci.yml')).toContain(`node: ['${oldest}', 20, 22, 24]`);
    expect(read('ci.yml')).toContain('NO_SKIP: 1');
  });

  it('publish only what is checked and tested, with provenance', () => {
    const release = read('release.yml');
    expect(release).toMatch(/^ {2}test:\n {4}needs: check\n/m);
    expect(release).toMatch(/^ {2}publish:\n {4}needs: test\n/m);
    expect(release).toContain('npm publish --provenance');
    expect(release).toMatch(/^ {2}docs:\n {4}needs: publish\n/m);
  });
});
