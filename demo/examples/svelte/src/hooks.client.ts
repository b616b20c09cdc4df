// SvelteKit runs this file once, as the app starts in the browser.
import '$lib/tracking';
