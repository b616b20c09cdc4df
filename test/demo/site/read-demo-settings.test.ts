import { expect, it } from 'vitest';
import { readDemoSettings } from '../../../demo/site/read-demo-settings';

it('lets the usual ports give way', () => {
  expect(readDemoSettings({ PORT: '' })).toMatchObject({
    page: { port: 8080, nextFree: true },
    service: { port: 8787, nextFree: true },
    token: 'demo-token',
  });
});

it('holds on to the ports that are given', () => {
  expect(readDemoSettings({ PORT: '3000', SERVICE_PORT: '3001' })).toMatchObject({
    page: { port: 3000, nextFree: false },
    service: { port: 3001, nextFree: false },
  });
});

it('names the variable that is wrong', () => {
  expect(() => readDemoSettings({ SERVICE_PORT: 'x' })).toThrow('SERVICE_PORT must be a number');
  expect(() => readDemoSettings({ PORT: '65536' })).toThrow('PORT must be a number');
});
