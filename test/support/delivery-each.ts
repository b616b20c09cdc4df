import { createDelivery } from './create-delivery.js';
import { settle } from './settle.js';
import { storageEach } from './storage-each.js';

/** For each test empty storage, and `start` for a page there that has looked at it. */
export const deliveryEach = () => {
  const world = storageEach();
  const start = async (choices: Parameters<typeof createDelivery>[1] = {}) => {
    const delivery = createDelivery(world.shelf, choices);
    delivery.flusher.pump();
    await settle();
    return delivery;
  };
  return { world, start };
};
