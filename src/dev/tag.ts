import { attributeOf, misspelt, OF_AUTO, withoutData } from './options.js';
import { strayStubs } from './stray-stubs.js';

const fileOf = ({ src }: HTMLScriptElement): string =>
  src.replace(/[?#].*/, '').replace(/.*\//, '');

/** What is wrong with the tag itself, each with its fix. */
export const tagProblems = (tag: HTMLScriptElement): string[] => {
  const { type, dataset, attributes } = tag;
  const problems = [...withoutData(attributes), ...misspelt(dataset), ...strayStubs(tag)];
  if (type === 'module') problems.push('the tag has `type="module"`: leave it out');
  const file = fileOf(tag);
  if (/^outbox(-relay)?\./.test(file)) {
    for (const name of OF_AUTO.filter((name) => name in dataset))
      problems.push(`\`${attributeOf(name)}\` does nothing in ${file}: load outbox-auto.js`);
  }
  const isAsked = ['autoOptions', 'context', 'anonymousId'].some((name) => name in dataset);
  if (/^outbox-auto\./.test(file) && !dataset['auto']?.trim() && !isAsked)
    problems.push(`${file} captures nothing without data-auto: write data-auto="pageviews clicks"`);
  return problems;
};

/** What is wrong with a second tag for the same global. */
export const secondTag = (...tags: HTMLScriptElement[]): string =>
  `the page has two tags, ${tags.map(fileOf).join(' and ')}: only the first works; leave one out`;

/** Whether only a relay can be reached. */
export const isRelayOnly = (tag: HTMLScriptElement): boolean => /relay/.test(fileOf(tag));
