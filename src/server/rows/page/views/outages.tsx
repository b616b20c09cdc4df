import { useState } from 'preact/hooks';
import { Text } from '../../../../show/text.js';
import { countOf, lengthInWords } from '../../../../show/times.js';
import type { Outage } from '../../../store/port.js';
import { isStoring, momentInWords, type HealthWord } from '../state/health.js';
import type { Span } from '../state/overview.js';
import { countLater } from '../state/service.js';

/** So many are written out, the newest. The chart marks all. */
const MAX_SHOWN = 5;

/** With the one that goes on now. It has no end, and is in no database yet. */
export const withOpen = (
  outages: readonly Outage[],
  health: HealthWord | undefined,
  { span, now }: { span: Span; now: number },
): readonly (Outage & { isOpen?: true })[] => {
  const { since: from, problem = '' } = health?.storing ?? {};
  if (!health || isStoring(health) || from === undefined || Date.parse(from) >= span.bounds.at(-1)!)
    return outages;
  const to = new Date(now).toISOString();
  return [...outages, { from, to, problem, process: health.process, isOpen: true }];
};

/** What the marks in the chart mean: when no rows were stored, and what came of those that were called meanwhile. */
export const Outages = ({ outages, now }: { outages: ReturnType<typeof withOpen>; now: number }) =>
  outages.length > 0 && (
    <ul class="outages small">
      {outages
        .slice(-MAX_SHOWN)
        .reverse()
        .map((outage) => (
          <OneOutage key={`${outage.from} ${outage.process}`} {...{ outage, now }} />
        ))}
      {outages.length > MAX_SHOWN && (
        <li class="soft">and {countOf(outages.length - MAX_SHOWN, 'other')} before</li>
      )}
    </ul>
  );

const OneOutage = ({ outage, now }: { outage: Outage & { isOpen?: true }; now: number }) => {
  const [later, set] = useState<Awaited<ReturnType<typeof countLater>> | 'reading' | 'failed'>();
  const { from, to, problem, isOpen } = outage;
  const count = (): void => {
    set('reading');
    countLater(outage).then(set, () => set('failed'));
  };
  const length = lengthInWords(Date.parse(to) - Date.parse(from));
  return (
    <li>
      <span class="wrong">
        <span aria-hidden="true">✕ </span>
        {momentInWords(from, now)}: not stored {isOpen ? 'since then' : `for ${length}`}
      </span>
      {problem && (
        <span class="soft">
          , <Text of={problem} max={120} />.
        </span>
      )}{' '}
      {typeof later === 'object' ? (
        <b>
          {countOf(later.rows, 'row')} called meanwhile came later
          {later.is_all ? '' : ', and perhaps more'}
        </b>
      ) : (
        !isOpen && (
          <button class="link" disabled={later === 'reading'} onClick={count}>
            {later === 'reading'
              ? 'Counting …'
              : later === 'failed'
                ? 'No answer. Count again'
                : 'Count what came later'}
          </button>
        )
      )}
    </li>
  );
};
