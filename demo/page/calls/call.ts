/** One call of `event` or `identify` that this demo has made. */
export interface DemoCall {
  /** Unique; travels as `demo_id` in the tags or properties, so that it can be found again. */
  id: string;
  type: 'event' | 'identify';
  /** Name of the event, or the user id. */
  name: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What the tracker last said of a record. */
export interface Fate {
  kind: 'called' | 'waiting' | 'in flight' | 'again' | 'delivered' | 'unknown' | 'dropped';
  /** Reason of a drop, status of an answer. */
  detail?: string;
  at: number;
}

/** A call, with what is known of it. */
export interface KnownCall extends DemoCall {
  fate: Fate;
}

export const DEMO_ID = 'demo_id';

/** The `demo_id` in the body of a record, or in the data of a row. */
export const demoIdIn = (data: unknown): string | undefined => {
  const id = (data as Record<string, unknown> | null | undefined)?.[DEMO_ID];
  return typeof id === 'string' ? id : undefined;
};
