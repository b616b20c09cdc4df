/** Prints, after a build, what a website needs: sizes, the stub to inline, the tags with their hashes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

const read = (name) => readFileSync(new URL(`../dist/${name}`, import.meta.url));
const stub = read('stub.js');

const sizeOf = (name) => {
  const bytes = read(name);
  return `${`dist/${name}`.padEnd(24)}${String(bytes.length).padStart(6)} B, brotli ${brotliCompressSync(bytes).length} B`;
};

/** For a Content Security Policy that lets the stub run inline. */
const stubHash = createHash('sha256').update(stub.toString().trim()).digest('base64');

const tagOf = (name, attributes) => {
  const integrity = `sha384-${createHash('sha384').update(read(name)).digest('base64')}`;
  return `<script async src="https://YOUR-SITE/${name}"
  integrity="${integrity}" crossorigin="anonymous"
  ${attributes} data-project="PROJECT" data-channel="CHANNEL"
  onerror="console.error('analytics-outbox: ' + this.src + ' did not load')"></script>`;
};

console.log(`
${['outbox.js', 'outbox-relay.js', 'outbox-auto.js', 'outbox-dev.js', 'outbox-inspector.js', 'stub.js'].map(sizeOf).join('\n')}

Put this in the head of each page:

<script>${stub.toString().trim()}</script>
${tagOf('outbox.js', 'data-base-url="https://SERVICE" data-token="TOKEN"')}

Deploy dist/outbox-dev.js and dist/outbox-inspector.js beside it, for developers: visitors never load them.

The stub in a Content Security Policy: script-src 'sha256-${stubHash}'

Or, through a relay on your site, this in place of the second tag:

${tagOf('outbox-relay.js', 'data-relay="/RELAY"')}

Or, to capture page views, clicks and more (docs/capture.md):

${tagOf('outbox-auto.js', 'data-base-url="https://SERVICE" data-token="TOKEN" data-auto="pageviews clicks"')}
`);
