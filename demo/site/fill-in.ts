const ESCAPES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;' };

const escaped = (text: string): string => text.replace(/[&"<]/g, (sign) => ESCAPES[sign]!);

// In a comment, or formatters would take it for a script.
const STUB = '/*{{stub}}*/';

/**
 * Puts values where `{{name}}` stands; the stub as it is, everything else as text. An attribute whose value
 * is undefined is left out.
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
