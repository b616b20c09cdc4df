import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './compile.js';

/** What the pages of the docs say, and what the sources say. */

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Each block fenced as this language. */
export const blocks = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp('^```' + language + '\\n([^]*?)^```$', 'gm'))].map(
    ([, code]) => code!,
  );

export const plain = (cell: string): string => cell.replaceAll('`', '').trim();

/** The first table under a heading, without its head, as text without backticks. */
export const tableUnder = (page: string, heading: string): string[][] => {
  const [, section] = page.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const lines = (section ?? '').split('\n');
  const rows = lines.slice(lines.findIndex((line) => line.startsWith('|')) + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end < 0 ? undefined : end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => plain(cell)),
  );
};

/** A type that a file declares. */
export const declared = (file: string, name: string): ts.Node =>
  ts
    .createSourceFile(file, read(file), ts.ScriptTarget.Latest, true)
    .statements.find(
      (node) =>
        (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) &&
        node.name.text === name,
    )!;

export const membersOf = (file: string, name: string): readonly ts.TypeElement[] =>
  (declared(file, name) as ts.InterfaceDeclaration).members;

/** What `@default` says of an option. */
export const defaultOf = (member: ts.TypeElement): string => {
  const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default');
  return ts.getTextOfJSDocComment(tag?.comment)?.trim() ?? 'none';
};
