import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { madeToken } from '../../src/program/made-tokens.js';
import { tempFolder } from '../support/temp-folder.js';

it('makes a token that only this user can read, and gives the same one later', () => {
  const folder = join(tempFolder(), 'new');
  const token = madeToken(folder, 'write-token');
  expect(token).toMatch(/^w_[\w-]{32}$/);
  expect(madeToken(folder, 'write-token')).toBe(token);
  expect(madeToken(folder, 'read-token')).not.toBe(token);
  expect(statSync(join(folder, 'write-token')).mode & 0o777).toBe(0o600);
});

it('does not take an empty file for a token', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'read-token'), '');
  expect(() => madeToken(folder, 'read-token')).toThrow('is empty: delete it');
});
