import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createService } from '../../../demo/server/create-service';
import { openDatabase } from '../../../demo/server/open-database';
import { event, TOKEN } from './helpers/service-client';
import { tempFolder } from '../../support/temp-folder';

test('answers 500 in the usual shape when the database refuses the row', async () => {
  const path = join(tempFolder(), 'service.db');
  const service = createService({ database: path, tokens: [TOKEN] });
  const other = openDatabase(path);
  onTestFinished(() => {
    service.close();
    other.close();
  });
  other.exec(`CREATE TRIGGER full BEFORE INSERT ON events
    BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
  const complain = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => complain.mockRestore());

  const response = await service.app.request('/v1/event', {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
  });
  expect(response.status).toBe(500);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await response.json()).toEqual({ code: 500, message: 'Internal server error' });
  expect(complain).toHaveBeenCalledOnce();
});
