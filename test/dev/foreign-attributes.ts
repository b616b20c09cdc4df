/** What stands behind `data-` in attributes that other tools put on scripts, and that is like one of ours, or short. */
export const FOREIGN = [
  // consent tools
  ...['cookieconsent', 'cookie-consent', 'category', 'category-consent', 'consent-src'],
  ...['consent-category', 'consent-type', 'consent-required', 'requires-vendor-consent'],
  ...['auto-block', 'type', 'src', 'name', 'service', 'purposes', 'placeholder', 'required'],
  // networks, optimisers, frameworks and tag managers
  ...['delay', 'lazy', 'defer', 'async', 'priority', 'loading', 'origin', 'nonce', 'n-g', 'n-p'],
  ...[
    'n-head',
    'rh',
    'href',
    'layer',
    'requirecontext',
    'gtm',
    'tag',
    'tag-id',
    'action',
    'remote',
  ],
  // other trackers, where one tag was made of another
  ...['site-id', 'host', 'api-host', 'app', 'key', 'id', 'exclude', 'include', 'cache', 'mode'],
  ...['url', 'spa', 'hash', 'user', 'version', 'env', 'test', 'once', 'init', 'loaded', 'page'],
];
