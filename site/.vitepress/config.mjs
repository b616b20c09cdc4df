import { defineConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';
import { labelCells } from '../label-cells.mjs';
import { readSidebar } from '../sidebar.mjs';
import { slugify } from '../slugify.mjs';
import { REPOSITORY } from '../where.mjs';

const { DOCS_BASE: base = '/docs/', DOCS_ORIGIN: domain } = process.env;
const sidebar = readSidebar();

export default defineConfig({
  title: 'analytics-outbox',
  description: 'A browser tracking snippet whose queue outlives the tab.',
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  srcDir: '.pages',
  outDir: 'dist/docs',
  cacheDir: '.vitepress/cache',
  markdown: {
    // The default ones are too pale to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
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
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Options', link: '/options' },
      { text: 'Nothing arrives?', link: '/symptoms' },
    ],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
