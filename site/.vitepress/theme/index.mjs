import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import NotFound from './NotFound.vue';
import PageTabs from './PageTabs.vue';
import TourFilm from './TourFilm.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-image': () => h(TourFilm),
      'not-found': () => h(NotFound),
    }),
  enhanceApp: ({ app }) => app.component('PageTabs', PageTabs),
};
