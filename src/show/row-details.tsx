import { useMemo, useState } from 'preact/hooks';
import type { EventBody } from '../interface/bodies.js';
import type { Row } from '../server/store/port.js';
import { copiesOf, type Copies } from './copies.js';
import { Field } from './field.js';
import { tagsOf, valueText } from './summary.js';
import { countOf, delayMs, exactLength, inDigits, LATE_MS } from './times.js';
import { escapeHidden } from './visible.js';
import { CopyButton } from './copy-button.js';
import { TabList } from './tab-list.js';
import { LongText } from './text.js';

interface Props {
  row: Row;
  /** Address of the service, without a slash at its end. */
  service: string;
}

/** All that is known of a row. */
export const RowDetails = ({ row, service }: Props) => (
  <div class="details columns">
    <div class="facts">
      <Journey row={row} />
      <Fields row={row} />
    </div>
    <Code row={row} service={service} />
  </div>
);

const longTime = (iso: string): string => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleString(undefined, {
    ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' },
  });
};

const Moment = ({ name, at, clock }: { name: string; at: string; clock: string }) => (
  <Field name={name}>
    <time dateTime={at} title={at}>
      {longTime(at)}
    </time>
    <small class="soft">by the {clock}’s clock</small>
  </Field>
);

const Journey = ({ row }: { row: Row }) => {
  const ms = delayMs(row);
  const exact = exactLength(Math.abs(ms));
  const caller = row.from_server ? 'sender' : 'browser';
  const words =
    ms < 0
      ? `The ${caller}’s clock is ${exact} ahead of the service’s.`
      : ms === 0
        ? 'Both times are the same, as for a call whose time nobody told.'
        : `It came ${exact} after the call.`;
  return (
    <div class="journey">
      <dl class="wrap">
        <Moment name="Called" at={row.called_at} clock={caller} />
        <Moment name="Arrived" at={row.received_at} clock="service" />
      </dl>
      <p class={ms >= LATE_MS && !row.from_server ? 'late' : 'soft'}>
        {words}
        {row.from_server && ' A server has sent it by token, so it never waited in a browser.'}
      </p>
      {row.arrivals > 1 && (
        <p class="twice">
          It came {countOf(row.arrivals, 'time')}, and is stored once: a repeat is known by its
          record id.
        </p>
      )}
    </div>
  );
};

/** Drawing a thousand takes about half a second, and a row may have ten thousand. */
const FIRST_TAGS = 100;

const Tags = ({ row }: { row: Row }) => {
  const [areAllShown, showAll] = useState(false);
  const tags = Object.entries(tagsOf(row));
  if (!tags.length) return <p class="soft">None.</p>;
  const shown = areAllShown ? tags : tags.slice(0, FIRST_TAGS);
  const words = row.type === 'identify' ? 'properties' : 'tags';
  return (
    <>
      <dl class="fields-of tags-of">
        {shown.map(([key, value]) => (
          <Field name={<LongText of={key} />}>
            <span class={`of-${typeof value}`}>
              {typeof value === 'object' ? (
                <LongText of={escapeHidden(valueText(value))} form="json" />
              ) : (
                <LongText of={valueText(value)} />
              )}
            </span>
          </Field>
        ))}
      </dl>
      {shown.length < tags.length && (
        <button type="button" class="link" onClick={() => showAll(true)}>
          show all ({inDigits(tags.length)} {words})
        </button>
      )}
    </>
  );
};

const Fields = ({ row }: { row: Row }) => {
  const { description, icon, notify } = row.body as EventBody;
  const texts: readonly (readonly [string, string | undefined | null])[] = [
    ...(row.type === 'event' ? ([['Event', row.event ?? '']] as const) : []),
    ['Description', description],
    ['Icon', icon],
    ['User', row.user_id],
    ['Project', row.project],
    ['Channel', row.channel],
  ];
  return (
    <>
      <h3>{row.type === 'identify' ? 'Properties' : 'Tags'}</h3>
      <Tags row={row} />
      <h3>Record</h3>
      <dl class="fields-of">
        {texts
          .filter(([, text]) => text)
          .map(([name, text]) => (
            <Field name={name}>
              <LongText of={text!} />
            </Field>
          ))}
        {notify && <Field name="Notify">yes</Field>}
        <Field name="Record id">
          <code>
            <LongText of={row.id} />
          </code>
        </Field>
        <Field name="Place">
          <code>{row.seq}</code> <small class="soft">in the feed</small>
        </Field>
        {row.client && (
          <Field name="Sender">
            <code>
              <LongText of={row.client} />
            </code>{' '}
            <small class="soft">
              an opaque word for a browser or a relay, until the service restarts
            </small>
          </Field>
        )}
      </dl>
    </>
  );
};

const FORMS: Readonly<Record<keyof Copies, string>> = {
  json: 'JSON',
  curl: 'curl',
  call: 'Call',
  assertion: 'Playwright',
};
const NAMES = Object.keys(FORMS) as (keyof Copies)[];

/** What one can take away, as it will be copied. */
const Code = ({ row, service }: Props) => {
  const [form, choose] = useState<keyof Copies>('json');
  const copies = useMemo(() => copiesOf(row, service), [row, service]);
  const id = `code-${row.seq}`;
  return (
    <div class="code">
      <div class="code-head wrap">
        <TabList
          {...{ kind: 'segments', label: 'Take it away as', id, panel: id, names: NAMES }}
          chosen={form}
          choose={choose}
          wordsOf={(name) => FORMS[name]}
        />
        <CopyButton text={() => copies[form]} />
      </div>
      <pre id={id} role="tabpanel" aria-labelledby={`${id}-${form}`} tabIndex={0} dir="ltr">
        <LongText key={form} of={copies[form]} form={form === 'json' ? 'json' : 'code'} />
      </pre>
    </div>
  );
};
