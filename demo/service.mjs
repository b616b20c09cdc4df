// `npm run service`: the demo service alone.
import { existsSync } from 'node:fs';

const built = new URL('./dist/service.js', import.meta.url);

if (existsSync(built)) {
  const { runService } = await import(built.href);
  await runService();
} else {
  console.error('The service is not built yet. Run `npm run build` first.');
  process.exitCode = 1;
}
