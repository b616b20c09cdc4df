import type { EventBody, IdentifyBody, RecordType } from '../../interface/bodies.js';
import type { Incoming } from '../incoming.js';
import type { Refusal } from '../refusal.js';
import type { Erasure, Progress } from './progress.js';

/**
 * What became of a record in the store. `known`: a record of its project and type with its id is stored already, so
 * only its arrivals are counted. `dead`: the database refuses this record itself; `message` has the database's words, and
 * the record is kept among the refused.
 */
export type Written = { outcome: 'stored' | 'known' } | { outcome: 'dead'; message: string };

/** What became of a dead record that was written again. */
export type Resent = { seq: number } & (
  { outcome: 'stored' | 'known' } | { outcome: 'dead'; message: string }
);

/** A stored record, as it is read. */
export interface Row {
  /** Its place in the feed. A later row has a greater one, and no row ever appears behind a place that was read. */
  seq: number;
  id: string;
  type: RecordType;
  project: string;
  /** Events only. */
  channel?: string;
  /** Events only: the name. */
  event?: string;
  user_id?: string;
  /** The whole body, with `tags` or `properties`. */
  body: EventBody | IdentifyBody;
  called_at: string;
  received_at: string;
  /** How often it came. It is stored once. */
  arrivals: number;
  client?: string;
  /** A server has sent it by token, so it never was in a browser. */
  from_server?: true;
}

/**
 * A request or record that was refused. Beyond a bound the oldest are deleted. Dead records have a bound of their own,
 * so that a flood of requests deletes none of them.
 */
export interface Refused {
  seq: number;
  received_at: string;
  /** Why: the token, the body, a field, a project that is not listed, the size, the rate, or the database. */
  reason: Refusal['reason'] | 'target';
  /** The status that was answered. */
  status: number;
  /** For people: the field and what it has to be, or the words of the database. 4,096 characters at the most. */
  message: string;
  /** The target that has refused a stored row. */
  target?: string;
  /** As far as they are known. */
  id?: string;
  type?: RecordType;
  project?: string;
  user_id?: string;
  /** The body, 4,096 characters of it at the most. */
  body?: string;
  /**
   * It can be sent again (`resend`): the whole record is kept here, or it is a row that could not be summed or merged into
   * its profile.
   */
  isDead?: true;
  client?: string;
}

export type NewRefused = Omit<Refused, 'seq'> & {
  /** The record itself, if it may be sent again. */
  record?: Incoming | undefined;
};

/** Which rows to read; every part may be left out. */
export interface RowFilter {
  project?: string | undefined;
  channel?: string | undefined;
  user_id?: string | undefined;
  type?: RecordType | undefined;
  /** Names of events: only these. */
  event?: readonly string[] | undefined;
  /** Names of events: not these. */
  not?: readonly string[] | undefined;
  /** Any text of the body, whatever its case. */
  text?: string | undefined;
  /** Tags or properties, each `name=value`, or a name that may have any value: only rows that have all of them. */
  tag?: readonly string[] | undefined;
  client?: string | undefined;
  /** Only rows that asked for a notification as they arrived here. Rows of another store (`adopt`) did not. */
  notify?: true | undefined;
  /** ISO 8601 in UTC with milliseconds: only rows that arrived from this time on, or before that one. */
  from?: string | undefined;
  to?: string | undefined;
}

export interface Span {
  /** Only rows behind this place. */
  after?: number | undefined;
  /** Only rows before this place. */
  before?: number | undefined;
  limit: number;
  /** The newest first; else the oldest first. */
  newest?: boolean | undefined;
}

/** How far a look through the rows has come. */
export interface Looked {
  /** Of the rows up to this place, or from it on if the newest came first, none is left out. */
  place: number;
  /** When the row at this place arrived. */
  since?: string | undefined;
  /** Nothing is left to look at. */
  is_all: boolean;
}

/** Rows that were found within a time. */
export interface Found {
  rows: Row[];
  looked: Looked;
}

/** How many rows fit a filter. */
export interface FilterCount {
  rows: number;
  /** All rows were counted; else those that were looked at. */
  is_exact: boolean;
}

export interface FilterCounts {
  counts: FilterCount[];
  /** How far the newest rows were looked at, and how many; missing if the sums had all the answers. */
  looked?: Looked & { rows: number };
}

/** A value of a tag, and how many rows have it. */
export interface ValueCount {
  value: string;
  rows: number;
  /** No filter can ask for it: it is an object or a list, or only the beginning of a text. */
  is_part?: true;
}

/** The values of a tag among the rows that were looked at. */
export interface TagValues {
  tag: string;
  /** Those with the most rows, the first of them first. */
  values: ValueCount[];
  /** Rows with another value. */
  others: number;
}

/** What the rows of a filter come to. */
export interface Breakdown {
  rows: number;
  hours: Pick<Hour, 'hour' | 'rows'>[];
  /** All rows are in the two numbers above; else those that were looked at. */
  is_exact: boolean;
  users: number;
  tags: TagValues[];
  /** Names of tags of the newest rows: first those whose values differ. */
  names: string[];
  /** How far the newest rows were looked at for users and tags, and how many of them fit. */
  looked: Looked & { rows: number };
}

/** Which users to list. */
export interface UserFilter {
  project?: string | undefined;
  /** How their ids begin: these come in the order of their ids. */
  start?: string | undefined;
  /** A property of the profile, `name=value`, or a name that may have any value. */
  property?: string | undefined;
  /** When days begin, and the last one ends: ISO 8601 in UTC with milliseconds. */
  days: readonly string[];
  /** The `next` of the page before. */
  after?: UsersPlace | undefined;
  limit: number;
}

/** Where a list of users goes on: below a place of those that were there at the start, or behind an id. */
export type UsersPlace = [top: number, before: number] | [project: string, user_id: string];

/** A user by the rows, with or without a profile. */
export interface SeenUser {
  project: string;
  user_id: string;
  /** When the row with the highest place arrived. */
  last_seen: string;
  /** 10,000 at most. */
  rows: number;
  /** Rows in each of the days; `null` for a day of which not all rows were looked at. */
  days: (number | null)[];
  /** Two properties of the profile, if there is one. */
  properties?: Record<string, string>;
}

export interface SeenUsers {
  users: SeenUser[];
  next?: UsersPlace;
  /** How far the rows were looked through; missing in the order of ids. */
  looked?: Looked;
}

export interface Profile {
  project: string;
  user_id: string;
  properties: Record<string, unknown>;
  /** For each property the time of the call that set it. */
  set_at: Record<string, string>;
  /** When the user's first and latest identify arrived. */
  created_at: string;
  updated_at: string;
}

/** A row that gets a place of its own in another store. */
export type PlacelessRow = Omit<Row, 'seq'>;

/** Which rows an erasure deletes: those of one user, or those that fit the other fields. */
export type Erased = Omit<Erasure, 'place' | 'upto'>;

/** The content that one store takes over from another. */
export interface Held {
  rows?: readonly PlacelessRow[] | undefined;
  profiles?: readonly Profile[] | undefined;
  refused?: readonly NewRefused[] | undefined;
}

/** How much of the content of another store was new. */
export interface Adopted {
  rows: number;
  /** Rows and profiles that the database has refused are counted here, too. */
  refused: number;
}

/** How many rows there are, by project and type. */
export interface Count {
  project: string;
  type: RecordType;
  rows: number;
}

/** Which rows to sum by hour. */
export interface HourFilter extends Pick<RowFilter, 'project' | 'channel' | 'event'> {
  /** ISO 8601 in UTC, each the beginning of an hour: from this hour on, and before that one. */
  from: string;
  to: string;
  /** Whether to split the rows by channel and event. */
  split?: boolean | undefined;
}

/** The rows that arrived in one hour. */
export interface Hour {
  /** When it began: ISO 8601 in UTC. */
  hour: string;
  rows: number;
  /** How often rows of the project came again in this hour, whatever their channel and event. */
  repeats: number;
  /** Rows of browsers by the time from the call to the arrival: 2 seconds at the most, up to a minute, up to an hour, and more. */
  in_2s: number;
  in_1m: number;
  in_1h: number;
  later: number;
  /** Rows that a server has sent by token. They never were in a browser. */
  from_server: number;
}

/** The rows of one pair of channel and event. */
export interface SplitRows {
  channel: string;
  event: string;
  /** How many arrived in each of the hours that stand beside it. */
  rows: number[];
}

export interface Hours {
  /** In the order of time. Hours without rows and repeats are missing. */
  hours: Hour[];
  /**
   * With `split`: the 200 pairs with the most rows, the first of them first. All others have the channel and the event
   * `…`, at the end.
   */
  events?: SplitRows[];
  /** The sums may be too low, since many rows are not summed yet, as after an upgrade. */
  is_behind?: true;
}

/** Bytes of the disk that has the rows. */
export interface Room {
  free: number;
  size: number;
}

/** How many answers in an hour have refused a request or a record. */
export interface RefusedCount {
  /** When it began: ISO 8601 in UTC. */
  hour: string;
  reason: Refused['reason'];
  n: number;
}

/** A time in which no rows were stored. */
export interface Outage {
  /** ISO 8601 in UTC. */
  from: string;
  to: string;
  /** The process that says so. */
  process: string;
  /** Why, in words. */
  problem: string;
}

/** How far a reader of the rows in the store is behind them. */
export interface Behind {
  reader: 'sums' | 'profiles';
  /** Rows that it has not read yet; 10,000 at most. */
  rows: number;
  /** Why it stands still, in words of the database. */
  problem: string | undefined;
}

/**
 * Where the service keeps records. Every engine passes one contract (test/server/store/store-contract.ts).
 *
 * A profile is the merge of a user's identifies, one level deep. Each property has the value of the latest *call* that
 * named it, whatever the order of arrival. NUL and lone surrogates are replaced by U+FFFD before a record is stored, so
 * that both engines keep the same; `onReplaced` is called with the number of such records. An identify that would make
 * a profile too large is dead.
 */
export interface Store {
  /** Appends rows. Settles when they are durable; rejects if the database does not work. */
  write(records: readonly Incoming[]): Promise<Written[]>;
  /**
   * Makes a write that changes nothing, and rejects if the database does not take it. Slow searches do not hold it up.
   * On a full disk such a small write may pass, so with `asksForRoom` it rejects as well if there is no room for rows.
   */
  check(options?: { asksForRoom?: boolean }): Promise<void>;
  /** How much room there is for rows; undefined if that is not known, as with Postgres. */
  room(): Promise<Room | undefined>;
  /** Keeps refused requests and records, within the store's bounds. */
  refuse(refused: readonly NewRefused[]): Promise<void>;
  rows(filter: RowFilter, span: Span): Promise<Row[]>;
  /** The same, but it looks for so many milliseconds at most, and says how far it came. */
  search(filter: RowFilter, span: Span, ms: number): Promise<Found>;
  /**
   * How many rows fit each of the filters: from the sums where these are exact (whole hours, names that have sums of their
   * own), else from the newest rows, as far as these can be looked through in so many milliseconds.
   */
  count(filters: readonly RowFilter[], ms: number): Promise<FilterCounts>;
  /** Rows, users and values of tags, in the same way; of an event without tags those of one of its tags. Of over 10,000 values of a tag the later ones are not told apart. */
  breakdown(
    filter: RowFilter & { from: string },
    tags: readonly string[],
    ms: number,
  ): Promise<Breakdown>;
  /** Users by who was here last; see `UserFilter`. */
  users(filter: UserFilter, ms: number): Promise<SeenUsers>;
  /** The highest place so far, even if its row is gone; 0 before the first row. */
  lastPlace(): Promise<number>;
  /** With a project, only what names it. */
  refused(span: Span, project?: string): Promise<Refused[]>;
  /**
   * Writes dead records again, or sums or merges their rows, and returns what became of each that was there. Stored ones
   * are removed from the refused. Those that the database refuses again get its new words.
   */
  resend(seqs: readonly number[]): Promise<Resent[]>;
  /** Deletes dead records for good, and returns how many there were. */
  purge(seqs: readonly number[]): Promise<number>;
  /** The whole records of dead letters. */
  dead(seqs: readonly number[]): Promise<{ seq: number; record: Incoming }[]>;
  /** By project and user, in the order of their UTF-8 bytes. `after` is the last one of the page before. */
  profiles(
    filter: Pick<RowFilter, 'project' | 'user_id'>,
    page: { after?: Pick<Profile, 'project' | 'user_id'> | undefined; limit: number },
  ): Promise<Profile[]>;
  counts(): Promise<Count[]>;
  /**
   * The sums of hours. A project and hour has 500 pairs of channel and event; the sums of all others have the channel
   * and the event `…`. Those of identifies have an empty channel and event.
   */
  hours(filter: HourFilter): Promise<Hours>;
  /** How many refused are kept, or how many of them name a project. */
  countRefused(project?: string): Promise<number>;
  /** Adds to the counts of refused answers. The project is empty if it is none that is known. */
  addRefused(counts: readonly (RefusedCount & { project: string })[]): Promise<void>;
  /** How many answers were refused from this hour on and before that one, of all projects or of one, in the order of time. */
  refusedHours(filter: Pick<HourFilter, 'project' | 'from' | 'to'>): Promise<RefusedCount[]>;
  /** Keeps an outage that is over. One that is kept already stays as it is. */
  addOutage(outage: Outage): Promise<void>;
  /** The outages that touch a time, the newest 100, the oldest of them first. */
  outages(span: { from: string; to: string }): Promise<Outage[]>;
  /**
   * How many rows were called from one time on and before another, and arrived after that. It looks through rows for a second
   * and a half at the most; `isAll` says whether that was enough.
   */
  countLater(span: { from: string; to: string }): Promise<{ rows: number; isAll: boolean }>;
  /**
   * Deletes the rows that fit, and of a user the profile and the refused as well. Only rows below the place `upto` are
   * deleted; without it all that are stored by now. Returns how many there were. The erasure is kept before anything is
   * deleted, so a process that is killed meanwhile, or another one, goes on with it.
   */
  erase(erased: Erased, upto?: number): Promise<number>;
  /** How many rows fit by now, and the place below which they are. */
  countErased(erased: Erased): Promise<{ rows: number; upto: number }>;
  /**
   * Deletes rows that arrived before this time, `limit` at most, and that the sums and profiles have read. With `upto` only
   * rows below that place. Returns how many there were.
   */
  expire(before: string, limit: number, upto?: number): Promise<number>;
  /** Deletes what was refused before this time, what was counted of it and of repeats, and outages. */
  expireRefused(before: string): Promise<void>;
  /**
   * Looks at the next `limit` profiles, deletes those that no identify has changed since this time and for which none waits,
   * and returns how many there were.
   */
  expireProfiles(before: string, limit: number): Promise<number>;
  /**
   * Takes over the content of another store as it is, and returns how much of it was new. Existing rows stay, so it can
   * be done again. Of two values of a property the one of the later call wins. A row or profile that the database
   * refuses is kept among the refused.
   */
  adopt(held: Held): Promise<Adopted>;
  /** How far the sums and the profiles are behind the rows. */
  behind(): Promise<Behind[]>;
  /** Calls `onRows` soon after any process has stored or refused something, until the returned function is called. */
  follow(onRows: () => void): () => void;
  /** How far exports and notifications have come. */
  progress: Progress;
  close(): Promise<void>;
}
