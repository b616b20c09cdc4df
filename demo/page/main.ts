import { shelf } from '../../src/client/browser/shelf.js';
import { createCaller } from './calls/caller.js';
import { followRecords } from './calls/follow-records.js';
import { createLedger } from './calls/ledger.js';
import { createConfigure } from './configure.js';
import { createServiceClient } from './database/service-client.js';
import { watchService } from './database/watch-service.js';
import { clearedAt, keepLedgerShared } from './keep-ledger-shared.js';
import { createPoll } from './poll.js';
import { createRefresh } from './refresh.js';
import { readSetup } from './setup.js';
import { tracker } from './tracker.js';
import { bindEventForm } from './views/event-form.js';
import { bindIdentifyForm } from './views/identify-form.js';
import { bindLists } from './views/lists.js';
import { createLogView } from './views/log-view.js';
import { measureSticky } from './views/measure-sticky.js';
import { bindSceneForms } from './views/scene-forms.js';
import { bindServiceControls } from './views/service-controls.js';
import { createToast } from './views/toast.js';
import { bindTrackerControls } from './views/tracker-controls.js';

const now = Date.now;
const setup = readSetup();
/** Sorts by time, and tells apart two tabs opened in the same millisecond. */
const visit =
  now().toString(36) +
  Math.floor(Math.random() * 1296)
    .toString(36)
    .padStart(2, '0');

const ledger = createLedger({
  storage: shelf,
  prefix: `demo calls ${setup.database}`,
  visit,
  now,
});
const caller = createCaller({ ledger, visit, now });
const client = createServiceClient(setup.service, setup.project);
const service = watchService({ client, now });
const configure = createConfigure(setup);
const say = createToast();

const showConsent = bindTrackerControls({ setup, configure, say });
const refresh = createRefresh({ ledger, service, showConsent, clearedAt, now });
const poll = createPoll({
  task: async () => {
    await service.look();
    refresh.soon();
  },
  every: 1_000,
  soon: 150,
});
const shared = keepLedgerShared({ ledger, onChange: refresh.soon });
const onChange = () => {
  refresh.soon();
  shared.saveSoon();
  poll.soon();
};

const clearStage = async () => {
  // Offline there is nothing to clear with, and events can be called all the same.
  const isCleared = await client.clearAll().then(
    () => true,
    () => false,
  );
  if (isCleared) shared.forgetCalls();
  // A page that waits for a better set-up, or for the service to come back, would wait through the scene.
  if (tracker().status?.().paused !== undefined) configure.resume();
};

followRecords({ ledger, caller, onChange });
createLogView();
bindEventForm({ caller, say });
bindIdentifyForm({ caller, say });
bindSceneForms({
  stage: { caller, setup, setFaults: client.setFaults },
  clearStage,
  say,
  onChange,
  now,
});
bindServiceControls({ client, configure, forgetCalls: shared.forgetCalls, onChange, say, now });
bindLists();
measureSticky();
