/** Text that would run if it were not escaped, and a check that it has not. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Words } from './console-fixture.ts'

export const hostileWords: Words = {
  person: '<script>window.ran = true</script>"><svg/onload=ran=true>',
  mailbox: "'onfocus='ran=1'${ran}{{ran}}&lt`&#39",
  userAgent: 'Mozilla/5.0 <script>ran = true</script>"><img src=x onerror="window.ran = true"> Firefox/1.0',
  product: `javascript:ran=true//'"><img src=x onerror="window.ran = true">`,
  description: '</textarea><script>window.ran = true</script> &lt;b&gt; &amp; <b>bold</b>',
  category: `' autofocus onfocus='ran = true'></select><svg onload="ran = true">`,
}

/** Nothing ran, and nothing on the page could: no foreign script, handler or element. Pictures of charts are our own. */
export async function isHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(`({
    ran: 'ran' in window,
    scripts: [...document.scripts].filter(({ src }) => !src.startsWith(location.origin + '/console/assets/')).length,
    handlers: [...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on')),
    links: [...document.querySelectorAll('a, form')]
      .map((each) => each.getAttribute('href') ?? each.getAttribute('action'))
      .filter((to) => to !== null && !/^(\\/(?!\\/)|#|\\?)/.test(to)),
    foreign: document.querySelectorAll('main :is(svg:not(.icon, .chart > svg), b, iframe, object, embed, base, style), img[src="x"]').length,
  })`)
  assert.deepEqual(found, { ran: false, scripts: 0, handlers: [], links: [], foreign: 0 }, page.url())
}
