import fc from 'fast-check';
import { expect, it } from 'vitest';
import { incomingEvent } from '../support/incoming.js';
import { runService } from '../support/run-service.js';

/** Lines of cells as a spreadsheet finds them, which takes quotes for such at the beginning of a cell alone. */
const linesOf = (csv: string, separators: string): string[][] => {
  const lines: string[][] = [[]];
  for (let at = 0; at < csv.length; at++) {
    let cell = '';
    let isQuoted = csv[at] === '"';
    if (isQuoted) at++;
    for (; at < csv.length; at++) {
      if (!isQuoted && `\r\n${separators}`.includes(csv[at]!)) break;
      if (!isQuoted || csv[at] !== '"') cell += csv[at];
      else if (csv[at + 1] === '"') cell += csv[at++];
      else isQuoted = false;
    }
    lines.at(-1)!.push(cell);
    if (csv.startsWith('\r\n', at)) at++;
    if (/[\r\n]/.test(csv[at] ?? '')) lines.push([]);
  }
  return lines;
};

/** As the docs say it: one apostrophe less at each of these places. */
const asSent = (text: string): string =>
  text.replace(
    /(?<=^|[;\t-\r\u0085\u2028\u2029])'(?="*[=+\-@＝＋－＠\t-\r\u0085\u2028\u2029'])/gu,
    '',
  );

const sign = fc.constantFrom(
  ...[';', ',', '\t', '\n', '\r', '\v', '\u0085', '\u2028', '"', '""', "'", ' ', 'a', '1', '\\'],
  ...['=', '+', '-', '@', '＝', '＋', '－', '＠', '=1+1', '{', '}'],
);
const text = fc.array(sign, { minLength: 1, maxLength: 8 }).map((signs) => signs.join(''));

it('exports CSV without a formula, whatever separator it is read with, and what was sent can be had back', async () => {
  const service = runService();
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 40 }), async (texts) => {
      await service.store.erase({ project: 'p' });
      await service.store.write(
        texts.map((event, n) =>
          incomingEvent({ id: `r${n}` }, { event, tags: { [event]: [-1, event] } }),
        ),
      );
      const csv = await (await service.send('/rows?format=csv')).text();
      for (const separators of [',', ';', '\t', ',;\t']) {
        const formulas = linesOf(csv, separators)
          .flat()
          .filter((cell) => /^[=+\-@＝＋－＠\t\r\n]/.test(cell));
        expect(formulas, `read with ${JSON.stringify(separators)}`).toEqual([]);
      }
      const lines = linesOf(csv, ',').slice(1, -1);
      expect(lines.map((cells) => asSent(cells[5]!))).toEqual(texts);
      expect(lines.map((cells) => JSON.parse(cells[14]!))).toEqual(
        texts.map((event) => ({ [event]: [-1, event] })),
      );
    }),
    { numRuns: 60 },
  );
});
