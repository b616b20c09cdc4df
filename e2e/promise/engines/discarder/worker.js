/* global chrome */
/** Where a tab shows a page of this name, all others are discarded, as the browser does for want of memory. */
const NAME = '#discards-others';

const look = async () => {
  const tabs = await chrome.tabs.query({});
  if (!tabs.some(({ url }) => url?.endsWith(NAME))) return;
  for (const { id, url, discarded } of tabs) {
    if (!discarded && !url?.endsWith(NAME)) await chrome.tabs.discard(id);
  }
};

chrome.tabs.onUpdated.addListener(look);
void look(); // it may have been there before this was loaded
