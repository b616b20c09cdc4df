const ESCAPES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;' };

const escaped = (text: string): string => text.replace(/[&"<]/g, (sign) => ESCAPES[sign]!);

// In a comment, or formatters would take it for a script.
const STUB = '/*{{stub}}*/';

/** Puts values where `{{name}}` stands; the stub as it is, everything else as text. */
export const fillIn = (html: string, { stub = '', ...values }: Record<string, string>): string =>
  html
    .replace(STUB, () => stub.trim())
    .replace(/\{\{(\w+)\}\}/g, (mark, name: string) => escaped(values[name] ?? mark));
