/** Objects longer than this get a line for each of their members. */
const WIDTH = 24;

/** A call as one would write it in a page's code. */
export const callCode = (method: string, args: readonly unknown[]): string =>
  `analytics.${method}(${args.map((arg) => literal(arg, '')).join(', ')})`;

/** JavaScript, not JSON: names go without quotes where they may. */
const literal = (value: unknown, indent: string): string => {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date) return `new Date('${value.toISOString()}')`;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([name, part]) =>
    isList ? literal(part, inner) : `${nameOf(name)}: ${literal(part, inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  const line = isList ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
};

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`);
