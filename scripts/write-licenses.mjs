/** Writes the licenses of what the built files have inside, which have to go with them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUNDLED } from './bundled.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const textOf = (name) => {
  const folder = `${ROOT}node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = readFileSync(`${folder}/${file}`, 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
};

writeFileSync(`${ROOT}dist/LICENSES.txt`, BUNDLED.map(textOf).join(`\n${'-'.repeat(80)}\n\n`));
