import { Marked } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';

const ESCAPES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;' };
const escaped = (text: string): string => text.replace(/[&"<]/g, (sign) => ESCAPES[sign]!);

// In comments, or formatters would take them for a script and for text.
const STUB = '/*{{stub}}*/';
const DOCUMENT = '<!-- {{document}} -->';

/**
 * Puts values where `{{name}}` stands; the stub as it is, everything else as text. An attribute whose value is undefined
 * is left out.
 */
export const fillIn = (
  html: string,
  { stub = '', ...values }: Record<string, string | undefined>,
): string =>
  html
    .replace(STUB, () => stub.trim())
    .replace(/\s+[\w-]+="\{\{(\w+)\}\}"/g, (attribute, name: string) =>
      name in values && values[name] === undefined ? '' : attribute,
    )
    .replace(/\{\{(\w+)\}\}/g, (mark, name: string) => escaped(values[name] ?? mark));

const marked = new Marked(gfmHeadingId());

/** A document of the project as a page, with the anchors that GitHub gives its headings. */
export const showDocument = (template: string, markdown: string): string => {
  const html = marked.parse(markdown, { async: false });
  const title = getHeadingList()[0]?.raw;
  return fillIn(template, { title }).replace(DOCUMENT, () => html);
};
