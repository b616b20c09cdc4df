/**
 * How a tag or a property stands in the JSON of a body, of which one has to be found: `plan=pro` is a text, `seats=3`
 * may also be a number, and a name alone has any value.
 */
export const tagTexts = (tag: string): string[] => {
  const [name, value] = [tag.replace(/=.*/s, ''), tag.includes('=') && tag.replace(/^[^=]*=/, '')];
  const start = `${JSON.stringify(name)}:`;
  if (value === false) return [start];
  const isLiteral = /^(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null)$/.test(value);
  const literals = isLiteral ? [',', '}'].map((end) => start + value + end) : [];
  return [start + JSON.stringify(value), ...literals];
};
