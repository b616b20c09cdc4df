import { Hono } from 'hono';
import { allowMethods } from '../allow-methods';
import { answerJson, refuse, succeed } from '../answer';
import { readJson } from '../read-json';
import type { ServiceContext, ServiceEnv } from '../service-context';
import { checkFaultRules } from './check-fault-rules';
import type { FaultParts } from './fault-middleware';
import type { FaultRule } from './fault-rule';

interface Parts extends Omit<FaultParts, 'tokens'> {
  deleteRecords: (key?: string) => Promise<void>;
}

/** Sets the faults and shows the request log. Only there when the service was started with it. */
export function faultRoutes({ faults, held, log, deleteRecords }: Parts): Hono<ServiceEnv> {
  const showFaults = (c: ServiceContext) => answerJson(c, 200, { faults: faults.list() });

  const setFaults = async (c: ServiceContext) => {
    const json = await readJson(c);
    if (!json.ok) return json.response;
    const message = checkFaultRules(json.value);
    if (message !== undefined) return refuse(c, 400, { message });
    faults.set(json.value as FaultRule[]);
    return showFaults(c);
  };

  const clearFaults = (c: ServiceContext) => {
    faults.set([]);
    return succeed(c, 'Faults cleared');
  };

  const clearLog = (c: ServiceContext) => {
    log.clear();
    return succeed(c, 'Requests cleared');
  };

  const clearAll = async (c: ServiceContext) => {
    held.cutAll();
    await deleteRecords(c.req.query('with'));
    faults.set([]); // not before: what another tab delivers as soon as it can must stay
    log.clear();
    return succeed(c, 'Everything cleared');
  };

  return new Hono<ServiceEnv>()
    .get('/faults', showFaults)
    .put('/faults', setFaults)
    .delete('/faults', clearFaults)
    .all('/faults', allowMethods('GET', 'PUT', 'DELETE'))
    .get('/requests', (c) => answerJson(c, 200, { requests: log.list() }))
    .delete('/requests', clearLog)
    .all('/requests', allowMethods('GET', 'DELETE'))
    .delete('/all', clearAll)
    .all('/all', allowMethods('DELETE'));
}
