/** Removes the last build, so that no file of it is taken for one of the next, or published with it. */
import { rmSync } from 'node:fs';

for (const folder of ['dist', 'demo/dist']) {
  rmSync(new URL(`../${folder}`, import.meta.url), { recursive: true, force: true });
}
