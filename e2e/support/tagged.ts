import { readDist } from './dist.js';

/** How the tag is written, beside its options. */
export interface TagStyle {
  /** Attributes of the tag as text: `async`, `defer`, none. @default 'async' */
  attributes?: string;
  /** @default '/dist/outbox.js' */
  src?: string;
  /** Whether the stub is inlined above the tag. @default true */
  stub?: boolean;
  /** Nonce of stub and tag. */
  nonce?: string;
  /** HTML before the stub. */
  head?: string;
  /** HTML after the tag, at the end of the body. */
  body?: string;
}

/** `flushAt` is `data-flush-at` on the tag. */
const attributeOf = (name: string): string =>
  `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const escaped = (value: unknown): string =>
  String(value).replace(/&/g, '&amp;').replace(/"/g, '&quot;');

/** The script tag alone, with these options as `data-` attributes. */
export const scriptTag = (
  options: Record<string, unknown>,
  { attributes = 'async', src = '/dist/outbox.js', nonce }: TagStyle = {},
): string => {
  const data = Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${attributeOf(name)}="${escaped(value)}"`);
  const nonces = nonce ? [`nonce="${nonce}"`] : [];
  return `<script ${[attributes, ...nonces, `src="${src}"`, ...data].join(' ')}></script>`;
};

/** The stub, inlined. */
export const stubTag = ({ nonce }: TagStyle = {}): string =>
  `<script${nonce ? ` nonce="${nonce}"` : ''}>${readDist('stub.js')}</script>`;

/** A whole page that carries the tag the way the README tells people to. */
export const taggedPage = (options: Record<string, unknown>, style: TagStyle = {}): string => {
  const { stub = true, head = '', body = '' } = style;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page</title>
<link rel="icon" href="data:,">
${head}
${stub ? stubTag(style) : ''}
${scriptTag(options, style)}
</head>
<body>
<h1>A page</h1>
${body}
</body>
</html>`;
};
