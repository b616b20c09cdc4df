import DefaultTheme from 'vitepress/theme';
import PageTabs from './PageTabs.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('PageTabs', PageTabs),
};
