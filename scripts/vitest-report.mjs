/** A reporter of Vitest that writes the file REPORT: how many tests passed, what failed, and what was left out and why. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { missingServers } from '../test/support/find-program.mjs';

const missing = missingServers();

const messageOf = (errors) => errors[0]?.stack ?? errors[0]?.message ?? '';

/** Whether a suite or the file around a test has failed by itself, as by a hook. Then the test did not run. */
const isInFailed = (test) => {
  for (let suite = test.parent; suite; suite = suite.parent) if (suite.errors().length) return true;
  return false;
};

/** @param {import('vitest/node').TestCase} test */
const whyLeftOut = (test) => {
  const lacks = test.tags.find((tag) => missing.includes(tag));
  return lacks
    ? `there is no ${lacks}`
    : (test.result().note ?? `${test.module.relativeModuleId} skips them`);
};

export default class {
  onTestRunEnd(modules, unhandled) {
    const report = { passed: 0, failed: unhandled.map((error) => messageOf([error])), leftOut: [] };
    for (const module of modules) {
      const file = module.relativeModuleId;
      const fail = (name, errors) => report.failed.push(`${file}: ${name}\n${messageOf(errors)}`);
      for (const suite of [module, ...module.children.allSuites()])
        if (suite.errors().length) fail(suite.fullName ?? 'the file', suite.errors());
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed') report.passed++;
        else if (state === 'failed') fail(test.fullName, errors);
        else if (!isInFailed(test)) report.leftOut.push({ why: whyLeftOut(test) });
      }
    }
    mkdirSync(dirname(process.env.REPORT), { recursive: true });
    writeFileSync(process.env.REPORT, JSON.stringify(report));
  }
}
