import { useMemo, useState } from 'preact/hooks';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import type { EventBody } from '../interface/bodies.js';
import type { Row } from '../server/store/port.js';
import { copiesOf, type Copies } from './copies.js';
import { tagsOf, valueText } from './summary.js';
import { countOf, inDigits, lengthInWords } from './times.js';
import { escapeHidden } from './visible.js';
import { CopyButton } from './copy-button.js';
import { LongText } from './text.js';

interface Props {
  row: Row;
  /** Address of the service, without a slash at its end. */
  service: string;
}

/** All that is known of a row. */
export const RowDetails = ({ row, service }: Props) => (
  <div class="details">
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
  const time = at.toLocaleString(undefined, {
    ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' },
  });
  return time;
};

const Journey = ({ row }: { row: Row }) => {
  const ms = Date.parse(row.received_at) - Date.parse(row.called_at);
  const length = lengthInWords(Math.abs(ms));
  const exact = Math.abs(ms) < 10_000 ? `${Math.abs(ms)} ms` : length;
  const words =
    ms < 0
      ? `The browser’s clock is ${exact} ahead of the service’s.`
      : ms === 0
        ? 'Both times are the same, as for a call whose time nobody told.'
        : `It came ${exact} after the call.`;
  return (
    <div class="journey">
      <dl>
        <div>
          <dt>Called</dt>
          <dd>
            <time dateTime={row.called_at} title={row.called_at}>
              {longTime(row.called_at)}
            </time>
            <small class="soft">by the browser’s clock</small>
          </dd>
        </div>
        <div>
          <dt>Arrived</dt>
          <dd>
            <time dateTime={row.received_at} title={row.received_at}>
              {longTime(row.received_at)}
            </time>
            <small class="soft">by the service’s clock</small>
          </dd>
        </div>
      </dl>
      <p class={ms >= 10_000 ? 'late' : 'soft'}>{words}</p>
      {row.arrivals > 1 && (
        <p class="twice">
          It came {countOf(row.arrivals, 'time')}, and is stored once: a repeat is known by its
          record id.
        </p>
      )}
    </div>
  );
};

const Field = ({ name, children }: { name: ComponentChildren; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

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
          <code>{row.seq}</code> <span class="soft">in the feed</span>
        </Field>
        {row.client && (
          <Field name="Sender">
            <code>
              <LongText of={row.client} />
            </code>{' '}
            <span class="soft">
              an opaque word for a browser or a relay, until the service restarts
            </span>
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
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = NAMES[(NAMES.indexOf(form) + step + NAMES.length) % NAMES.length]!;
    choose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div class="code">
      <div class="code-head">
        <div class="segments" role="tablist" aria-label="Take it away as" onKeyDown={onKeyDown}>
          {NAMES.map((name) => (
            <button
              type="button"
              role="tab"
              id={`${id}-${name}`}
              aria-selected={form === name}
              aria-controls={id}
              tabIndex={form === name ? 0 : -1}
              onClick={() => choose(name)}
            >
              {FORMS[name]}
            </button>
          ))}
        </div>
        <CopyButton text={() => copies[form]} />
      </div>
      <pre id={id} role="tabpanel" aria-labelledby={`${id}-${form}`} tabIndex={0} dir="ltr">
        <LongText key={form} of={copies[form]} form={form === 'json' ? 'json' : 'code'} />
      </pre>
    </div>
  );
};
