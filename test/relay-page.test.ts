import type ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { declared, defaultOf, membersOf, read, tableUnder } from './support/docs.js';

const optionsPage = read('docs/relay-options.md');
const operatePage = read('docs/relay-operate.md');
const queuePage = read('docs/relay-queue.md');

/** Name and default of each option, by name. Where a name comes twice the first counts. */
const optionsOf = (...members: readonly ts.TypeElement[]): string[][] => {
  const defaults = new Map<string, string>();
  for (const member of members) {
    const name = member.name!.getText();
    if (!defaults.has(name))
      defaults.set(name, member.questionToken ? defaultOf(member) : 'required');
  }
  return [...defaults].sort();
};
const HOOKS = membersOf('src/server/hooks.ts', 'HooksOf');

describe('its tables', () => {
  it('have every option with its default', () => {
    const rows = tableUnder(optionsPage, 'Options').map(([name, value]) => [name, value]);
    const own = membersOf('src/server/relay-options.ts', 'RelayOptions');
    expect(rows.sort()).toEqual(
      optionsOf(
        ...own,
        ...membersOf('src/server/http/admission.ts', 'AdmissionOptions'),
        ...membersOf('src/server/http/client.ts', 'ClientOptions'),
        ...membersOf('src/server/deliver/delivery.ts', 'DeliveryOptions'),
        ...membersOf('src/server/deliver/upstream.ts', 'UpstreamOptions'),
        ...HOOKS,
      ),
    );
  });

  it('have every option of a consumer with its default', () => {
    const rows = tableUnder(queuePage, 'Options of a consumer').map(([name, value]) => [
      name,
      value,
    ]);
    const own = membersOf('src/server/deliver/consumer.ts', 'ConsumerOptions');
    expect(rows.sort()).toEqual(optionsOf(...own, ...HOOKS));
  });

  it('have no metric that the relay does not tell', () => {
    const told = declared('src/server/hooks.ts', 'RelayMetric').getText();
    const names = tableUnder(operatePage, 'What to alert on').map(([name]) => name);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(told).toContain(`'${name}'`);
  });
});
