/** How far a record is on its way to the service, as far as its page knows. */
export type RecordState =
  /** In memory, and sent when it is due. */
  | 'waiting'
  /** About to be sent: the write that names it as in flight is under way. */
  | 'naming'
  /** About to be sent, and the database says so. */
  | 'named'
  /** In a request that outlives the page. */
  | 'flight'
  /** In a request that ends with the page. */
  | 'tied'
  /** It has come to its end: delivered, dropped, or counted as unknown. */
  | 'done';

/** Where a parcel stands, as far as its page knows. */
export type ParcelState =
  /** In memory alone. */
  | 'new'
  /** Given to the database, which has not answered yet. */
  | 'tried'
  /** In the database and in memory. */
  | 'stored'
  /** Not this page's any more. */
  | 'gone';

/** Whether the record is in a request that has no answer yet. */
export const isUnderWay = ({ state }: { state: RecordState }): boolean =>
  state === 'flight' || state === 'tied';

type Steps<State extends string> = Readonly<
  Record<State, Readonly<Partial<Record<string, State>>>>
>;

/** What can happen to a record, and where each step leads. */
export const RECORD_STEPS = {
  waiting: { name: 'naming', send: 'flight', tie: 'tied', finish: 'done' },
  naming: { confirm: 'named', withdraw: 'waiting', send: 'flight', tie: 'tied', finish: 'done' },
  named: { withdraw: 'waiting', send: 'flight', tie: 'tied', finish: 'done' },
  flight: { fail: 'waiting', finish: 'done' },
  tied: { fail: 'waiting', finish: 'done' },
  done: {},
} as const satisfies Steps<RecordState>;

/** What can happen to a parcel, and where each step leads. */
export const PARCEL_STEPS = {
  // A parcel may be written twice at once. If the first write fails and the second does not, it is `new` in between.
  new: { write: 'tried', confirm: 'stored', part: 'gone' },
  tried: { confirm: 'stored', abort: 'new', part: 'gone' },
  stored: { part: 'gone' },
  gone: {},
} as const satisfies Steps<ParcelState>;

type VerbOf<Table> = { [State in keyof Table]: keyof Table[State] }[keyof Table];

const moverOf =
  <State extends string, Table extends Steps<State>>(table: Table) =>
  (thing: { state: State }, verb: VerbOf<Table>): boolean => {
    const next = table[thing.state][verb as string];
    if (next) thing.state = next;
    return !!next;
  };

/** Takes a record a step on. If its state has no such step, nothing happens, and the answer is false. */
export const moveRecord = moverOf<RecordState, typeof RECORD_STEPS>(RECORD_STEPS);

/** The same for a parcel. */
export const moveParcel = moverOf<ParcelState, typeof PARCEL_STEPS>(PARCEL_STEPS);
