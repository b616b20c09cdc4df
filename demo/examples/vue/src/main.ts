import { createApp } from 'vue';
import App from './App.vue';
import { router } from './router';
import { analytics } from './tracking';

router.afterEach(({ path }) => analytics.event('Page Viewed', { tags: { path } }));
createApp(App).use(router).mount('#app');
