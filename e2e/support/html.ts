/** A page with these parts. */
export const htmlPage = ({ head = '', body = '' }: { head?: string; body?: string }): string =>
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">${head}</head>
<body><h1>A page</h1>${body}</body>
</html>`;

/** A script in a page. */
export const inline = (code: string, nonce = ''): string =>
  `<script${nonce && ` nonce="${nonce}"`}>${code}</script>`;

/** A page without the tag: nobody there makes good what was not handed off. */
export const BARE = '<!doctype html><meta charset="utf-8"><title>bare</title>';
