import { render } from 'preact';
import { createFeed } from './state/feed.js';
import { App } from './views/app.js';

const feed = createFeed();
addEventListener('popstate', () => feed.readAddress());
addEventListener('online', () => {
  if (feed.state().connection.kind === 'lost') feed.retry();
});
const look = (): void => feed.setHidden(document.hidden);
document.addEventListener('visibilitychange', look);
feed.start();
look();
render(<App feed={feed} />, document.getElementById('app')!);
