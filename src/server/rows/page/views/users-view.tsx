import { useEffect, useRef, useState } from 'preact/hooks';
import { hueOf } from '../../../../show/hue.js';
import { Text } from '../../../../show/text.js';
import { agoInWords, inDigits } from '../../../../show/times.js';
import type { Breakdown, Looked, SeenUser } from '../../../store/port.js';
import { onForgotten } from '../state/answers.js';
import type { Feed, FeedState, Person } from '../state/feed.js';
import { ask } from '../state/service.js';
import { dayStarts } from '../state/visits.js';
import { Heat } from './heat.js';
import { useAnswer } from './hooks.js';
import { backTo } from './searching.js';
import { UserView } from './user-view.js';

const [TYPING_MS, DAY_MS] = [250, 86_400_000];
/** Users of a page, days of a user, and rows that are counted of one. */
const [PAGE, DAYS, MAX_ROWS] = [50, 14, 10_000];

/** Users to choose from, or one of them. */
export const UsersView = ({ feed, state }: { feed: Feed; state: FeedState }) =>
  state.person ? (
    <UserView
      key={JSON.stringify(state.person)}
      {...{ feed, person: state.person, mayErase: state.onlyProject === undefined }}
      newest={newestOf(state, state.person)}
    />
  ) : (
    <UserList feed={feed} hasProjects={state.seen.projects.length > 1} />
  );

/** The place of the newest row of a user that this page has seen: with another one there is more to read. */
const newestOf = ({ kept }: FeedState, { project, user }: Person): number =>
  [...kept.waiting, ...kept.shown].find(
    ({ row }) => row.user_id === user && row.project === project,
  )?.row.seq ?? 0;

interface Page {
  users: SeenUser[];
  next?: string;
  looked?: Looked;
  /** More are looked for. */
  isOn?: boolean;
}

/** What is typed: the beginning of an id, or a property with its value. */
const queryOf = (text: string): Record<string, string> =>
  text ? (/^[^=]+=./.test(text) ? { tag: text } : { start: text }) : {};

const UserList = ({ feed, hasProjects }: { feed: Feed; hasProjects: boolean }) => {
  const [text, setText] = useState('');
  const [list, set] = useState<Page | undefined>();
  const [isFailed, setFailed] = useState(false);
  const [days] = useState(() => dayStarts(feed.now(), DAYS));
  const runs = useRef(0);
  /** Reads a page of users. A property that few have is looked for until the page is full, or until there is nobody left. */
  const read = async (after?: string, before: readonly SeenUser[] = []): Promise<void> => {
    const run = ++runs.current;
    const limit = PAGE - (before.length % PAGE);
    const query = new URLSearchParams({ limit: String(limit), ...queryOf(text.trim()) });
    for (const at of days) query.append('day', new Date(at).toISOString());
    if (after !== undefined) query.set('after', after);
    try {
      const more = await ask<Page>('users', query);
      if (run !== runs.current) return;
      const users = [...before, ...more.users];
      const isFull = more.users.length > 0 && users.length % PAGE === 0;
      set({ ...more, users, isOn: !!more.next && !isFull });
      setFailed(false);
      if (more.next && !isFull) await read(more.next, users);
    } catch {
      if (run !== runs.current) return;
      set((last) => last && { ...last, isOn: false });
      setFailed(true);
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => void read(), text ? TYPING_MS : 0);
    const stop = onForgotten(() => void read());
    return () => {
      runs.current++;
      clearTimeout(timer);
      stop();
    };
  }, [text]);
  return (
    <section class="users" aria-labelledby="users-title">
      <h2 id="users-title">
        Users <UsersToday feed={feed} />
      </h2>
      <label class="field" for="user">
        <span class="sr-only">Find a user</span>
        <input
          id="user"
          type="search"
          value={text}
          placeholder="Beginning of an id, or plan=pro"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {isFailed && <p class="wrong">The service gives no users right now.</p>}
      {!list && !isFailed && <p class="soft">Looking for users …</p>}
      {list && list.users.length > 0 && (
        <table class="card">
          <thead class="soft small">
            <tr>
              <th scope="col">User</th>
              <th scope="col">Profile</th>
              <th scope="col">{DAYS} days</th>
              <th scope="col">Rows</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {list.users.map((user) => (
              <User {...{ feed, user, days, hasProjects }} />
            ))}
          </tbody>
        </table>
      )}
      {list && !list.next && !list.users.length && (
        <p class="soft">
          {text ? 'Nobody is found.' : 'No row has a user yet: events and identifies name one.'}
        </p>
      )}
      {list?.isOn && (
        <p class="searching small on" role="status">
          Searching {list.looked && backTo(list.looked, feed.now())} …
        </p>
      )}
      {list?.next && !list.isOn && (
        <button onClick={() => void read(list.next, list.users)}>Show more</button>
      )}
    </section>
  );
};

const UsersToday = ({ feed }: { feed: Feed }) => {
  const [from] = useState(() => new Date(feed.now() - DAY_MS).toISOString());
  const { answer } = useAnswer<Breakdown>(`counts?from=${from}`);
  if (!answer) return null;
  const least = answer.looked.is_all ? '' : '+';
  return (
    <small class="soft">
      {inDigits(answer.users)}
      {least} seen in 24 hours
    </small>
  );
};

const User = ({
  feed,
  user: { project, user_id: user, properties, days: counts, rows, last_seen },
  days,
  hasProjects,
}: {
  feed: Feed;
  user: SeenUser;
  days: readonly number[];
  hasProjects: boolean;
}) => {
  const now = feed.now();
  return (
    <tr>
      <th scope="row">
        <button class="value beside" onClick={() => feed.choose('users', { project, user })}>
          <i class="hue" data-hue={hueOf(user)} />
          <Text of={user} max={80} name="cut" />
        </button>
        {hasProjects && <Text of={project} max={60} name="soft small" />}
      </th>
      <td class="soft">
        {properties
          ? Object.entries(properties).map(([name, value]) => (
              <span class="cut">
                <Text of={name} max={30} />{' '}
                <b>
                  <Text of={value} max={40} />
                </b>
              </span>
            ))
          : 'never identified'}
      </td>
      <td>
        <Heat now={now} days={counts.map((count, at) => ({ at: days[at]!, rows: count }))} />
      </td>
      <td>
        {inDigits(rows)}
        {rows >= MAX_ROWS && '+'}
      </td>
      <td>
        <time dateTime={last_seen}>{agoInWords(now - Date.parse(last_seen))}</time>
      </td>
    </tr>
  );
};
