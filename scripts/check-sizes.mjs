/** Measures the built files against `.size-limit.json` and leaves the counts for `npm test`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { writeResult } from './test-result.mjs';
import './bundle-import.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { stdout, stderr } = spawnSync(
  process.execPath,
  ['node_modules/size-limit/bin.js', '--json'],
  { cwd: ROOT, encoding: 'utf8' },
);

try {
  const sizes = JSON.parse(stdout);
  for (const { name, passed, size, sizeLimit } of sizes) {
    const room = passed ? `${sizeLimit - size} B left` : `${size - sizeLimit} B too much`;
    console.log(`${passed ? '✓' : '✗'} ${name}: ${size} B of ${sizeLimit} B brotli, ${room}`);
  }
  const failed = sizes.filter(({ passed }) => !passed).length;
  writeResult('size', { passed: sizes.length - failed, failed });
  process.exitCode = failed ? 1 : 0;
} catch {
  // No JSON: size-limit says itself what is wrong.
  console.error(stdout + stderr);
  process.exitCode = 1;
}
