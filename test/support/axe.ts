/** Accessibility problems that axe-core finds on a page of a service that startBrowsedApi has started. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** Served beside the pages, which their CSP allows: the browser then keeps it compiled. */
export const axeScript = {
  path: '/axe-core.js',
  text: readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'),
}

/** Looks of text whose contrast is enough, on any page so far. */
const readable = new Set<string>()

/** One line per problem, of all rules or of contrast alone, which depends on nothing but the look of a text. */
export async function findBarriers(page: Page, runOnly?: readonly ['color-contrast']): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window || import('${axeScript.path}').then(() => true, () => false)`))) {
    // There is no connection.
    await page.evaluate(axeScript.text)
  }
  const options = { resultTypes: ['violations'], preload: false, ...(runOnly && { runOnly }) }
  const { looks, violations } = (await page.evaluate(`(async () => {
    const sample = (${sampleText})(new Set(${JSON.stringify([...readable])}))
    const looks = [...sample.keys()]
    if (looks.length === 0 && ${runOnly !== undefined}) return { looks, violations: [] }
    const elements = [...sample.values()].flat()
    for (const each of elements) each.dataset.contrast = ''
    axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-contrast]' }] })
    const { violations } = await axe.run(document, ${JSON.stringify(options)})
    for (const each of elements) delete each.dataset.contrast
    return { looks, violations }
  })()`)) as Pick<AxeResults, 'violations'> & { looks: string[] }
  if (violations.length === 0) for (const look of looks) readable.add(look)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}

/**
 * The visible elements with text, but of those alike in all that contrast depends on only the first and the last: most
 * of a table is alike, and axe-core takes longer for the contrast of each cell than for all its other rules.
 */
const sampleText = `(known) => {
  const layers = new Map()
  const behind = (element) => {
    if (element === null) return ''
    if (!layers.has(element)) layers.set(element, behind(element.parentElement) + layerOf(getComputedStyle(element)))
    return layers.get(element)
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
    if (!known.has(look)) found.set(look, [found.get(look)?.[0] ?? element, element])
  }
  return found
}`
