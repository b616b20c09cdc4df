/** What stands between these comments is shown as tabs, one for each of its headings. GitHub shows it as sections. */
const TABS = /^<!-- tabs -->\n([^]*?)^<!-- \/tabs -->$/gm;
const HEADING = /^(#{2,4}) (.+)$/m;

const quote = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

export const withTabs = (page) =>
  page.replaceAll(TABS, (_all, text) => {
    const [, level] = HEADING.exec(text);
    const [before, ...parts] = text.split(new RegExp(`^(?=${level} )`, 'm'));
    const names = parts.map((part) => HEADING.exec(part)[2]);
    const slots = parts.map((part, index) => `<template #tab-${index}>\n\n${part}\n</template>\n`);
    return `${before}<PageTabs :names="${quote(JSON.stringify(names))}">\n${slots.join('')}</PageTabs>`;
  });
