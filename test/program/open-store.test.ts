import { expect, it } from 'vitest';
import { withoutPassword } from '../../src/program/open-store.js';

it.each([
  ['postgres://user:secret@db.example:5432/rows', 'postgres://db.example:5432/rows'],
  ['postgres://user:secret@secret@db.example/rows', 'postgres://db.example/rows'],
  ['postgres://user:secret/secret@db.example/rows', 'postgres://…'],
  ['postgresql:///rows?host=/run&password=secret@secret', 'postgresql:///rows'],
  ['rediss://:secret@redis.example', 'rediss://redis.example'],
  ['file:/data/me@home/rows.db', 'file:/data/me@home/rows.db'],
])('writes %s as %s', (url, written) => {
  expect(withoutPassword(url)).toBe(written);
});
