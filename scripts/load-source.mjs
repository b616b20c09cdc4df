import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What a TypeScript source of the project exports, loaded together with what it imports. */
export const loadSource = async (file) => {
  const { output } = await build({
    ...{ root: ROOT, configFile: false, publicDir: false, logLevel: 'warn' },
    build: { ssr: file, write: false, minify: false, target: 'node20' },
  });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
};
