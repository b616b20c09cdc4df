import { shelf } from '../../src/client/page.js';
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
import { opened, takeDown } from './start-afresh.js';
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
const toast = createToast();
const log = createLogView();

const showConsent = bindTrackerControls({ setup, configure, toast });
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

const listen = () => {
  followRecords({ ledger, caller, onChange });
  log.listen();
};

const clearStage = async () => {
  const isReached = await client.clearOwn().then(
    () => true,
    () => false,
  );
  // Offline a scene is played with what there is, and what waits is kept.
  if (!isReached) return;
  try {
    const isDown = takeDown();
    shared.forgetAll();
    log.clear();
    await isDown;
    await client.clearStage(); // what was under way has arrived meanwhile
  } finally {
    listen();
    configure.apply();
  }
  await opened();
};

listen();
bindEventForm({ caller, toast });
bindIdentifyForm({ caller, toast });
bindSceneForms({
  stage: { caller, setup, setFaults: client.setFaults },
  clearStage,
  toast,
  onChange,
  now,
});
bindServiceControls({
  client,
  configure,
  forgetSettled: shared.forgetSettled,
  onChange,
  toast,
  now,
});
bindLists();
measureSticky();
