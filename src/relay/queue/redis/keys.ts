/** Consumer group of every stream. */
const GROUP = 'relay';

/** The names of a queue. The braces keep all of them on one node of a cluster, so that scripts may use them. */
export const createQueueKeys = (prefix: string, partitions: number) => {
  const name = (rest: string) => `{${prefix}}:${rest}`;
  const each = (rest: string) =>
    Array.from({ length: partitions }, (_, i) => name(`${rest}:${i + 1}`));
  return {
    group: GROUP,
    /** Keys of the records in the queue. */
    ids: name('ids'),
    dead: name('dead'),
    /** Processes that take records, with the time they last did. */
    members: name('members'),
    leases: each('lease'),
    streams: each('stream'),
  };
};
