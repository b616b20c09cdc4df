import { Marked } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';
import { fillIn } from './fill-in.js';

const PLACE = '<!-- {{document}} -->';

const marked = new Marked(gfmHeadingId());

/**
 * A document of the project as a page, with the anchors that GitHub gives its headings.
 * @param template the HTML around it
 */
export const showDocument = (template: string, markdown: string): string => {
  const html = marked.parse(markdown, { async: false });
  const title = getHeadingList()[0]?.raw;
  return fillIn(template, { title }).replace(PLACE, () => html);
};
