import { useState } from 'preact/hooks';
import { inDigits } from '../text/times.js';
import { cut, visibleParts } from '../text/visible.js';

/** What a stranger wrote, on one line: apart from its surroundings in direction, cut, and with nothing hidden. */
export const Text = ({ of, max = 160 }: { of: string; max?: number }) => {
  const { text, left } = cut(of, max);
  return (
    <bdi>
      <Parts of={text} />
      {left > 0 && '…'}
    </bdi>
  );
};

const Parts = ({ of }: { of: string }) => (
  <>
    {visibleParts(of).map((part) =>
      typeof part === 'string' ? part : <span class="sign">{part.sign}</span>,
    )}
  </>
);

const LONG = 600;

/** The same on as many lines as it needs, with the rest of a long text on demand. */
export const LongText = ({ of, code = false }: { of: string; code?: boolean }) => {
  const [isWhole, showWhole] = useState(false);
  const { text, left } = cut(of, isWhole ? of.length : code ? 4 * LONG : LONG);
  return (
    <>
      <bdi>{code ? text : <Parts of={text} />}</bdi>
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
