import { isLocalHost } from '../client/page.js';
import { ASKED } from './capture.js';
import { didYouMean } from './meant.js';
import { attributeOf, misspelt, OF_AUTO, withoutData } from './options.js';
import { strayStubs } from './stray-stubs.js';

export const fileOf = ({ src }: HTMLScriptElement): string =>
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
  const words: string[] = dataset['auto']?.match(/\S+/g) ?? [];
  for (const word of words) {
    const meant = didYouMean(word, ASKED);
    if (meant) problems.push(`data-auto has no ${word}: ${meant}`);
  }
  const isIdle = !('context' in dataset || 'anonymousId' in dataset);
  const isBarred = isLocalHost() && !words.includes('local');
  const missing = words.length
    ? isBarred && `${dataset['auto']} local`
    : isIdle && 'pageviews clicks';
  // What `data-auto-options` names may have all of that.
  if (missing && !('autoOptions' in dataset) && /^outbox-auto\./.test(file))
    problems.push(`${file} captures nothing here: write data-auto="${missing}"`);
  return problems;
};
