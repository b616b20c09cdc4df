import { readIpAddress } from './client.js';

/** An address as a text of binary digits: 32 of IPv4, 128 of IPv6. */
const digitsOf = (address: string): string | undefined => {
  const ip = readIpAddress(address);
  const [radix, width] = ip?.length === 4 ? [10, 8] : [16, 16];
  return ip?.map((part) => parseInt(part, radix).toString(2).padStart(width, '0')).join('');
};

/** The digits that all addresses of a network have, and how many digits each has. */
const readNetwork = (text: string): { begins: string; length: number } | undefined => {
  const [address = '', bits, ...more] = text.split('/');
  const digits = digitsOf(address);
  if (!digits || more.length || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const { length } = digits;
  const size = Number(bits ?? length);
  return size <= length ? { begins: digits.slice(0, size), length } : undefined;
};

/** Whether a text is an address, such as `192.0.2.1`, or a network, such as `10.0.0.0/8`. */
export const isNetwork = (text: unknown): boolean =>
  typeof text === 'string' && readNetwork(text) !== undefined;

/** Says whether an address is in one of these networks. IPv4 that is mapped into IPv6 counts as IPv4. */
export const createNetworks = (list: readonly string[]) => {
  const networks = list.flatMap((text) => readNetwork(text) ?? []);
  return (address: string): boolean => {
    const digits = digitsOf(address);
    return networks.some(
      ({ begins, length }) => digits?.length === length && digits.startsWith(begins),
    );
  };
};
