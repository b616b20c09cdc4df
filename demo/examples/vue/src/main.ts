import { createApp } from 'vue';
import App from './App.vue';
import { router } from './router';
import './tracking';

createApp(App).use(router).mount('#app');
