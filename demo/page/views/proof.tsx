import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Row } from '../../../src/server/store/port.js';
import { RowDetails } from '../../../src/show/row-details.js';
import { Text } from '../../../src/show/text.js';
import { summaryOf } from '../../../src/show/summary.js';
import { DEMO_ID, stationOf, verdictOf, type Call, type Verdict } from '../calls.js';
import type { Demo } from '../demo.js';
import { lengthOf } from '../words.js';
import { InspectorView } from './inspector-view.js';
import { TabList } from './tab-list.js';

/** What the page and the service say of each call. */
export const Proof = ({ demo }: { demo: Demo }) => (
  <TabList
    label="Look at it"
    panels={[
      { id: 'records', title: 'Records', show: () => <Records demo={demo} /> },
      { id: 'rows', title: 'Rows', show: () => <Rows demo={demo} /> },
      { id: 'log', title: 'Log', show: () => <Log demo={demo} /> },
      { id: 'status', title: 'status()', show: () => <StatusView demo={demo} /> },
      { id: 'inspector', title: 'Inspector', show: () => <InspectorView demo={demo} /> },
    ]}
  />
);

const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  fractionalSecondDigits: 3,
});

const Time = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()}>{CLOCK.format(at)}</time>
);

const FIRST = 8;

/** The first of many, and the others on demand. */
const Few = <T,>({
  of,
  none,
  children,
}: {
  of: readonly T[];
  none: string;
  children: (shown: readonly T[]) => ComponentChildren;
}) => {
  const [isAll, showAll] = useState(false);
  if (!of.length) return <p class="soft">{none}</p>;
  return (
    <>
      {children(isAll ? of : of.slice(0, FIRST))}
      {of.length > FIRST && (
        <p class="few">
          <button type="button" class="link" aria-expanded={isAll} onClick={() => showAll(!isAll)}>
            {isAll ? 'Show fewer' : `Show all ${of.length}`}
          </button>
        </p>
      )}
    </>
  );
};

const PLACES: Readonly<Record<Verdict, (call: Call) => string>> = {
  once: () => 'stored once',
  twice: ({ rows }) => `stored ${rows.length === 2 ? 'twice' : `${rows.length} times`}`,
  lost: () => 'taken by the service, and not there',
  unknown: () => 'unknown: the page was gone before the answer',
  dropped: ({ fate }) => `dropped: ${fate.detail}`,
  waiting: (call) => {
    const { fate } = call;
    if (fate.kind === 'delivered') return 'answered';
    const where = { page: 'called', outbox: 'in the outbox', wire: 'on the wire', service: '' };
    return `${where[stationOf(call)]}${fate.detail ? `, ${fate.detail}` : ''}`;
  },
};

const Records = ({ demo }: { demo: Demo }) => {
  const calls = demo.calls.all().reverse();
  const next = demo.status()?.nextAttempt;
  const due = next !== undefined && next > Date.now() ? lengthOf(next - Date.now()) : '';
  return (
    <Few of={calls} none="No calls yet. Play a scene, or send an event.">
      {(shown) => (
        <table>
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Where it is</th>
              <th scope="col" class="number">
                Attempts
              </th>
              <th scope="col" class="extra">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((call) => {
              const verdict = verdictOf(call, demo.service.readAt());
              const isDue = due && verdict === 'waiting' && stationOf(call) === 'outbox';
              return (
                <tr key={call.id}>
                  <td>
                    <Text
                      of={
                        call.type === 'identify'
                          ? `identify ${call.name}`
                          : call.name || '(no name)'
                      }
                    />
                  </td>
                  <td class={`is-${verdict}`}>
                    {PLACES[verdict](call)}
                    {isDue && `, due in ${due}`}
                  </td>
                  <td class="number">{call.attempts}</td>
                  <td class="extra">
                    <Time at={call.at} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Few>
  );
};

const Rows = ({ demo }: { demo: Demo }) => {
  const [openSeq, open] = useState<number | undefined>();
  return (
    <>
      <Few of={demo.service.rows()} none="Nothing stored yet.">
        {(shown) => (
          <ul class="rows-list">
            {shown.map((row) => (
              <RowView
                {...{ key: row.seq, row, service: demo.setup.service, isOpen: row.seq === openSeq }}
                onToggle={() => open(row.seq === openSeq ? undefined : row.seq)}
              />
            ))}
          </ul>
        )}
      </Few>
      <p class="few">
        <a href={`${demo.setup.service}/rows`}>All rows, live</a>
        {' · '}
        <button type="button" class="link" onClick={() => void demo.service.deleteOwn()}>
          Delete what this demo has stored
        </button>
      </p>
    </>
  );
};

const RowView = ({
  row,
  service,
  isOpen,
  onToggle,
}: {
  row: Row;
  service: string;
  isOpen: boolean;
  onToggle: () => void;
}) => {
  const { icon, name, chips } = summaryOf(row);
  const tags = chips.filter(({ key }) => key !== DEMO_ID).slice(0, 3);
  return (
    <li class={isOpen ? 'open' : ''}>
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <Time at={Date.parse(row.received_at)} />
        <b>
          {icon && `${icon} `}
          <Text of={name} max={60} />
        </b>
        <span class="chips">
          {row.user_id && <Text of={row.user_id} max={30} name="chip" />}
          {tags.map(({ key, text }) => (
            <span class="chip">
              <Text of={key} name="key" /> <Text of={text} max={40} />
            </span>
          ))}
        </span>
      </button>
      {isOpen && <RowDetails row={row} service={service} />}
    </li>
  );
};

const Log = ({ demo }: { demo: Demo }) => (
  <Few of={demo.log()} none="Quiet so far.">
    {(shown) => (
      <ol class="log">
        {shown.map(({ n, at, what, id, words, tone }) => (
          <li key={n}>
            <Time at={at} /> <code>{what}</code>
            <code class="soft">{id}</code>
            <span class={tone}>{words}</span>
          </li>
        ))}
      </ol>
    )}
  </Few>
);

const StatusView = ({ demo }: { demo: Demo }) => {
  const status = demo.status();
  if (!status) return <p class="soft">There is no page.</p>;
  const { nextAttempt, dropped, ...rest } = status;
  const next = nextAttempt === undefined ? undefined : `in ${lengthOf(nextAttempt - Date.now())}`;
  const all = { ...rest, nextAttempt: next, dropped: JSON.stringify(dropped) };
  return (
    <dl class="state">
      {Object.entries(all).map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd data-status={name}>{value === undefined ? '–' : `${value}`}</dd>
        </div>
      ))}
    </dl>
  );
};
