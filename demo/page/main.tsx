import { render } from 'preact';
import { getItem, setItem } from '../../src/client/page.js';
import { createDemo } from './demo.js';
import { createDirector } from './director.js';
import { App } from './views/app.js';

/** The tour begins by itself the first time. */
const SEEN = 'demo seen';

const demo = createDemo();
const director = createDirector(demo);
render(<App demo={demo} director={director} />, document.getElementById('app')!);
void demo.service.follow();
if (getItem(SEEN)) void demo.tabs.open();
else void director.tour();
setItem(SEEN, 'yes');
