import { AddButton } from '../../buttons';
import { Mistake } from '../../mistake';

export default async function Item({ params }: { params: Promise<{ item: string }> }) {
  const { item } = await params;
  return (
    <>
      <h1>{item}</h1>
      <AddButton key={item} item={item} />
      <Mistake />
    </>
  );
}
