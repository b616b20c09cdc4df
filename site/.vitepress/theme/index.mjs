import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import FrontPage from './FrontPage.vue';
import NotFound from './NotFound.vue';
import PageTabs from './PageTabs.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp: ({ app }) => {
    app.component('FrontPage', FrontPage);
    app.component('PageTabs', PageTabs);
  },
};
