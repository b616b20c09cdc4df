import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is gone after the test. Ask for it before anything that has a file open in it. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
