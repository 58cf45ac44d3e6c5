/** `latchkey/testing`: for the tests of extensions. */
export { createMovableClock, type MovableClock } from '../testing/clock.ts'
export { type ConsoleBrowser, type ConsolePage, openConsole } from '../testing/console.ts'
export { createTestDatabase, engines, type TestDatabase } from '../testing/databases.ts'
export { startService, type TestService, type TestServiceOptions } from '../testing/start-service.ts'
