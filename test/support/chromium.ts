/** The browser that the tests in test/browser/ use is the machine's own. */
import { type Browser, chromium } from 'playwright-core'
import { findProgram, installPackages } from './programs.ts'

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: getChromium(), args })
}

/** Called before a run that has such tests, so that they need not wait for it, nor install it side by side. */
export function installChromium(): void {
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
  return process.env.TEST_CHROMIUM ?? findProgram('chromium', 'chromium-browser', 'google-chrome')
}
