/** The tests in test/browser/ use the Chromium of the machine. */
import { type Browser, chromium } from 'playwright-core'
import { findProgram, installPackages } from './programs.ts'

/** Lists of suggestions below the address bar, which nobody types into: each window would load them as pages of its own. */
const suggestions = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']

/** Those that Playwright turns off: a browser reads the last list alone, which is ours. */
const offByDefault = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  `--disable-features=${[...offByDefault, ...suggestions].join(',')}`,
]

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: getChromium(), args, timeout: 180_000 })
}

/** Chromium without windows and profiles, which takes a third less work for the same pages. Not all systems have it. */
const headless = 'chromium-headless-shell'

/** Called before a run that has such tests, so that they need not wait for it, nor install it side by side. */
export function installChromium(): void {
  if (process.env.TEST_CHROMIUM === undefined && !findProgram(headless)) {
    try {
      installPackages([headless])
    } catch {
      process.stderr.write(`${headless} cannot be installed; any other Chromium will do\n`)
    }
  }
  if (!findChromium()) installPackages(['chromium'])
  getChromium()
}

export function getChromium(): string {
  const found = findChromium()
  if (found) return found
  const ways = 'install it ("apt-get install chromium"), name it in TEST_CHROMIUM, or run "npm run test:fast"'
  throw new Error(`the tests in test/browser/ need Chromium: ${ways}, which does without`)
}

function findChromium(): string | undefined {
  return process.env.TEST_CHROMIUM ?? findProgram(headless, 'chromium', 'chromium-browser', 'google-chrome')
}
