import { useEffect, useState } from 'react';

/** Its data comes late, and with it the title. */
export const Stock = () => {
  const [stock, setStock] = useState<number>();
  useEffect(() => {
    const timer = setTimeout(() => setStock(3), 500);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (stock === undefined) return;
    document.title = 'Stock';
    return () => {
      document.title = 'Shop';
    };
  }, [stock]);
  return stock === undefined ? <p>Loading</p> : <h1>Stock</h1>;
};
