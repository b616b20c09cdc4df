/** Prints, after a build, what a website needs: sizes, the stub to inline, the tag with its hash. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

const read = (name) => readFileSync(new URL(`../dist/${name}`, import.meta.url));
const script = read('analytics.js');
const stub = read('stub.js');
const integrity = `sha384-${createHash('sha384').update(script).digest('base64')}`;

const sizeOf = (name, bytes) =>
  `${name.padEnd(18)}${String(bytes.length).padStart(6)} B, brotli ${brotliCompressSync(bytes).length} B`;

console.log(`
${sizeOf('dist/analytics.js', script)}
${sizeOf('dist/stub.js', stub)}

Put this in the head of each page:

<script>${stub.toString().trim()}</script>
<script async src="https://YOUR-SITE/analytics.js"
  integrity="${integrity}" crossorigin="anonymous"
  data-base-url="https://SERVICE" data-token="TOKEN" data-project="PROJECT" data-channel="CHANNEL"></script>
`);
