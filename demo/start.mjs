// `npm start`: the demo page and the demo service, with its fault switch on.
import { existsSync } from 'node:fs';

const built = new URL('./dist/demo.js', import.meta.url);

if (existsSync(built)) {
  const { runDemo } = await import(built.href);
  await runDemo();
} else {
  console.error('The demo is not built yet. Run `npm run build` first.');
  process.exitCode = 1;
}
