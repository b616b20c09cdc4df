/** A text as one word of a shell, which carries out nothing in it. */
export const inShellQuotes = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`;

/**
 * The command that sends JSON.
 * @param headers each in quotes of the shell, so that one may name a variable
 */
export const curlCommand = (url: string, headers: readonly string[], data: string): string =>
  [
    `curl ${inShellQuotes(url)}`,
    ...[...headers, `'Content-Type: application/json'`].map((header) => `-H ${header}`),
    `--data ${inShellQuotes(data)}`,
  ].join(' \\\n  ');
