/**
 * How the search of the site ranks. VitePress carries these functions into the page as text, so they name nothing from
 * outside.
 */
export const SEARCH = {
  // Words without which a question says the same.
  processTerm: (term) =>
    /^(an?|and|are|at|be|by|can|do|does|for|from|how|i|in|is|it|my|no|not|of|off|on|or|out|the|to|up|we|what|when|where|why|with|you|your)$/i.test(
      term,
    )
      ? null
      : term.toLowerCase(),
  boost: { title: 4, titles: 2, text: 1 },
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  prefix: true,
  // Pages first, then the wire, then the types.
  boostDocument: (id) => (id.includes('/api/') ? 0.05 : id.includes('/wire.') ? 0.3 : 1),
};

/** What people call it that a page answers under another name. Only the search knows these words. */
export const ALSO_CALLED = {
  capture: 'crawler, SPA, page speed, scroll depth',
  consent: 'opt-out, do not track, DNT',
  frameworks: 'SSR, server-side rendering',
  limits: 'retry, retries, missing',
  migration: 'GA4, heatmap, session replay, A/B test, feature flags',
  numbers: 'funnel, conversion, unique visitors, bounce rate, timezone, top pages',
  privacy: 'user agent, HIPAA',
  proxy: 'HTTPS, TLS, certificate',
  server: 'hosting, hosted, Kubernetes, probes, exclude my IP, own visits, uninstall',
  'server-answers': 'real time, alerts, live',
  'server-scale': 'restore, MySQL',
  size: 'Internet Explorer, old browsers, license',
  symptoms: 'double counting, cross-domain, no data, uBlock',
  tag: 'unpkg, jsDelivr, uBlock',
  usage: 'sign in, sign out, log in, log out',
};

/** What the search knows of a page: its words, and commands, but no other code, in which words mean other things. */
export const renderForSearch = (text, env, markdown) =>
  markdown
    .render(
      text.replace(/^# .+$/m, `$&\n\n${ALSO_CALLED[env.relativePath.replace('.md', '')] ?? ''}`),
      env,
    )
    .replaceAll(/<div class="language-(?!sh)[^]*?<\/pre>(?=.*?<\/div>)/g, '<div>');
