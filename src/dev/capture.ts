import { isLocalHost } from '../client/page.js';
import { didYouMean } from './meant.js';

/** What `autocapture` can be asked for. */
export const ASKED =
  'pageviews clicks outbound downloads forms vitals engagement errors local automated map'.split(
    ' ',
  );

/** What is wrong with what is asked for, and what keeps all of it from being captured here. */
export const captureProblems = (asked: Readonly<Record<string, unknown>>): string[] => {
  const problems = Object.keys(asked)
    .filter((name) => !ASKED.includes(name))
    .map(
      (name) =>
        `\`${name}\` cannot be captured: ${didYouMean(name, ASKED) || `there are ${ASKED.join(', ')}`}`,
    );
  const missing = asked['local']
    ? navigator.webdriver && !asked['automated'] && 'automated'
    : 'local';
  if (missing && isLocalHost()) problems.push(`nothing is captured locally without \`${missing}\``);
  return problems;
};
