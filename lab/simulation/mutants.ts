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
    file: 'src/client/outbox/context.ts',
    find: '  until <= time ||',
    put: '  until <= time + 59_000 ||',
  },
  {
    name: 'delete before the answer',
    file: 'src/client/outbox/sending.ts',
    find: '      entry.record.attempts++;',
    put: '      entry.record.attempts++; context.line.take(entry); void writer.write(entry.parcel);',
  },
  {
    name: 'name nothing as in flight',
    file: 'src/client/outbox/context.ts',
    find: "state !== 'waiting' && state !== 'tied'",
    put: 'state === undefined',
  },
  {
    name: 'send before the database says so',
    file: 'src/client/outbox/sending.ts',
    find: "state !== 'naming' && ",
    put: '',
  },
  {
    name: 'send again what was in flight when claimed',
    file: 'src/client/outbox/intake.ts',
    find: 'isDoubtful(idOf(entry))',
    put: 'false',
  },
  {
    name: 'keep more bytes than maxBytes',
    file: 'src/client/outbox/ends.ts',
    find: 'line.count() + away.count > maxRecords || line.bytes() + away.bytes > maxBytes',
    put: 'line.count() + away.count > maxRecords',
  },
  {
    name: 'write no exit note',
    file: 'src/client/outbox/exit-note.ts',
    find: 'toJson({ v: VERSION, ...note })',
    put: 'undefined',
  },
  {
    name: 'leave an exit note where it was',
    file: 'src/client/outbox/claim.ts',
    find: '    replayed.forEach(notes.remove);',
    put: '',
  },
  {
    name: 'keep the holder in the next life',
    file: 'src/client/outbox/outbox.ts',
    find: '      life = newId();',
    put: '',
  },
  {
    name: 'claim what follows an identify that another page holds',
    file: 'src/client/outbox/claim-window.ts',
    find: ' || value.records.some(isTaken)',
    put: '',
  },
  {
    name: 'send what follows an identify that another page holds',
    file: 'src/client/outbox/claim.ts',
    find: ' || walk.taken.has(nameUser(key, record))',
    put: '',
  },
  {
    name: 'hand off what follows records that were let go',
    file: 'src/client/outbox/claim.ts',
    find: '(!isLeaving || away.count > 0)',
    put: '!isLeaving',
  },
  {
    name: 'forget to say unknown',
    file: 'src/client/outbox/intake.ts',
    find: '        onUnknown(entry.record);\n      } else',
    put: '    } else',
  },
  {
    name: 'forget what was done as the page left',
    file: 'src/client/outbox/own-note.ts',
    find: '    done: [...parcel.done],',
    put: '    done: [],',
  },
  {
    name: 'commit late: leave it to the browser',
    file: 'src/client/outbox/transaction.ts',
    find: '  store.transaction.commit?.();',
    put: '',
  },
  {
    name: 'ignore exit notes',
    file: 'src/client/outbox/exit-note.ts',
    find: '.filter((key) => key.startsWith(prefix))',
    put: '.filter(() => false)',
  },
  {
    name: 'no floor from Retry-After',
    file: 'src/interface/backoff.ts',
    find: 'retryAfterMs + random() * spread',
    put: '0',
  },
  {
    name: 'ignore the shared penalty',
    file: 'src/client/delivery/health.ts',
    find: 'return until > now() ? [reason(), until] : [undefined, 0];',
    put: 'return [undefined, 0];',
  },
  {
    name: 'forget what the service has asked for where something has changed here',
    file: 'src/client/delivery/gate.ts',
    find: 'Math.max(trouble.floor, now() + ms)',
    put: 'now() + ms',
  },
  {
    name: 'forget what the service has asked for where another request passes',
    file: 'src/client/delivery/gate.ts',
    find: 'floor > now() ? { since: now(), until: floor, floor } : NONE',
    put: 'NONE',
  },
  {
    name: 'send several identifies of a user at once',
    file: 'src/client/delivery/lanes.ts',
    find: 'else if (isIdentify) held.add(user);\n      continue;',
    put: 'continue;',
  },
  {
    name: 'let events overtake the identify before them',
    file: 'src/client/delivery/lanes.ts',
    find: '(held.has(user) ||',
    put: "((type === 'identify' && held.has(user)) ||",
  },
  {
    name: 'take a failed request for delivered',
    file: 'src/interface/outcome.ts',
    find: "if (status === 0 || status >= 500 || RETRY.includes(status)) return 'retry';",
    put: "if (status === 0 || RETRY.includes(status)) return 'retry'; if (status >= 500) return 'delivered';",
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
    find: "RETRY.includes(status)) return 'retry';",
    put: "RETRY.includes(status)) return status >= 500 ? 'rejected' : 'retry';",
  },
  {
    name: 'go on while consent is pending',
    file: 'src/client/permission.ts',
    find: "else if (next === 'pending') putOff();",
    put: "else if (next === 'pending') void 0;",
  },
  {
    name: 'name the outbox after the project alone',
    file: 'src/client/config/destination.ts',
    find: "['analytics-outbox', address.replace(/\\/+$/, ''), project]",
    put: "['analytics-outbox', '', project]",
  },
];
