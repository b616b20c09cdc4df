'use client';

import { useState } from 'react';
import { analytics } from '../tracking';

export function SignInButton() {
  return <button onClick={() => analytics.identify('user_1', { plan: 'pro' })}>Sign in</button>;
}

export function AddButton({ item }: { item: string }) {
  const [count, setCount] = useState(0);
  const add = () => {
    setCount(count + 1);
    analytics.event('Item Added', { tags: { item, count: count + 1 } });
  };
  return <button onClick={add}>Add ({count})</button>;
}

export function PayButton() {
  return <button onClick={() => analytics.event('Checked Out')}>Pay</button>;
}
