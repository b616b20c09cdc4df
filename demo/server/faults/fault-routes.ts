import { Hono } from 'hono';
import type { ServiceContext, ServiceEnv } from '../service-context.js';
import { checkFaultRules } from './check-fault-rules.js';
import type { FaultParts } from './fault-middleware.js';
import type { FaultRule } from './fault-rule.js';

interface Parts extends Omit<FaultParts, 'tokens'> {
  deleteRecords: (key?: string) => Promise<void>;
}

/** Sets the faults and shows the request log. Only there when the service was started with it. */
export function faultRoutes({ faults, held, log, deleteRecords }: Parts): Hono<ServiceEnv> {
  const showFaults = (c: ServiceContext) => c.json({ faults: faults.list() });

  const setFaults = async (c: ServiceContext) => {
    const rules = await c.req.json<unknown>().catch(() => undefined);
    const message = checkFaultRules(rules);
    if (message !== undefined) return c.json({ code: 400, message }, 400);
    faults.set(rules as FaultRule[]);
    return showFaults(c);
  };

  const clearFaults = (c: ServiceContext) => {
    faults.set([]);
    return c.json({ success: true, message: 'Faults cleared' });
  };

  const clearLog = (c: ServiceContext) => {
    log.clear();
    return c.json({ success: true, message: 'Requests cleared' });
  };

  const clearAll = async (c: ServiceContext) => {
    held.cutAll();
    await deleteRecords(c.req.query('with'));
    faults.set([]); // not before: what another tab delivers as soon as it can must stay
    log.clear();
    return c.json({ success: true, message: 'Everything cleared' });
  };

  return new Hono<ServiceEnv>()
    .get('/faults', showFaults)
    .put('/faults', setFaults)
    .delete('/faults', clearFaults)
    .get('/requests', (c) => c.json({ requests: log.list() }))
    .delete('/requests', clearLog)
    .delete('/all', clearAll);
}
