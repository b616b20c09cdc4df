import { useEffect, useState } from 'preact/hooks';
import { hueOf } from '../../../../show/hue.js';
import { Text } from '../../../../show/text.js';
import { agoInWords } from '../../../../show/times.js';
import type { Feed, FeedState, Person } from '../state/feed.js';
import { findUsers } from '../state/service.js';
import { UserView } from './user-view.js';

interface Found extends Person {
  /** When the latest identify arrived, if there was one. */
  updatedAt?: string;
}

const TYPING_MS = 250;

/** Users to choose from, or one of them. */
export const UsersView = ({ feed, state }: { feed: Feed; state: FeedState }) =>
  state.person ? (
    <UserView
      key={JSON.stringify(state.person)}
      {...{ feed, person: state.person, mayErase: state.onlyProject === undefined }}
      newest={newestOf(state, state.person)}
    />
  ) : (
    <UserList feed={feed} />
  );

/** The place of the newest row of a user that this page has seen: with another one there is more to read. */
const newestOf = ({ kept }: FeedState, { project, user }: Person): number =>
  [...kept.waiting, ...kept.shown].find(
    ({ row }) => row.user_id === user && row.project === project,
  )?.row.seq ?? 0;

const find = async (text: string, after: string) => {
  const { profiles, rows, next = '' } = await findUsers(text, after);
  const found = new Map<string, Found>();
  for (const { project, user_id: user, updated_at: updatedAt } of profiles)
    found.set(JSON.stringify([project, user]), { project, user, updatedAt });
  for (const { project } of rows) {
    const key = JSON.stringify([project, text]);
    if (!found.has(key)) found.set(key, { project, user: text });
  }
  return { users: [...found.values()], next };
};

const UserList = ({ feed }: { feed: Feed }) => {
  const [text, setText] = useState('');
  const [list, set] = useState<{ users: Found[]; next: string } | undefined>();
  const [isFailed, setFailed] = useState(false);
  const show = (next: Promise<{ users: Found[]; next: string }>, before: readonly Found[] = []) =>
    next.then(
      (more) => {
        set({ ...more, users: [...before, ...more.users] });
        setFailed(false);
      },
      () => setFailed(true),
    );
  useEffect(() => {
    const timer = setTimeout(() => void show(find(text.trim(), '')), text ? TYPING_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <section class="users" aria-labelledby="users-title">
      <h2 id="users-title">Users</h2>
      <label class="field" for="user">
        <span>User id, whole</span>
        <input
          id="user"
          type="search"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {isFailed && <p class="wrong">The service gives no users right now.</p>}
      {list && !list.users.length && (
        <p class="soft">
          {text ? 'Nobody has this id.' : 'Nobody was identified yet: users come with `identify`.'}
        </p>
      )}
      <ul class="card">
        {list?.users.map(({ project, user, updatedAt }) => (
          <li>
            <button
              type="button"
              class="beside"
              onClick={() => feed.choose('users', { project, user })}
            >
              <i class="hue" data-hue={hueOf(user)} />
              <b class="cut">
                <Text of={user} max={80} />
              </b>
              <span class="soft">
                <Text of={project} max={60} />
              </span>
              {updatedAt && (
                <time class="soft" dateTime={updatedAt}>
                  {agoInWords(feed.now() - Date.parse(updatedAt))}
                </time>
              )}
            </button>
          </li>
        ))}
      </ul>
      {list?.next && (
        <button type="button" onClick={() => void show(find(text.trim(), list.next), list.users)}>
          Show more
        </button>
      )}
    </section>
  );
};
