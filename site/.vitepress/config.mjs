import { defineConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';
import { labelCells } from '../label-cells.mjs';
import { renderForSearch, SEARCH } from '../search.mjs';
import { readSidebar } from '../sidebar.mjs';
import { slugify } from '../slugify.mjs';
import { REPOSITORY } from '../where.mjs';

const { DOCS_BASE: base = '/docs/', DOCS_ORIGIN: domain } = process.env;
const sidebar = readSidebar();

export default defineConfig({
  title: 'analytics-outbox',
  description:
    'A tracking snippet that does not lose what visitors do, and the server that stores it, counts it, and says whether anything is wrong.',
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  srcDir: '.pages',
  outDir: 'dist/docs',
  cacheDir: '.vitepress/cache',
  markdown: {
    // The default ones are too pale to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { caddy: 'nginx' },
    anchor: { slugify },
    config: labelCells,
  },
  vite: {
    // `llms.txt`, and each page as Markdown beside it.
    plugins: [llms({ domain })],
    build: { chunkSizeWarningLimit: 1_000 },
  },
  themeConfig: {
    sidebar,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      // With the passage that was found, opened.
      options: {
        detailedView: true,
        miniSearch: { searchOptions: SEARCH },
        _render: renderForSearch,
      },
    },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Server', link: '/server' },
      { text: 'Options', link: '/options' },
      { text: 'Nothing arrives?', link: '/symptoms' },
    ],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
