import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CALLS = fileURLToPath(new URL('types/calls.ts', import.meta.url));
const MARK = '// @ts-expect-error ';

const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)) as {
  config: object;
};
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);

const host = ts.createCompilerHost(options);
const { getSourceFile } = host;
/** Parsed once for all programs: the libraries take most of the time. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Errors in a text that stands for the file of calls, each as its line (from 1) and words. */
const errorsIn = (text: string): { line: number; message: string }[] => {
  host.getSourceFile = (name, ...rest) => {
    if (name === CALLS) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
    if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest));
    return parsed.get(name);
  };
  const program = ts.createProgram([CALLS], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => ({
    line: file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
};

const byNumber = (a: number, b: number): number => a - b;

describe('the types of calls', () => {
  const text = ts.sys.readFile(CALLS)!;
  const lines = text.split('\n');
  const marked = lines.flatMap((line, i) => (line.includes(MARK) ? [i + 1] : []));

  it('compile what is right and refuse what is wrong', () => {
    expect(errorsIn(text)).toEqual([]);
    expect(marked.length).toBeGreaterThan(30);
  });

  it('refuse each wrong call by itself, and name what is misspelt', () => {
    const errors = errorsIn(lines.map((line) => line.replace(MARK, '// ')).join('\n'));
    expect([...new Set(errors.map(({ line }) => line - 1))].sort(byNumber)).toEqual(marked);
    const messages = errors.map(({ message }) => message).join('\n');
    // What is misspelt is said to be so, and not that an argument is missing.
    expect(messages).toMatch(
      /'"Odrer Placed"' is not assignable to parameter of type '"Order Placed"'/,
    );
    for (const word of ['"Singed Up"', "'seat'", "'fitler'", "'saets'", "'fliter'", "'flushat'"]) {
      expect(messages).toContain(word);
    }
  });

  it('are noticed when they take a wrong call', () => {
    const slack = text.replace('createAnalytics<Events, Traits>', 'createAnalytics');
    const messages = errorsIn(slack).map(({ message }) => message);
    expect(messages).toContain("Unused '@ts-expect-error' directive.");
  });
});
