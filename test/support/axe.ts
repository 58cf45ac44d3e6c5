/** Accessibility problems that axe-core finds on a page. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** One line per problem, of all rules or of contrast alone. Works without changing the page's CSP. */
export async function findBarriers(page: Page, runOnly?: readonly ['color-contrast']): Promise<string[]> {
  const contrast = `{ include: (${sampleText})() }, { runOnly: ['color-contrast'] }`
  const others = `document, { rules: { 'color-contrast': { enabled: false } } }`
  return [...(runOnly ? [] : await run(page, others)), ...(await run(page, contrast))]
}

async function run(page: Page, args: string): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  const { violations } = (await page.evaluate(`(async (context, options) => {
    const { violations } = await axe.run(context, { resultTypes: ['violations'], preload: false, ...options })
    return { violations }
  })(${args})`)) as Pick<AxeResults, 'violations'>
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}

/**
 * The visible elements with text, but of those alike in all that contrast depends on only the first and the last: most
 * of a table is alike, and axe-core takes longer for the contrast of each cell than for all its other rules.
 */
const sampleText = `() => {
  const known = new Map()
  const behind = (element) => {
    if (element === null) return ''
    if (!known.has(element)) known.set(element, behind(element.parentElement) + layerOf(getComputedStyle(element)))
    return known.get(element)
  }
  const layerOf = ({ backgroundColor, backgroundImage, opacity, position, filter, mixBlendMode }) => {
    const layer = [backgroundColor, backgroundImage, opacity, position, filter, mixBlendMode].join()
    return layer === 'rgba(0, 0, 0, 0),none,1,static,none,normal' ? '' : layer + ';'
  }
  const hasText = (element) =>
    element.matches('input, select, textarea') ||
    [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '')
  const found = new Map()
  for (const element of document.body.querySelectorAll('*')) {
    if (!hasText(element) || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element)
    const look = [behind(element), element.tagName, color, fontSize, fontWeight, textShadow].join()
    found.set(look, [found.get(look)?.[0] ?? element, element])
  }
  return [...new Set([...found.values()].flat())]
}`
