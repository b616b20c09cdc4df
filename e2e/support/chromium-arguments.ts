/** What Playwright turns off: Chromium goes by the last list of its command line, so ours has it all. */
const OFF_BY_PLAYWRIGHT = [
  'AimEnabled',
  'AutoDeElevate',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'BlockOriginHeaderModificationOnRedirect',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'Translate',
  'msEdgeUpdateLaunchServicesPreferredVersion',
  'msForceBrowserSignIn',
];

/**
 * Lists under the address bar, which no test opens. Chromium loads a page for each with every new window,
 * which takes a second of a processor: more than most tests do.
 */
const OFF_HERE = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

export const CHROMIUM_ARGUMENTS = [
  `--disable-features=${[...OFF_BY_PLAYWRIGHT, ...OFF_HERE].join(',')}`,
];
