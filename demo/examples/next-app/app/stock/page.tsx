import type { Metadata } from 'next';

export const metadata: Metadata = { title: 'Stock' };
export const dynamic = 'force-dynamic';

/** Its data comes late, and with it the title. */
export default async function Stock() {
  await new Promise((done) => setTimeout(done, 500));
  return <h1>Stock</h1>;
}
