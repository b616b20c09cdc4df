const FORMATS: Readonly<Record<string, RegExp>> = {
  html: /\btext\/html\b/,
  sse: /\btext\/event-stream\b/,
  ndjson: /\bapplication\/(x-)?ndjson\b/,
  csv: /\btext\/csv\b/,
};

/** The format that the query names, or else the first one that the client accepts. */
export const formatOf = ({ url, headers }: Request): string => {
  const asked = new URL(url).searchParams.get('format');
  if (asked) return asked;
  const accepted = headers.get('accept') ?? '';
  return Object.keys(FORMATS).find((name) => FORMATS[name]!.test(accepted)) ?? 'json';
};
