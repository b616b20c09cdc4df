/**
 * Writes the tables of docs/server-options.md: those of options from the JSDoc of their types, and those of settings from
 * the program's own table. A table stands below a comment that names what it is made from: `settings: always`, or
 * `options: RelayOptions`. A test holds that the page is up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import ts from 'typescript';
import { loadSource } from './load-source.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const PAGE = 'docs/server-options.md';

/** @param {string} file */
const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** @param {string} text */
const firstSentence = (text) => /^.*?[.](?= [A-Z`]|$)/.exec(text)?.[0] ?? text;

/** @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|');

/**
 * Marks what stands for itself in the words of a setting: names, paths, addresses, pairs.
 * @param {string} text
 */
const withCode = (text) =>
  text.replaceAll(
    /(?<!\w)([A-Z]+(_[A-Z]+)+|[.]?\/[\w-]+|\w+:(\/\/)?(…|<\w+>)|\w+=\w+|[*])/g,
    '`$&`',
  );

/** @param {string} text */
const capitalized = (text) =>
  /^[a-z]+[ ,]/.test(text) ? text[0]?.toUpperCase() + text.slice(1) : text;

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
const tableOf = (head, rows) =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map(cell).join(' | ')} |`)
    .join('\n');

/** @param {ts.Node} node */
const commentOf = (node) =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** @param {ts.TypeElement} member */
const defaultOf = (member) => {
  const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default');
  const text = ts.getTextOfJSDocComment(tag?.comment)?.trim();
  if (!text) return member.questionToken ? 'none' : 'required';
  return text.replace(/^(\d+|true|false|\{.*\}|'.*')/, '`$1`');
};

/** The page says once that there are these, for tests. */
const FOR_TESTS = ['now', 'random'];

const SOURCES = ts.sys
  .readDirectory(join(ROOT, 'src/server'), ['.ts'])
  .map((path) => readFileSync(path, 'utf8'));

/**
 * A row for each option that an interface of the server declares itself.
 * @param {string} name
 */
const optionsOf = (name) => {
  const [text, ...more] = SOURCES.filter((source) => source.includes(`export interface ${name} `));
  if (!text || more.length) throw new Error(`which interface is ${name}?`);
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  return source.statements
    .filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === name)
    .flatMap((node) => [...node.members])
    .map((member) => ({ name: member.name?.getText() ?? '', member }))
    .filter(({ name }) => !FOR_TESTS.includes(name))
    .map(({ name, member }) => [
      `\`${name}\``,
      defaultOf(member),
      firstSentence(commentOf(member)).replace(/[.]$/, ''),
    ]);
};

/** @param {string[][]} rows */
const onceEach = (rows) => [...new Map(rows.map((row) => [row[0], row])).values()];

/**
 * @typedef {{ help: string, usual?: string | undefined, only?: string | undefined, isSecret?: boolean, isNeeded?: boolean }} Setting
 */

/**
 * A row for each setting that has a meaning at one place.
 * @param {Readonly<Record<string, Setting>>} settings
 * @param {string} place `always`, or as the setting says it
 */
const settingsOf = (settings, place) => {
  const rows = Object.entries(settings).filter(([, { only = 'always' }]) => only === place);
  if (!rows.length) throw new Error(`no setting is for "${place}"`);
  return rows.map(([name, { help, usual = 'required', isSecret }]) => [
    `\`${name}\``,
    withCode(usual),
    `${withCode(capitalized(help))}${isSecret ? `; or in \`${name}_FILE\`` : ''}`,
  ]);
};

/**
 * The page with each of its tables made anew.
 * @param {string} page
 * @param {Readonly<Record<string, Setting>>} settings
 */
export const makeTables = async (page, settings) => {
  const made = page.replaceAll(
    /^<!-- (settings|options): (.+) -->\n\n?([|].*\n)*/gm,
    (_, /** @type {string} */ kind, /** @type {string} */ from) => {
      const rows =
        kind === 'settings'
          ? settingsOf(settings, from)
          : onceEach(from.split(', ').flatMap(optionsOf));
      const table = tableOf([kind.slice(0, -1), 'default', 'meaning'], rows);
      return `<!-- ${kind}: ${from} -->\n\n${table}\n`;
    },
  );
  return format(made, { parser: 'markdown', singleQuote: true, printWidth: 100 });
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { SETTINGS } = await loadSource('src/program/settings-table.ts');
  writeFileSync(join(ROOT, PAGE), await makeTables(read(PAGE), SETTINGS));
}
