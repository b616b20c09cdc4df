/**
 * How the search of the site ranks. VitePress carries these functions into the page as text, so they name nothing from
 * outside.
 */
export const SEARCH = {
  boost: { title: 4, titles: 2, text: 1 },
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  prefix: true,
  // Pages first, then the wire, then the types.
  boostDocument: (id) => (id.includes('/api/') ? 0.05 : id.includes('/wire.') ? 0.3 : 1),
};

/** What the search knows of a page: its words, and commands, but no other code, in which words mean other things. */
export const renderForSearch = (text, env, markdown) =>
  markdown
    .render(text, env)
    .replaceAll(/<div class="language-(?!sh)[^]*?<\/pre>(?=.*?<\/div>)/g, '<div>');
