import { fileURLToPath } from 'node:url';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

export const ROOT = pathOf('../');
export const DOCS = pathOf('../docs/');
/** What VitePress reads: copies of `docs/`, and the pages that are made from the sources. */
export const PAGES = pathOf('./.pages/');
export const REPOSITORY = 'https://github.com/analytics-outbox/analytics-outbox';
