import type { Mutation } from './bundle.js';

interface Mutant {
  name: string;
  file: string;
  /** Stands there once. */
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

/** Faults put into the real code on purpose, one at a time: the simulator has to find each. */
export const MUTANTS: Mutant[] = [
  {
    name: 'skip the lease check before sending',
    file: 'src/outbox/outbox.ts',
    find: 'canSend: ({ hold }: Entry): boolean => isSafe(context, hold),',
    put: 'canSend: (): boolean => true,',
  },
  {
    name: 'adopt owners whose lease has not ended',
    file: 'src/outbox/context.ts',
    find: 'return left <= 0 || left >',
    put: 'return left <= 59_000 || left >',
  },
  {
    name: 'write a lease without looking whose it is',
    file: 'src/outbox/writer.ts',
    find: "? lease.holder !== hold.holder || note === 'taken'",
    put: '? false',
  },
  {
    name: 'delete before the answer',
    file: 'src/outbox/outbox.ts',
    find: "      entry.state = 'flight';",
    put: "      entry.state = 'flight'; writer.deletes(entry);",
  },
  {
    name: 'forget the entry of what is in flight',
    file: 'src/outbox/outbox.ts',
    find: '      if (outlivesPage) entry.hold.flight.add(entry.seq);',
    put: '',
  },
  {
    name: 'send before the outbox says so',
    file: 'src/outbox/outbox.ts',
    find: '!mustAnnounce() || !!announced.get(entry)?.isStored,',
    put: 'true,',
  },
  {
    name: 'forget what was in flight when adopting',
    file: 'src/outbox/adoption.ts',
    find: 'for (const seq of [...flight, ...(note?.flight ?? [])]) hold.unread.add(seq);',
    put: '',
  },
  {
    name: 'keep more bytes than maxBytes',
    file: 'src/outbox/queue.ts',
    find: 'entries.length <= maxRecords && bytes <= maxBytes',
    put: 'entries.length <= maxRecords',
  },
  {
    name: 'commit late: leave it to the browser',
    file: 'src/outbox/journal.ts',
    find: '  store.transaction.commit?.();',
    put: '',
  },
  {
    name: 'write no exit note',
    file: 'src/outbox/note-writer.ts',
    find: 'if (!notes.save(note)) return false;',
    put: 'return false;',
  },
  {
    name: 'ignore exit notes',
    file: 'src/outbox/exit-note.ts',
    find: '.filter((key) => key.startsWith(prefix))',
    put: '.filter(() => false)',
  },
  {
    name: 'leave an exit note where it was',
    file: 'src/outbox/adoption.ts',
    find: '      notes.remove(note);\n    }',
    put: '    }',
  },
  {
    name: 'no floor from Retry-After',
    file: 'src/delivery/backoff.ts',
    find: '  retryAfterMs + random() *',
    put: '  random() *',
  },
  {
    name: 'ignore the shared penalty',
    file: 'src/delivery/health.ts',
    find: "return until > time ? ['backoff', until] : [undefined, 0];",
    put: 'return [undefined, 0];',
  },
  {
    name: 'let a failure shorten a wait',
    file: 'src/delivery/gate.ts',
    find: 'Math.max(least, now() + delayAfter(n, retryAfterMs, random))',
    put: 'now() + delayAfter(n, retryAfterMs, random)',
  },
  {
    name: "let any answer open the gate that another's failure closed",
    file: 'src/delivery/health.ts',
    find: 'if (closed === until || (closed <= at && at <= now())) gate.open();',
    put: 'gate.open();',
  },
  {
    name: 'send several identifies of a user at once',
    file: 'src/delivery/lanes.ts',
    find: 'else if (isIdentify) held.add(user);\n      continue;',
    put: 'continue;',
  },
  {
    name: 'let events overtake the identify before them',
    file: 'src/delivery/lanes.ts',
    find: '(held.has(user) ||',
    put: "((type === 'identify' && held.has(user)) ||",
  },
  {
    name: 'take a failed request for delivered',
    file: 'src/delivery/outcome.ts',
    find: "if (status === 0 || status >= 500 || RETRY.includes(status)) return 'retry';",
    put: "if (status === 0 || RETRY.includes(status)) return 'retry'; if (status >= 500) return 'delivered';",
  },
  {
    name: 'take a captive portal for the service',
    file: 'src/delivery/outcome.ts',
    find: "if (/^\\s*</.test(answer.body)) return 'blocked';",
    put: '',
  },
  {
    name: 'drop what the service fails to take',
    file: 'src/delivery/outcome.ts',
    find: "RETRY.includes(status)) return 'retry';",
    put: "RETRY.includes(status)) return status >= 500 ? 'rejected' : 'retry';",
  },
  {
    name: 'go on while consent is pending',
    file: 'src/pipeline.ts',
    find: "else if (next === 'pending') putOff();",
    put: "else if (next === 'pending') void 0;",
  },
  {
    name: 'name the outbox after the project alone',
    file: 'src/config/destination.ts',
    find: "['analytics-outbox', address.replace(/\\/+$/, ''), project]",
    put: "['analytics-outbox', '', project]",
  },
  {
    name: 'keep the holder when a page takes its own owner back',
    file: 'src/outbox/adoption.ts',
    find: 'createHold(lease.owner, lease.since, false, newId())',
    put: 'createHold(lease.owner, lease.since, false, lease.holder)',
  },
  {
    name: 'forget to say unknown',
    file: 'src/outbox/adoption.ts',
    find: '        done.push(entry);\n        onUnknown(record);',
    put: '        done.push(entry);',
  },
];
