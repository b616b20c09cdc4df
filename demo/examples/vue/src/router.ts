import { createMemoryHistory, createRouter, createWebHistory } from 'vue-router';
import Checkout from './pages/Checkout.vue';
import Home from './pages/Home.vue';
import Item from './pages/Item.vue';
import Stock from './pages/Stock.vue';

export const router = createRouter({
  history: import.meta.env.SSR ? createMemoryHistory() : createWebHistory(),
  routes: [
    { path: '/', component: Home },
    { path: '/items/:item', component: Item, props: true },
    { path: '/stock', component: Stock },
    { path: '/checkout', component: Checkout },
  ],
});
