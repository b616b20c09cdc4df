import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import App from '../../examples/vue/src/App.vue';
import { router } from '../../examples/vue/src/router';

/** Renders a page of the Vue example as a server would, and prints it. */
await router.push('/items/lamp');
console.log(await renderToString(createSSRApp(App).use(router)));
