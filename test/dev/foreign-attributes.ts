/** What stands behind `data-` in attributes that consent tools, networks, optimisers and frameworks put on scripts. */
export const FOREIGN = [
  // consent tools
  ...['cookieconsent', 'cookiecategory', 'cookie-consent', 'cookie-category', 'cookiescript'],
  ...['cookiefirst-category', 'category', 'categories', 'category-consent', 'consent-src'],
  ...['consent-category', 'consent-type', 'consent-required', 'type', 'src', 'name', 'service'],
  ...['purposes', 'vendor', 'vendor-id', 'usercentrics', 'uc-src', 'iub-purposes', 'cmp-vendor'],
  ...['cmp-src', 'cmp-ab', 'cmp-info', 'suppressedsrc', 'requires-vendor-consent', 'auto-block'],
  ...['domain-script', 'document-language', 'ot-ignore', 'dlayer-ignore', 'cbid', 'culture'],
  ...['blockingmode', 'borlabs-cookie-id', 'borlabs-cookie-type', 'placeholder', 'required'],
  // networks and optimisers
  ...['cfasync', 'cf-beacon', 'cf-settings', 'cf-modified', 'rocket-src', 'rocket-type'],
  ...['rocketlazyloadscript', 'no-defer', 'no-optimize', 'no-minify', 'noptimize', 'optimized'],
  ...['pagespeed-no-defer', 'pagespeed-orig-src', 'pmdelayedscript', 'wpacu-script-handle'],
  ...['wpmeteor-type', 'wpmeteor-after', 'jetpack-boost', 'ezscrex', 'minify', 'delay', 'lazy'],
  ...['defer', 'async', 'priority', 'loading', 'no-instant', 'origin', 'nonce', 'integrity'],
  // frameworks and tag managers
  ...['nscript', 'n-g', 'n-p', 'n-head', 'hid', 'vmid', 'vue-meta', 'react-helmet', 'rh', 'href'],
  ...[
    'precedence',
    'astro-rerun',
    'astro-exec',
    'sveltekit-reload',
    'svelte-h',
    'emotion',
    'layer',
  ],
  ...['turbo-track', 'turbo-eval', 'turbo-permanent', 'turbolinks-track', 'turbolinks-eval'],
  ...['turbolinks-suppress-warning', 'swup-ignore-script', 'pjax', 'barba', 'requiremodule'],
  ...[
    'requirecontext',
    'gtmsrc',
    'gtm',
    'tag',
    'tag-id',
    'shopify',
    'controller',
    'action',
    'remote',
  ],
  // other trackers, where one tag was made of another
  ...['site-id', 'host', 'api-host', 'app', 'key', 'id'],
  ...['exclude', 'include', 'cache', 'mode', 'url', 'goatcounter'],
  ...['spa', 'hash', 'user', 'version', 'env', 'test', 'testid', 'once', 'init', 'loaded', 'page'],
];
