import { PayButton } from '../buttons';
import { Mistake } from '../mistake';

export default function Checkout() {
  return (
    <>
      <h1>Checkout</h1>
      <PayButton />
      <Mistake />
    </>
  );
}
