/** What the service holds, without what differs from run to run. */
export const createServiceReader = (url) => {
  const read = async (kind) => (await (await fetch(`${url}/_/${kind}`)).json())[kind];
  return {
    clear: async () => {
      await fetch(`${url}/_/records`, { method: 'DELETE' });
    },
    /** Each row with the id of its record, sorted by that. */
    rows: async () => {
      const events = (await read('events')).map(
        ({ idempotency_key: id, project, channel, event, user_id, tags, timestamp }) => ({
          id,
          body: { project, channel, event, user_id, tags, timestamp },
        }),
      );
      const identifies = (await read('identifies')).map(
        ({ idempotency_key: id, project, user_id, properties }) => ({
          id,
          body: { project, user_id, properties },
        }),
      );
      return [...identifies, ...events].sort((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
};
