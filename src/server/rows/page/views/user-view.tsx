import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Field } from '../../../../show/field.js';
import { hueOf } from '../../../../show/hue.js';
import { Person as PersonIcon } from '../../../../show/person.js';
import { summaryOf, valueText } from '../../../../show/summary.js';
import { LongText, Text } from '../../../../show/text.js';
import {
  agoInWords,
  clockTime,
  countOf,
  dayInWords,
  delayMs,
  lengthInWords,
} from '../../../../show/times.js';
import type { Profile, Row } from '../../../store/port.js';
import type { Feed, Person } from '../state/feed.js';
import { NO_FILTERS } from '../state/filters.js';
import { eraseUser, readUser, USER_ROWS } from '../state/service.js';
import { daysOf, hasWaited, visitsOf, type Entry, type Visit } from '../state/visits.js';
import { Heat } from './heat.js';

interface Known {
  profile: Profile | undefined;
  rows: readonly Row[];
  hasOlder: boolean;
}

interface Props {
  feed: Feed;
  person: Person;
  mayErase: boolean;
  /** The place of the newest row that the page has seen of this user. */
  newest: number;
}

const AGAIN_MS = 1000;

/** The rows so far and those that were read now: the newest ones, or those before a place. */
const joined = (last: Known | undefined, rows: readonly Row[], before: number | undefined) => {
  const isEnd = rows.length < USER_ROWS;
  if (before !== undefined) return { rows: [...(last?.rows ?? []), ...rows], hasOlder: !isEnd };
  if (isEnd) return { rows, hasOlder: false };
  const older = last?.rows.filter(({ seq }) => seq < rows.at(-1)!.seq) ?? [];
  return { rows: [...rows, ...older], hasOlder: older.length ? last!.hasOlder : true };
};

/** One user: the profile beside the line of events. */
export const UserView = ({ feed, person, mayErase, newest }: Props) => {
  const [known, set] = useState<Known | undefined>();
  const [isFailed, setFailed] = useState(false);
  const read = async (before?: number): Promise<void> => {
    try {
      const { profile, rows } = await readUser(person, before);
      set((last) => ({ profile, ...joined(last, rows, before) }));
      setFailed(false);
    } catch {
      setFailed(true);
    }
  };
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    // However often this user's rows come.
    waiting.current ??= setTimeout(
      () => {
        waiting.current = undefined;
        void read();
      },
      known ? AGAIN_MS : 0,
    );
  }, [newest]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  return (
    <section class="user-page columns" aria-labelledby="user-title">
      <aside class="card profile">
        <button class="link" onClick={() => feed.choose('users')}>
          ← All users
        </button>
        <ProfileCard {...{ feed, person, known }} />
        {known && <Days rows={known.rows} now={feed.now()} isAll={!known.hasOlder} />}
        <Actions {...{ feed, person, mayErase }} onErased={() => void read()} />
      </aside>
      <div class="card line-of">
        {isFailed && <p class="wrong">The service does not answer for this user right now.</p>}
        {known && !known.rows.length && <p class="soft">No rows of this user are stored.</p>}
        {known && <Line feed={feed} rows={known.rows} />}
        {known?.hasOlder && (
          <button onClick={() => void read(known.rows.at(-1)!.seq)}>Load older rows</button>
        )}
      </div>
    </section>
  );
};

const ProfileCard = ({
  feed,
  person,
  known,
}: Pick<Props, 'feed' | 'person'> & { known: Known | undefined }) => {
  const { user, project } = person;
  const { profile, rows = [], hasOlder } = known ?? {};
  const now = feed.now();
  const newest = rows[0]?.received_at;
  const first = profile?.created_at;
  return (
    <>
      <span class="mark face" data-hue={hueOf(user)} aria-hidden="true">
        {[...user][0]?.toUpperCase()}
      </span>
      <h2 id="user-title">
        <Text of={user} />
      </h2>
      <p class="soft">
        <Text of={project} max={60} />
        {first && ` · identified first ${dayInWords(Date.parse(first), now)}`}
        {newest && ` · last seen ${agoInWords(now - Date.parse(newest))}`}
      </p>
      <dl class="fields-of">
        {Object.entries(profile?.properties ?? {}).map(([name, value]) => (
          <Field name={<LongText of={name} />}>
            <LongText of={valueText(value)} />{' '}
            {profile!.set_at[name] && (
              <small class="soft">since {dayInWords(Date.parse(profile!.set_at[name]), now)}</small>
            )}
          </Field>
        ))}
        <Field name="rows">
          {rows.length}
          {hasOlder && ' and older ones'}
        </Field>
      </dl>
      {known && !profile && <p class="soft">Without a profile: no identify has come.</p>}
    </>
  );
};

const DAYS = 30;

const Days = ({ rows, now, isAll }: { rows: readonly Row[]; now: number; isAll: boolean }) => {
  const days = useMemo(() => daysOf(rows, now, DAYS), [rows]);
  return (
    <figure class="days">
      <Heat days={days} words={` of the last ${DAYS}`} now={now} />
      <figcaption class="soft small">
        {DAYS} days{isAll ? '' : ', of the rows that are loaded'}. Darker: more rows.
      </figcaption>
      <table class="sr-only">
        <caption>Rows by day</caption>
        <tbody>
          {days
            .filter((day) => day.rows > 0)
            .map((day) => (
              <tr>
                <th scope="row">{dayInWords(day.at, now)}</th>
                <td>{day.rows}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
};

const Actions = ({
  feed,
  person,
  mayErase,
  onErased,
}: Omit<Props, 'newest'> & { onErased: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [told, tell] = useState('');
  const { project, user } = person;
  const query = new URLSearchParams({ project, user, format: 'ndjson' });
  const erase = async (): Promise<void> => {
    dialog.current!.close();
    tell('Erasing …');
    try {
      tell(`Erased: ${countOf(await eraseUser(person), 'row')} and the profile.`);
      onErased();
    } catch {
      tell('The service could not erase this user. Try again.');
    }
  };
  return (
    <div class="buttons wrap">
      <button onClick={() => feed.filter({ ...NO_FILTERS, project, user })}>Rows</button>
      <a class="button" href={`rows?${query}`} download={`${user}.ndjson`}>
        Export
      </a>
      {mayErase && (
        <button class="danger" onClick={() => dialog.current!.showModal()}>
          Erase …
        </button>
      )}
      <p class="soft" role="status">
        {told}
      </p>
      <dialog ref={dialog} aria-labelledby="erase-title">
        <h2 id="erase-title">Erase this user?</h2>
        <p>
          All rows of <Text of={user} max={80} /> in <Text of={project} max={60} />, the profile and
          what was refused are deleted. Nothing brings them back.
        </p>
        <div class="buttons wrap">
          <button class="danger" onClick={() => void erase()}>
            Erase
          </button>
          <button onClick={() => dialog.current!.close()}>Keep</button>
        </div>
      </dialog>
    </div>
  );
};

/** Visits are drawn by and by. */
const STEP = 20;

const Line = ({ feed, rows }: { feed: Feed; rows: readonly Row[] }) => {
  const [limit, setLimit] = useState(STEP);
  const visits = useMemo(() => visitsOf(rows), [rows]);
  const now = feed.now();
  const shown = visits.slice(0, limit);
  const dayOf = ({ last }: Visit) => dayInWords(last, now);
  return (
    <>
      {shown.map((visit, at) => {
        const isNewDay = at === 0 || dayOf(visit) !== dayOf(shown[at - 1]!);
        const sameDay = visits.filter((other) => dayOf(other) === dayOf(visit));
        const count = sameDay.reduce((sum, one) => sum + one.count, 0);
        return (
          <>
            {isNewDay ? (
              <h3>
                {dayOf(visit)}{' '}
                <span class="soft">
                  {countOf(count, 'event')} in {countOf(sameDay.length, 'visit')}
                </span>
              </h3>
            ) : (
              <p class="apart soft small">
                {lengthInWords(shown[at - 1]!.first - visit.last)} apart
              </p>
            )}
            <ol class="visit">
              {visit.entries.map((entry) => (
                <EntryView entry={entry} />
              ))}
            </ol>
          </>
        );
      })}
      {visits.length > limit && (
        <button onClick={() => setLimit(limit + STEP)}>Show earlier visits</button>
      )}
    </>
  );
};

const MAX_CHIPS = 3;

const EntryView = ({ entry: { kind, rows } }: { entry: Entry }) => {
  const [row] = rows as [Row];
  const longest = lengthInWords(Math.max(...rows.map(delayMs)));
  if (kind === 'waited') {
    const what = countOf(rows.length, 'call');
    return (
      <li class="waited small">
        {what} waited in the browser for {rows.length > 1 ? `up to ${longest}` : longest}, and came
        {rows.length > 1 ? ' together' : ''} at {clockTime(Date.parse(row.received_at))}.
      </li>
    );
  }
  const { icon, name, description, chips } = summaryOf(row);
  return (
    <li>
      <time class="soft small" dateTime={row.called_at}>
        {clockTime(Date.parse(row.called_at))}
      </time>
      <span
        class="mark"
        data-hue={row.type === 'identify' ? 'identify' : hueOf(name)}
        aria-hidden="true"
      >
        {row.type === 'identify' ? <PersonIcon /> : icon && <Text of={icon} />}
      </span>
      <p class="cut">
        <b>
          <Text of={row.type === 'identify' ? 'Profile updated' : name} max={80} />
          {rows.length > 1 && ` ×${rows.length}`}
        </b>{' '}
        {description && <Text of={description} max={80} name="soft" />}{' '}
        {chips.slice(0, MAX_CHIPS).map(({ key, text }) => (
          <span class="chip">
            <Text of={key} name="key" max={30} /> <Text of={text} max={40} />
          </span>
        ))}
      </p>
      {hasWaited(row) && <span class="pill late">came {longest} later</span>}
    </li>
  );
};
