/**
 * Writes the tables of options, settings and fields in the docs: those of options and fields from the JSDoc of their
 * types, and those of settings from the program's own table. A table stands below a comment that names what it is made
 * from: `settings: always`, `options: RelayOptions` of the server, `attributes: init` for the options of the snippet,
 * or `fields: Status`. A test holds that the pages are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import ts from 'typescript';
import { loadSource } from './load-source.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const PAGES = ['docs/server-options.md', 'docs/options.md', 'docs/status.md'];

/** @param {string} file */
const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** @param {string} text */
const firstSentence = (text) => /^.*?[.](?= [-A-Z`]|$)/.exec(text)?.[0] ?? text;

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
  return text.replaceAll(/^(\d+|true|false|\{.*\})|'[^']*'|Date\.now/g, '`$&`');
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

const CLIENT_TYPES = ts.createSourceFile(
  'types.ts',
  read('src/client/types.ts'),
  ts.ScriptTarget.Latest,
  true,
);

/** @param {string} name */
const declaredIn = (name) => {
  const found = CLIENT_TYPES.statements.find(
    (node) =>
      (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) &&
      node.name.text === name,
  );
  if (!found) throw new Error(`the snippet has no type ${name}`);
  return /** @type {ts.InterfaceDeclaration | ts.TypeAliasDeclaration} */ (found);
};

/** @param {string} name */
const membersOf = (name) =>
  [.../** @type {ts.InterfaceDeclaration} */ (declaredIn(name)).members].map((member) => ({
    name: member.name?.getText() ?? '',
    member,
  }));

/** @typedef {Readonly<Record<string, readonly [usual: number, least: number, most: number]>>} Ranges */

/**
 * A row for each option of the snippet, with its attribute and its range.
 * @param {readonly string[]} names
 * @param {Ranges} ranges
 */
const attributesOf = (names, ranges) => {
  const members = ['CommonOptions', 'DirectOptions', 'RelayOptions'].flatMap(membersOf);
  return names.map((name) => {
    const all = members.filter((one) => one.name === name).map(({ member }) => member);
    const [first] = all;
    if (!first) throw new Error(`which option is ${name}?`);
    const [, least, most] = ranges[name] ?? [];
    const range = `(${least} to ${most})`;
    const meaning = firstSentence(all.map(commentOf).find(Boolean) ?? '').replace(/[.]$/, '');
    const isToAdd = most !== undefined && !meaning.includes(range);
    return [
      `\`${name}\``,
      `\`data-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}\``,
      defaultOf(first),
      `${meaning}${isToAdd ? ` ${range}` : ''}`,
    ];
  });
};

/**
 * The texts of a union, or of the type that is named.
 * @param {ts.TypeNode | undefined} type
 * @returns {string[]}
 */
const textsOf = (type) => {
  if (!type) return [];
  if (ts.isUnionTypeNode(type)) return type.types.flatMap(textsOf);
  if (ts.isLiteralTypeNode(type)) return [type.literal.getText().replaceAll("'", '`')];
  if (!ts.isTypeReferenceNode(type) || type.typeArguments) return [];
  return textsOf(/** @type {ts.TypeAliasDeclaration} */ (declaredIn(type.typeName.getText())).type);
};

/**
 * A row for each field of what the snippet answers.
 * @param {string} name
 */
const fieldsOf = (name) =>
  membersOf(name).map(({ name: field, member }) => {
    const meaning = firstSentence(commentOf(member)).replace(/[.]$/, '');
    const values = textsOf(/** @type {ts.PropertySignature} */ (member).type);
    // The page has a section for each word of a longer list.
    const isShort = values.length && values.length <= 4;
    return [`\`${field}\``, isShort ? `${meaning}: ${values.join(', ')}` : meaning];
  });

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
 * @typedef {object} Sources
 * @property {Readonly<Record<string, Setting>>} settings of the program
 * @property {readonly string[]} options names of the snippet's options, in their order
 * @property {Ranges} ranges of those that are numbers
 */

/**
 * The page with each of its tables made anew.
 * @param {string} page
 * @param {Sources} sources
 */
export const makeTables = async (page, { settings, options, ranges }) => {
  /** @type {Readonly<Record<string, (from: string) => string>>} */
  const makers = {
    settings: (from) => tableOf(['setting', 'default', 'meaning'], settingsOf(settings, from)),
    options: (from) =>
      tableOf(
        ['option', 'default', 'meaning'],
        onceEach(from.split(', ').flatMap((name) => optionsOf(name))),
      ),
    attributes: () =>
      tableOf(['option', 'attribute', 'default', 'meaning'], attributesOf(options, ranges)),
    fields: (from) => tableOf(['field', 'meaning'], fieldsOf(from)),
  };
  const made = page.replaceAll(
    /^<!-- (settings|options|attributes|fields): (.+) -->\n(\n([|].*\n)+)?/gm,
    (_, /** @type {string} */ kind, /** @type {string} */ from) =>
      `<!-- ${kind}: ${from} -->\n\n${makers[kind]?.(from)}\n`,
  );
  return format(made, { parser: 'markdown', singleQuote: true, printWidth: 100 });
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { SETTINGS } = await loadSource('src/program/settings-table.ts');
  const { OPTIONS, rangesOf } = await loadSource('src/client/options.ts');
  const sources = { settings: SETTINGS, options: Object.keys(OPTIONS), ranges: rangesOf({}) };
  for (const page of PAGES) writeFileSync(join(ROOT, page), await makeTables(read(page), sources));
}
