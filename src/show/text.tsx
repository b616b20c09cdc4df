import { useState } from 'preact/hooks';
import { inDigits } from './times.js';
import { cut, visibleParts } from './visible.js';

/** What a stranger wrote, on one line: apart from its surroundings in direction, cut, and with nothing hidden. */
export const Text = ({ of, max = 160, name }: { of: string; max?: number; name?: string }) => {
  const { text, left } = cut(of, max);
  return (
    <bdi class={name}>
      <Visible of={text} />
      {left > 0 && '…'}
    </bdi>
  );
};

const Visible = ({ of }: { of: string }) => (
  <>
    {visibleParts(of).map((part) =>
      typeof part === 'string' ? part : <span class="sign">{part.sign}</span>,
    )}
  </>
);

/** `words`: with its hidden signs shown. `code` and `json` have them escaped already. */
type Form = 'words' | 'code' | 'json';

const MAX_LENGTHS: Readonly<Record<Form, number>> = { words: 600, code: 2400, json: 2400 };

/** The same on as many lines as it needs, with the rest of a long text on demand. */
export const LongText = ({ of, form = 'words' }: { of: string; form?: Form }) => {
  const [isWhole, showWhole] = useState(false);
  const { text, left } = cut(of, isWhole ? of.length : MAX_LENGTHS[form]);
  return (
    <>
      {form === 'words' ? (
        <bdi>
          <Visible of={text} />
        </bdi>
      ) : (
        <bdi dir="ltr">{isWhole ? text : <Code of={text} isJson={form === 'json'} />}</bdi>
      )}
      {left > 0 && (
        <>
          {'… '}
          <button type="button" class="link" onClick={() => showWhole(true)}>
            show all ({inDigits(of.length)} characters)
          </button>
        </>
      )}
    </>
  );
};

/** A text in quotes (in single ones if it has no double ones, as in a call), with the colon of a key; another value. */
const TOKEN =
  /("(?:\\.|[^"\\])*"?|'(?:\\.|[^'"\\\n])*')(\s*:)?|(-?\d[\d.eE+-]*|\b(?:true|false|null)\b)/g;

/**
 * For a screenful only: each name and value is an element of its own. A text that runs from right to left would
 * otherwise take the signs around it, and its neighbours, along.
 */
const Code = ({ of: code, isJson }: { of: string; isJson: boolean }) => {
  const parts = [];
  let end = 0;
  for (const match of code.matchAll(TOKEN)) {
    const [whole, text, colon = '', value] = match;
    const kind = text ? (colon ? 'json-key' : 'json-text') : 'json-value';
    parts.push(
      code.slice(end, match.index),
      <bdi class={isJson ? kind : undefined}>{text ?? value}</bdi>,
      colon,
    );
    end = match.index + whole.length;
  }
  return (
    <>
      {parts}
      {code.slice(end)}
    </>
  );
};
