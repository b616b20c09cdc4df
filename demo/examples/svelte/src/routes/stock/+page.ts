// The data comes late, and with it the title.
export const load = async () => {
  await new Promise((done) => setTimeout(done, 500));
  return { title: 'Stock' };
};
