/**
 * The head of a page whose clock is two minutes ahead, so that the time of what a page held that died just now is over.
 */
export const LATER = `<script>{
  const { now } = Date;
  Date.now = () => now() + 120_000;
}</script>`;
