import type { Scene } from './stage.js';

export const wrongCalls: Scene = ({ caller }) => {
  caller.events([
    { name: '' },
    { name: 'Cyclic', spoil: (tags) => (tags['self'] = tags) },
    { name: 'Too Large', fields: { tags: { text: 'x'.repeat(70_000) } } },
  ]);
  return 'Three calls that cannot be delivered: none has thrown, each was dropped with its reason.';
};
