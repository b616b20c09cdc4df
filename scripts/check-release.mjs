/**
 * Checks that a tag may be released: it is the version of the package and of its lock, and the changelog says
 * what is new in it.
 *
 *     node scripts/check-release.mjs v1.2.3
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** What the changelog says of a version, without its heading. */
const sectionOf = (changelog, version) => {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((text) => /^\[?([^\s\]]+)/.exec(text)?.[1] === version);
  return found?.split('\n').slice(1).join('\n').trim();
};

/** What stands in the way of a release, each in words. */
export const problemsOf = ({ tag, manifest, lock, changelog }) => {
  const { version } = manifest;
  const section = sectionOf(changelog, version);
  return [
    tag !== `v${version}` && `The tag is ${tag}, the version in package.json ${version}.`,
    lock.version !== version && `package-lock.json has version ${lock.version}.`,
    section === undefined && `CHANGELOG.md has no section "## ${version}".`,
    section === '' && `CHANGELOG.md says nothing under "## ${version}".`,
  ].filter((problem) => problem);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = problemsOf({
    tag: process.argv[2],
    manifest: JSON.parse(read('package.json')),
    lock: JSON.parse(read('package-lock.json')),
    changelog: read('CHANGELOG.md'),
  });
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length ? 1 : 0;
}
