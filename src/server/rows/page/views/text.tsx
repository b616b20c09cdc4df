import { useState } from 'preact/hooks';
import { inDigits } from '../text/times.js';
import { cut, visibleParts } from '../text/visible.js';

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
      <bdi>
        {form === 'words' && <Visible of={text} />}
        {form === 'code' && text}
        {form === 'json' && (isWhole ? text : <Colored json={text} />)}
      </bdi>
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

const TOKEN = /("(?:\\.|[^"\\])*"?)(\s*:)?|(-?\d[\d.eE+-]*|\b(?:true|false|null)\b)/g;

/** For a screenful only: each name and value is an element of its own. */
const Colored = ({ json }: { json: string }) => {
  const parts = [];
  let end = 0;
  for (const match of json.matchAll(TOKEN)) {
    const [whole, text, colon = '', value] = match;
    parts.push(json.slice(end, match.index));
    if (text) parts.push(<span class={colon ? 'json-key' : 'json-text'}>{text}</span>, colon);
    if (value) parts.push(<span class="json-value">{value}</span>);
    end = match.index + whole.length;
  }
  return (
    <>
      {parts}
      {json.slice(end)}
    </>
  );
};
