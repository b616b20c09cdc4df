import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { runCopy } from '../../src/program/copy-command.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { tempFolder } from '../support/temp-folder.js';

const copy = async (...addresses: string[]): Promise<string[]> => {
  const lines: string[] = [];
  await runCopy(addresses, { print: (line) => lines.push(line), say: () => {} });
  return lines;
};

it('copies a file, by its path or its address', async () => {
  const folder = tempFolder();
  const path = join(folder, 'rows.db');
  await createLibsqlStore({ path }).close();
  for (const from of [`file:${path}`, pathToFileURL(path).href])
    expect(await copy(from, `file:${join(folder, 'to', 'rows.db')}`)).toEqual([
      'copied 0 rows and 0 refused, and merged the profiles',
    ]);
});

it.each([
  ['a mistyped path', ['file:…/mistyped/rows.db', 'file:…/to.db'], 'from (file:'],
  ['a path without `file:`', ['…/rows.db', 'file:…/to.db'], '`from` must be the address of'],
  ['a home folder that no shell replaces', ['file:…/rows.db', 'file:~/to.db'], '`to` must be'],
  ['one address', ['file:…/rows.db'], 'usage: copy'],
])('makes nothing of %s, and says why', async (_, addresses, words) => {
  const folder = tempFolder();
  await expect(copy(...addresses.map((one) => one.replace('…', folder)))).rejects.toThrow(words);
  for (const name of ['mistyped', 'to.db']) expect(existsSync(join(folder, name))).toBe(false);
});
