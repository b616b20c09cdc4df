/** A part of a word: in quotes, between two lines, or plain. */
const PART = /"([^"]*)"|'([^']*)'|(\\\n|\s+)|([^\s'"\\]+)/g;

/** The words of a command, as a shell makes them. Variables become the token. */
const wordsOf = (command: string, token: string): string[] => {
  const words: string[] = [];
  let isNew = true;
  for (const [, double, single, space, plain] of command.trim().matchAll(PART)) {
    if (plain && /[&#;|()`*?~]/.test(plain)) throw new Error(`a shell reads ${plain} otherwise`);
    if (space === undefined) {
      const part = single ?? (double ?? plain)!.replace(/[$]\w+/g, token);
      words.push((isNew ? '' : words.pop()!) + part);
    }
    isNew = space !== undefined;
  }
  return words;
};

/** `name=value` with a value as curl encodes it. */
const encoded = (pair: string): string => {
  const [name = '', ...value] = pair.split('=');
  return `${name}=${encodeURIComponent(value.join('='))}`;
};

/** A command of the docs, as a request: its path, and what `fetch` takes. Variables of the shell become the token. */
export const requestOf = (command: string, token: string): [path: string, init: RequestInit] => {
  const [, ...words] = wordsOf(command, token);
  const headers: [string, string][] = [];
  const data: string[] = [];
  let [path, method, isQuery] = ['', '', false];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-H') headers.push(words.shift()!.split(/: (.*)/, 2) as [string, string]);
    else if (word === '-X') method = words.shift()!;
    else if (word === '-d') data.push(words.shift()!);
    else if (word === '--data-urlencode') data.push(encoded(words.shift()!));
    else if (word === '-G') isQuery = true;
    else if (word === '>') words.shift();
    else if (/^https?:/.test(word)) path = word.replace(/^https?:\/\/[^/]+/, '');
    else if (word !== '-i') throw new Error(`what is ${word} in ${command}?`);
  }
  const all = data.join('&');
  if (isQuery) path += (path.includes('?') ? '&' : '?') + all;
  const body = isQuery || !data.length ? undefined : all;
  return [path, { method: method || (body ? 'POST' : 'GET'), headers, ...(body && { body }) }];
};

/** The commands of a block that ask a server. */
export const curlsIn = (code: string): string[] =>
  [...code.matchAll(/^curl (?:[^\n]*\\\n)*[^\n]*/gm)].map(([command]) => command);

/** A text with every sign that means something in an address. */
export const ODD = 'jane+news & #1 100% ü=?';

/** The same command with another text in the place of each name that it takes. */
export const withOddNames = (command: string): string =>
  command.replace(
    /\buser_1\b|\bshop\b(?!\.)|\bweb\b|\borders\b|Order Paid|Signed Up|Tried|Test\b/g,
    ODD,
  );
