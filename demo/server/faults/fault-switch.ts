import type { FaultRule } from './fault-rule';
import { matchesRule, type Subject } from './matches-rule';

/** A rule, and what became of it. */
export type CountedRule = FaultRule & {
  /** How many matching requests it saw, those it let pass included. */
  seen: number;
  /** How many it applied to. */
  fired: number;
};

export type FaultSwitch = ReturnType<typeof createFaultSwitch>;

/** Holds the rules and decides which one, if any, a request meets. */
export function createFaultSwitch() {
  let rules: CountedRule[] = [];

  return {
    set(next: FaultRule[]): void {
      rules = next.map((rule) => ({ ...rule, seen: 0, fired: 0 }));
    },

    list: (): readonly CountedRule[] => rules,

    /** Counts the request as one of the rule that applies to it. */
    take(subject: Subject): FaultRule | undefined {
      for (const rule of rules) {
        if (rule.fired >= (rule.times ?? Infinity)) continue;
        if (!matchesRule(rule.match ?? {}, subject)) continue;
        rule.seen += 1;
        if (rule.seen <= (rule.skip ?? 0)) continue;
        rule.fired += 1;
        return rule;
      }
      return undefined;
    },
  };
}
