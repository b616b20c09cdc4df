import { createHash } from 'node:crypto';
import type { EventBody } from '../../interface/bodies.js';
import type { Row } from '../store/port.js';
import type { EventNames } from './notify-events.js';

/** What a message shows of a row. */
export interface ShownRow {
  id: string;
  called_at: string;
  received_at: string;
  user_id?: string | undefined;
  description?: string | undefined;
  icon?: string | undefined;
  /** Missing if they are large. */
  tags?: object | undefined;
}

/** The rows of one project, channel and event that a message is about. */
export interface Group extends EventNames {
  /** The place of the first row. */
  place: number;
  count: number;
  first: ShownRow;
  last: ShownRow;
}

/** One message to a target: the rows of one group, or of several. */
export interface Message {
  /** The same whenever the same message is sent again. */
  id: string;
  count: number;
  /** The groups with the most rows. */
  groups: readonly [Group, ...Group[]];
  /** Rows of further groups. */
  others: number;
  /** When the first of the rows arrived, and the last. */
  from: string;
  to: string;
}

/** How many groups a message names. */
const NAMED = 10;
const MAX_DESCRIPTION = 1_000;
const MAX_TAGS_BYTES = 4_096;
/** Names in a bare message. */
const MAX_BARE_NAME = 40;
/** A link that is longer has no filters. A name of 200 characters may be 1,800 in a link. */
const MAX_LINK = 1_000;

/** A text with this many UTF-16 units at the most. */
export const cutText = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;

export const shownRow = ({ id, called_at, received_at, user_id, body }: Row): ShownRow => {
  const { description, icon, tags } = body as EventBody;
  const isSmall = Buffer.byteLength(JSON.stringify(tags ?? {})) <= MAX_TAGS_BYTES;
  return {
    ...{ id, called_at, received_at, user_id },
    description: description === undefined ? undefined : cutText(description, MAX_DESCRIPTION),
    // An emoji. Anything longer is no icon.
    icon: icon !== undefined && icon.length <= 32 ? icon : undefined,
    tags: isSmall ? tags : undefined,
  };
};

const sumOf = (groups: readonly Group[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0);

/** Makes a message about all rows of these groups. */
export const createMessage = (groups: readonly [Group, ...Group[]]): Message => {
  const [first] = groups.toSorted((one, other) => one.place - other.place) as [Group];
  const named = groups.toSorted((one, other) => other.count - one.count || one.place - other.place);
  const times = groups.flatMap((group) => [group.first.received_at, group.last.received_at]).sort();
  // Made from project and id, since two projects may have the same id, and a header takes not every id.
  const id = createHash('sha256').update(JSON.stringify([first.project, first.first.id]));
  return {
    id: `msg_${id.digest('hex').slice(0, 32)}`,
    count: sumOf(groups),
    groups: named.slice(0, NAMED) as unknown as Message['groups'],
    others: sumOf(named.slice(NAMED)),
    ...{ from: times[0]!, to: times.at(-1)! },
  };
};

const bareRow = ({ id, called_at, received_at }: ShownRow): ShownRow => ({
  ...{ id, called_at, received_at },
});

/** The same message with the beginnings of names, ids, times and counts alone, which is short whatever strangers sent. */
export const bareOf = (message: Message): Message => ({
  ...message,
  groups: message.groups.map(({ project, channel, event, place, count, first, last }) => ({
    ...{ project: cutText(project, MAX_BARE_NAME), channel: cutText(channel, MAX_BARE_NAME) },
    ...{ event: cutText(event, MAX_BARE_NAME), place, count },
    ...{ first: bareRow(first), last: bareRow(last) },
  })) as unknown as Message['groups'],
});

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const sinceWords = (from: string, now: number): string => {
  const ms = now - Date.parse(from);
  const minutes = Math.ceil(ms / MINUTE_MS);
  if (minutes < 2) return 'in the last minute';
  if (minutes < 120) return `in the last ${minutes} minutes`;
  return `in the last ${Math.ceil(ms / HOUR_MS)} hours`;
};

/** A stranger's text on one line, without control characters and those that change the direction of others. */
export const onOneLine = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
const onLine = (text: string, most: number): string => cutText(onOneLine(text), most);

const EMOJI =
  /^(?=.*[\p{Extended_Pictographic}\u{1F1E6}-\u{1F1FF}])[\p{Extended_Pictographic}\p{Emoji_Component}]{1,10}$/u;
const iconOf = ({ icon = '' }: ShownRow): string => (EMOJI.test(icon) ? `${icon} ` : '');
const number = (count: number): string => count.toLocaleString('en-US');
const many = (count: number, what: string): string => `${number(count)} × ${what}`;

/** A message in words, as plain text. */
export interface Words {
  title: string;
  /** A line each. */
  lines: readonly string[];
  /** The page that shows these rows, if the address of the program is known. */
  link: string | undefined;
}

/** The page of the rows, with the filters of one group. */
const linkOf = (publicUrl: string, { groups }: Message): string => {
  const [{ project, channel, event }] = groups;
  const page = `${publicUrl.replace(/\/+$/, '')}/rows`;
  const filtered = `${page}?${new URLSearchParams({ project, channel, event })}`;
  return groups.length > 1 || filtered.length > MAX_LINK ? page : filtered;
};

export const wordsOf = (message: Message, now: number, publicUrl: string | undefined): Words => {
  const { groups, count, others, from } = message;
  const [group] = groups;
  const since = sinceWords(from, now);
  const link = publicUrl && linkOf(publicUrl, message);
  if (groups.length > 1) {
    const lines = groups.map(({ project, channel, event, count, last }) =>
      many(count, `${iconOf(last)}${onLine(event, 80)} (${onLine(`${project}/${channel}`, 80)})`),
    );
    const more = others ? [`and ${number(others)} others`] : [];
    return { title: `${number(count)} notifications ${since}`, lines: [...lines, ...more], link };
  }
  const { event, last, project, channel } = group;
  const name = onLine(event, 200);
  return {
    title: iconOf(last) + (count > 1 ? `${many(count, name)} ${since}` : name),
    lines: [onLine(last.description ?? '', 500), onLine(`${project}/${channel}`, 200)].filter(
      Boolean,
    ),
    link,
  };
};
