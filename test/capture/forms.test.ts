// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { capture } from '../support/captured.js';

const submit = (html: string) => {
  document.body.innerHTML = html;
  const captured = capture({ forms: true });
  document.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true }));
  return captured.tags();
};

it('names what is filled in, wherever it stands, and no button', () => {
  const fields = '<input name="a"><fieldset name="group"><select name="b"></select></fieldset>';
  const none =
    '<button name="send">x</button><input type="submit" name="go"><input type="hidden" name="csrf"><output name="sum"></output>';
  const outside = '<textarea name="c" form="f"></textarea>';
  expect(submit(`<form id="f">${fields}${none}</form>${outside}`)).toEqual([
    { path: '/', form: 'f', fields: ['a', 'b', 'c'] },
  ]);
});

it('names a hundred fields at the most, each by a hundred characters', () => {
  const long = 'n'.repeat(98) + '🎉 name';
  const many = Array.from({ length: 4_000 }, (_, i) => `<input name="field ${i}">`).join('');
  const [tags] = submit(`<form name="${'f'.repeat(1_000)}"><input name="${long}">${many}</form>`);
  const { form, fields } = tags as { form: string; fields: string[] };
  expect(form).toHaveLength(100);
  expect(fields).toHaveLength(100);
  expect(fields.slice(0, 2)).toEqual([`${'n'.repeat(98)}…`, 'field 0']);
});

it('lets go of a shadow tree that the page has thrown away', async () => {
  capture({ forms: true });
  const press = () => {
    const tree = document.createElement('div').attachShadow({ mode: 'open' });
    const button = tree.appendChild(document.createElement('button'));
    document.body.append(tree.host);
    button.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }));
    tree.host.remove();
    return new WeakRef(tree);
  };
  const tree = press();
  press(); // what remembers the last event remembers this one
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await new Promise(setImmediate);
  collect();
  expect(tree.deref()).toBeUndefined();
});
