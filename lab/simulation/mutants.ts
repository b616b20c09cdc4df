import type { Mutation } from './bundle.js';

interface Mutant {
  name: string;
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  put: string;
}

export const mutationOf = ({ file, find, put }: Mutant): Mutation => ({
  file,
  change: (code) => {
    const parts = code.split(find);
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of: ${find}`);
    return parts.join(put);
  },
});

/** Faults that are put into the real code on purpose, one at a time. The simulator must find each. */
export const MUTANTS: Mutant[] = [
  {
    name: 'claim what is held',
    file: 'src/client/outbox/claim.ts',
    find: 'lives.set(life, leaseEnd(outbox, until));',
    put: 'lives.set(life, leaseEnd(outbox, until - 59_000));',
  },
  {
    name: 'go on when the lease is over',
    file: 'src/client/outbox/outbox.ts',
    find: 'if (!until || leaseEnd(outbox, until)) return;',
    put: 'if (until || !until) return;',
  },
  {
    name: 'keep the life that was left',
    file: 'src/client/outbox/outbox.ts',
    find: '  outbox.life = newId();',
    put: '',
  },
  {
    name: 'delete before the answer',
    file: 'src/client/delivery/requests.ts',
    find: 'entry.record.attempts++;',
    put: 'entry.record.attempts++; finish(outbox, entry);',
  },
  {
    name: 'name nothing as in flight',
    file: 'src/client/outbox/parcel.ts',
    find: 'all.filter(({ isNamed }) => isNamed)',
    put: 'all.filter(() => false)',
  },
  {
    name: 'send before the database says so',
    file: 'src/client/delivery/pump.ts',
    find: '    if (!isHidden()) await named;',
    put: '',
  },
  {
    name: 'send again what was in flight when claimed',
    file: 'src/client/outbox/look.ts',
    find: 'flight.includes(entry.record.id)',
    put: 'false',
  },
  {
    name: 'forget to say unknown',
    file: 'src/client/outbox/records.ts',
    find: "  outbox.emit('outcome', { record: entry.record, outcome: 'unknown' });",
    put: '',
  },
  {
    name: 'keep more bytes than maxBytes',
    file: 'src/client/outbox/records.ts',
    find: ' || outbox.bytes > maxBytes',
    put: '',
  },
  {
    name: 'drop nothing when full',
    file: 'src/client/outbox/records.ts',
    find: 'outbox.count > maxRecords || ',
    put: '',
  },
  {
    name: 'write no exit note',
    file: 'src/client/outbox/note.ts',
    find: '  const own = keyOf(outbox, life);',
    put: '  const own = keyOf(outbox, life); if (own) return undefined;',
  },
  {
    name: 'ignore exit notes',
    file: 'src/client/outbox/note.ts',
    find: "shelf.keys(keyOf(named, ''))",
    put: '!key',
  },
  {
    name: 'leave an exit note where it was',
    file: 'src/client/outbox/look.ts',
    find: '  for (const life of claimed.noted) removeNote(outbox, life);',
    put: '',
  },
  {
    name: 'commit late: leave it to the browser',
    file: 'src/client/outbox/database.ts',
    find: '      transaction.commit?.();',
    put: '',
  },
  {
    name: 'send what follows records that another page holds',
    file: 'src/client/outbox/records.ts',
    find: 'seen.taken.has(parcel.key[1])',
    put: 'false',
  },
  {
    name: 'send calls before older records are claimed',
    file: 'src/client/outbox/records.ts',
    find: 'order > 0 && !isLeaving',
    put: 'false',
  },
  {
    name: 'let records overtake the identify before them',
    file: 'src/client/delivery/choice.ts',
    find: '    if (isIdentify) identifies.set(user, chosen);',
    put: '',
  },
  {
    name: 'wait for nothing after a failure',
    file: 'src/interface/backoff.ts',
    find: '(0.5 + random() / 2) * Math.min',
    put: '0 * Math.min',
  },
  {
    name: 'ignore Retry-After',
    file: 'src/client/delivery/trouble.ts',
    find: 'Math.max(waitInTrouble(time - since, Math.random), retryAfterMs + jitter)',
    put: 'waitInTrouble(time - since, Math.random)',
  },
  {
    name: 'ignore the pause that all pages share',
    file: 'src/client/delivery/trouble.ts',
    find: 'const until = ahead(own.until, now());',
    put: 'const until = 0 * now();',
  },
  {
    name: 'forget what the service has asked for when the network is back',
    file: 'src/client/delivery/trouble.ts',
    find: 'if (gate.until && !gate.isAsked)',
    put: 'if (until)',
  },
  {
    name: 'take a failed request for delivered',
    file: 'src/interface/outcome.ts',
    find: "if (/^(0|5..|408|425|429)$/.test(`${status}`)) return 'retry';",
    put: "if (/^(0|408|425|429)$/.test(`${status}`)) return 'retry'; if (status >= 500) return 'delivered';",
  },
  {
    name: 'take a captive portal for the service',
    file: 'src/interface/outcome.ts',
    find: "if (/^\\s*</.test(body)) return 'blocked';",
    put: '',
  },
  {
    name: 'drop what the service fails to take',
    file: 'src/interface/outcome.ts',
    find: ".test(`${status}`)) return 'retry';",
    put: ".test(`${status}`)) return status >= 500 ? 'rejected' : 'retry';",
  },
  {
    name: 'go on while consent is pending',
    file: 'src/client/pipeline.ts',
    find: "else if (next === 'pending') end();",
    put: "else if (next === 'pending') void 0;",
  },
  {
    name: 'keep what is stored when consent is denied',
    file: 'src/client/consent.ts',
    find: 'has(GRANTED) || store.clear()',
    put: 'undefined',
  },
  {
    name: 'forget a denial',
    file: 'src/client/consent.ts',
    find: 'shelf.set(key, REFUSED)',
    put: 'undefined',
  },
  {
    name: 'name the outbox after the project alone',
    file: 'src/client/options.ts',
    find: 'relay ? `relay:${relay}` : baseUrl',
    put: "''",
  },
];
