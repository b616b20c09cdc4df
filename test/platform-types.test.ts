import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { compile, ROOT } from './support/compile.js';

const PLACES = {
  'the browser code of src/client': {
    folder: 'src/client',
    lacks: ['Buffer', 'process', 'require', 'unref', 'toSorted'],
    has: `[document.title, Object.hasOwn({}, 'b'), [1].at(-1)]`,
  },
  'the browser code of demo/page': {
    folder: 'demo/page',
    lacks: ['Buffer', 'process', 'require', 'unref', 'toSorted'],
    has: `[document.title, Object.hasOwn({}, 'b'), [1].at(-1)]`,
  },
  'the code of a relay that runs anywhere': {
    folder: 'src/server',
    lacks: ['Buffer', 'process', 'document', 'toSorted'],
    has: `new Request('https://a.example')`,
  },
};
/** A use of each. */
const USES: Record<string, string> = {
  Buffer: 'Buffer',
  process: 'process.env',
  require: `require('x')`,
  unref: 'setTimeout(() => {}).unref()',
  toSorted: '[1].toSorted()',
  document: 'document.title',
};

describe.each(Object.entries(PLACES))('%s', (_, { folder, lacks, has }) => {
  it('may use what its platforms have, and nothing that some of them lack', () => {
    const files: Record<string, string> = { 'has.ts': `export const a = ${has}` };
    for (const name of lacks) files[`${name}.ts`] = `export const a = ${USES[name]}`;
    const problems = compile(`platform-types-${folder.replace('/', '-')}`, files, {
      extends: `../../${folder}/tsconfig.json`,
      files: Object.keys(files),
      include: [],
    });
    const found = problems.map(({ file, message }) => [file, /'(\w+)'/.exec(message)?.[1]]);
    expect(found.sort()).toEqual(lacks.map((name) => [`${name}.ts`, name]).sort());
  });
});

it('all of the snippet is compiled as browser code', () => {
  const file = `${ROOT}src/client/tsconfig.json`;
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: object };
  const { fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, `${ROOT}src/client`);
  const all = ts.sys.readDirectory(`${ROOT}src`, ['.ts']);
  const others = all.filter((file) => !fileNames.includes(file));
  const folders = others.map(
    (file) =>
      /src\/(relay|service|server|program|show|interface|util)\b(?!-client)/.exec(file)?.[1],
  );
  expect(folders).not.toContain(undefined);
  expect(fileNames.some((file) => file.includes('/src/client/outbox/'))).toBe(true);
});
