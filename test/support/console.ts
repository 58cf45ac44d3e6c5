// biome-ignore lint/performance/noBarrelFile: tests of extensions have it from latchkey/testing, and ours from here
export { type ConsoleBrowser, type ConsolePage, type Fields, openConsole } from '../../src/testing/console.ts'
