import { readdirSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/compile.js';
import { read } from './support/docs.js';

/** What tells developers something. */
const SOURCES = [
  ...readdirSync(`${ROOT}src/dev`)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/dev/${name}`),
  'src/script-dev.ts',
];

/** A list of names: whatever is made of it stands elsewhere. */
const isList = ({ parent }: ts.Node): boolean =>
  ts.isPropertyAccessExpression(parent) && parent.name.text === 'split';

/** The constant parts of each text, as they are written. Values stand between them. */
const textsIn = (node: ts.Node): string[] => {
  if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return [];
  if (ts.isStringLiteralLike(node)) return isList(node) ? [] : [node.text];
  const found = node.getChildren().flatMap(textsIn);
  if (!ts.isTemplateExpression(node)) return found;
  const { head, templateSpans } = node;
  return [head.text, ...templateSpans.map(({ literal }) => literal.text), ...found];
};

/** Words without what a page of Markdown and a message write in different ways. */
const wordsOf = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();

/** A constant part, if it has so many words that it tells something. */
const sentenceOf = (part: string): string | undefined => {
  const sentence = wordsOf(part).replace(/^[^\w(]+|[^\w)}]+$/g, '');
  return sentence.split(' ').filter((word) => /^[\w']{2,}/.test(word)).length > 2
    ? sentence
    : undefined;
};

const sentencesIn = (file: string): string[] => {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  return [...new Set(textsIn(source).map(sentenceOf))].filter((text) => text !== undefined);
};

describe('the page about messages', () => {
  const page = read('docs/messages.md');
  const told = wordsOf(page);

  it.each(SOURCES)('has all that %s tells', (file) => {
    expect(sentencesIn(file).filter((sentence) => !told.includes(sentence))).toEqual([]);
  });

  it('shows under each heading a message that there is', () => {
    const known = SOURCES.flatMap(sentencesIn);
    const [, ...sections] = page.split(/^### /m);
    expect(sections.length).toBeGreaterThan(20);
    const stale = sections.filter(
      (section) => !known.some((sentence) => wordsOf(section).includes(sentence)),
    );
    expect(stale).toEqual([]);
  });
});
