/** Accessibility problems that axe-core finds on a page of a service that startBrowsedApi has started. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { isFull } from './tiers.ts'

/** Served beside the pages, which their CSP allows: the browser then keeps it compiled. */
export const axeScript = {
  path: '/axe-core.js',
  text: readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'),
}

/** Looks of text whose contrast is enough, on any page so far. */
const readable = new Set<string>()

/** Hashes of what elements look like to axe-core, on pages without barriers so far. */
const harmless = new Set<number>()

/**
 * One line per problem, of all rules or of contrast alone, which depends on nothing but the look of a text. Outside of
 * `npm run test:full` a page is not checked if every element of it was like one on a page that was.
 */
export async function findBarriers(page: Page, runOnly?: readonly ['color-contrast']): Promise<string[]> {
  const isAboutContrast = runOnly !== undefined
  const { looks, shapes } = await page.evaluate<{ looks: string[]; shapes: number[] }>(`(() => {
    const shapes = ${isAboutContrast} ? [] : (${shapesOf})(new Set([${[...harmless]}]))
    const sample = (${sampleText})(new Set(${JSON.stringify([...readable])}))
    for (const each of [...sample.values()].flat()) each.dataset.contrast = ''
    return { looks: [...sample.keys()], shapes }
  })()`)
  const isKnown = shapes.length === 0 && (!isFull || isAboutContrast)
  if (isKnown && looks.length === 0) return []
  if (!(await page.evaluate(`'axe' in window || import('${axeScript.path}').then(() => true, () => false)`))) {
    // There is no connection.
    await page.evaluate(axeScript.text)
  }
  const options = { resultTypes: ['violations'], preload: false, ...(isKnown && { runOnly: ['color-contrast'] }) }
  const violations = await page.evaluate<AxeResults['violations']>(`(async () => {
    axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-contrast]' }] })
    const { violations } = await axe.run(document, ${JSON.stringify(options)})
    for (const each of document.querySelectorAll('[data-contrast]')) delete each.dataset.contrast
    return violations
  })()`)
  if (violations.length === 0) {
    for (const look of looks) readable.add(look)
    for (const shape of shapes) harmless.add(shape)
  }
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}

/** Of each visible element: what it is and is in, with its attributes, and those values that are words of HTML. */
const shapesOf = `(known) => {
  const places = new Map([[document.documentElement, '']])
  const placeOf = (element) => {
    if (!places.has(element)) places.set(element, placeOf(element.parentElement) + '>' + element.localName)
    return places.get(element)
  }
  const telling = /^(?:type|role|scope|aria-(?!label|describedby|controls|owns|activedescendant|details).*)$/
  const hashOf = (text) => {
    let hash = 0
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
    return hash
  }
  const found = new Set()
  for (const element of document.querySelectorAll('*')) {
    if (!element.checkVisibility()) continue
    const attributes = [...element.attributes].map(({ name, value }) => (telling.test(name) ? name + '=' + value : name))
    found.add(hashOf([placeOf(element), element.childNodes.length > 0, ...attributes.sort()].join()))
  }
  return [...found].filter((shape) => !known.has(shape))
}`

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
  const fields = 'input, select, textarea'
  const hasText = (element) =>
    element.matches(fields) ||
    [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '')
  const found = new Map()
  for (const element of document.body.querySelectorAll('*')) {
    if (!hasText(element) || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element)
    // Large text, as WCAG has it, may have less contrast.
    const isLarge = Number.parseFloat(fontSize) >= (Number(fontWeight) >= 700 ? 18.66 : 24)
    const look = [behind(element), element.matches(fields), color, isLarge, textShadow].join()
    if (!known.has(look)) found.set(look, [found.get(look)?.[0] ?? element, element])
  }
  return found
}`
