/** What holds for every page, whatever it shows. Checked on a page that is open already. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { findBarriers } from './axe.ts'
import { fits } from './console-steps.ts'
import { isFull } from './tiers.ts'

/** Nothing overflows and no word is broken, at any of these widths. The page keeps the last one. */
export async function fitsAt(page: Page, widths: readonly number[]): Promise<void> {
  for (const width of widths) {
    if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: 800 })
    await fits(page)
    assert.deepEqual(await brokenWords(page), [], `words broken at ${width} pixels: ${page.url()}`)
  }
}

export type ColorScheme = 'light' | 'dark'

/** There are no barriers in this colour scheme; in `npm run test:full`, in neither. */
export async function keepsNobodyOut(page: Page, scheme: ColorScheme, name = page.url()): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme })
  assert.deepEqual(await findBarriers(page), [], `${name}, ${scheme}`)
  if (!isFull) return
  // The other differs only in its colours.
  const other = scheme === 'light' ? 'dark' : 'light'
  await page.emulateMedia({ colorScheme: other })
  assert.deepEqual(await findBarriers(page, ['color-contrast']), [], `${name}, ${other}`)
}

/** Words as they are in sentences: no emails, addresses or codes, which may be longer than a line. */
const wholeWords = String.raw`(?<!\S)(?:\p{L}{2,20}|\p{N}{2,20})(?=[.,:;!?)…]*(?!\S))`
/** Parts of those too. */
export const anyWords = String.raw`[\p{L}\p{N}]+`

/** Words that are on more than one line. */
export function brokenWords(page: Page, words = wholeWords): Promise<unknown> {
  return page.evaluate(`(() => {
    const broken = new Set()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    const isOnLines = () => new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1
    while (walker.nextNode()) {
      const node = walker.currentNode
      range.selectNodeContents(node)
      if (!isOnLines() || !node.parentElement.checkVisibility()) continue
      for (const { 0: word, index } of node.data.matchAll(/${words}/gu)) {
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        if (isOnLines()) broken.add(word)
      }
    }
    return [...broken]
  })()`)
}

/** A notice that gets its button moves by less. */
const unseenShift = 0.02

/** What moved while the page was loaded, without anybody having touched it. */
export function shiftsOf(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    const end = performance.getEntriesByType('navigation')[0].loadEventEnd + 200
    const observer = new PerformanceObserver((list) => resolve(list.getEntries()
      .filter(({ startTime, hadRecentInput, value }) => startTime < end && !hadRecentInput && value > ${unseenShift})
      .map(({ value, sources }) => value + ' ' + sources.map(({ node }) => node?.outerHTML?.slice(0, 100)).join())))
    observer.observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve([]), 300)
  })`)
}

/**
 * Everything that can be clicked or typed into can be reached by keyboard, in the order of the page, and shows that it has
 * the focus. What is behind an open dialog cannot be reached.
 */
export async function worksByKeyboard(page: Page): Promise<void> {
  // From now on the browser shows the focus, wherever it is.
  await page.keyboard.press('Tab')
  const unreachable = await page.evaluate(`(() => {
    const before = document.activeElement
    const dialog = document.querySelector('dialog:modal') ?? document.body
    const controls = [...dialog.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
    const faults = controls.flatMap((each) => {
      if (each.disabled || each.type === 'hidden' || !each.checkVisibility({ visibilityProperty: true })) return []
      if (each.getAttribute('tabindex') === '-1') return each.matches('a, button, input, select, textarea') ? ['left out: ' + each.outerHTML.slice(0, 120)] : []
      if (each.tabIndex > 0) return ['out of order: ' + each.outerHTML.slice(0, 120)]
      each.focus({ preventScroll: true })
      if (document.activeElement !== each) return ['not reached: ' + each.outerHTML.slice(0, 120)]
      const { outlineStyle, outlineWidth } = getComputedStyle(each)
      return outlineStyle === 'none' || outlineWidth === '0px' ? ['no focus to be seen: ' + each.outerHTML.slice(0, 120)] : []
    })
    before?.focus?.({ preventScroll: true })
    return faults
  })()`)
  assert.deepEqual(unreachable, [], page.url())
}

/** Every button does something without scripts: it belongs to a form. */
export async function hasNoDeadButtons(page: Page): Promise<void> {
  const dead = await page.evaluate(`[...document.querySelectorAll('button')]
    .filter((each) => (each.type === 'button' || !each.form) && each.checkVisibility())
    .map((each) => each.outerHTML.slice(0, 120))`)
  assert.deepEqual(dead, [], page.url())
}
