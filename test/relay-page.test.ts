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
const HOOKS = membersOf('src/relay/hooks.ts', 'HooksOf');

describe('its tables', () => {
  it('have every option with its default', () => {
    const rows = tableUnder(optionsPage, 'Options').map(([name, value]) => [name, value]);
    const own = membersOf('src/relay/front/relay-options.ts', 'RelayOptions');
    expect(rows.sort()).toEqual(
      optionsOf(
        ...own,
        ...membersOf('src/relay/front/admission.ts', 'AdmissionOptions'),
        ...membersOf('src/relay/front/client.ts', 'ClientOptions'),
        ...membersOf('src/relay/delivery/delivery.ts', 'DeliveryOptions'),
        ...membersOf('src/relay/delivery/upstream.ts', 'UpstreamOptions'),
        ...HOOKS,
      ),
    );
  });

  it('have every option of a consumer with its default', () => {
    const rows = tableUnder(queuePage, 'Options of a consumer').map(([name, value]) => [
      name,
      value,
    ]);
    const own = membersOf('src/relay/delivery/consumer.ts', 'ConsumerOptions');
    expect(rows.sort()).toEqual(optionsOf(...own, ...HOOKS));
  });

  it('have no metric that the relay does not tell', () => {
    const told = declared('src/relay/hooks.ts', 'RelayMetric').getText();
    const names = tableUnder(operatePage, 'What to alert on').map(([name]) => name);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(told).toContain(`'${name}'`);
  });
});
