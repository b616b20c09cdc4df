import { readFileSync } from 'node:fs';

/** A program is one file in `dist`, beside which the package's own description stands. */
export const readVersion = (): string => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};
