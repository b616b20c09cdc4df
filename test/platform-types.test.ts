import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROBE = `${ROOT}src/client/probe.ts`;

const projectIn = (folder: string): ts.ParsedCommandLine => {
  const file = `${ROOT}${folder}/tsconfig.json`;
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: object };
  return ts.parseJsonConfigFileContent(config, ts.sys, `${ROOT}${folder}`);
};

/** Tells what the compiler says of a text that stands in the project of this folder. */
const compilerIn = (folder: string): ((text: string) => string[]) => {
  const { options } = projectIn(folder);
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  // Parsed once for all texts: the libraries take most of the time.
  const parsed = new Map<string, ts.SourceFile | undefined>();
  return (text) => {
    host.getSourceFile = (name, ...rest) => {
      if (name === PROBE) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
      if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest));
      return parsed.get(name);
    };
    const program = ts.createProgram([PROBE], options, host);
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  };
};

describe.each(['src/client', 'demo/page'])('the browser code of %s', (folder) => {
  const errorsIn = compilerIn(folder);

  it.each([
    ['export const a = Buffer', 'Buffer'],
    ['export const a = process.env', 'process'],
    [`import 'node:fs'; export const a = require('x')`, 'require'],
    ['export const a = setTimeout(() => {}).unref()', 'unref'],
    ['export const a = [1].toSorted()', 'toSorted'],
  ])('may not use what browsers lack: %s', (code, name) => {
    expect(errorsIn(code).join('\n')).toMatch(new RegExp(`'${name}'`));
  });

  it('may use what browsers have', () => {
    const code = `export const a = [document.title, Object.hasOwn({}, 'b'), [1].at(-1)]`;
    expect(errorsIn(code)).toEqual([]);
  });
});

describe('the code of a relay that runs anywhere', () => {
  const errorsIn = compilerIn('src/relay');

  it.each([
    ['export const a = Buffer', 'Buffer'],
    ['export const a = process.env', 'process'],
    ['export const a = document.title', 'document'],
    ['export const a = [1].toSorted()', 'toSorted'],
  ])('may not use what some platforms lack: %s', (code, name) => {
    expect(errorsIn(code).join('\n')).toMatch(new RegExp(`'${name}'`));
  });

  it('may use what all have', () => {
    expect(errorsIn(`export const a = new Request('https://a.example')`)).toEqual([]);
  });
});

it('all of the snippet is compiled as browser code', () => {
  const { fileNames } = projectIn('src/client');
  const all = ts.sys.readDirectory(`${ROOT}src`, ['.ts']);
  const others = all.filter((file) => !fileNames.includes(file));
  const folders = others.map(
    (file) => /src\/(relay|service|program|interface)\b(?!-client)/.exec(file)?.[1],
  );
  expect(folders).not.toContain(undefined);
  expect(fileNames.some((file) => file.includes('/src/client/outbox/'))).toBe(true);
});
