/** Every page has a place in the list of README.md, and no link leads nowhere. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { rowsOf } from '../support/docs.ts'

const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md', 'examples/*/*.md'], { cwd: root }).sort()
const read = (page: string) => readFileSync(join(root, page), 'utf8')

/** The page without its code blocks, which have no links and no headings. */
function proseOf(page: string): string {
  const lines = read(page).split('\n')
  let isCode = false
  const prose = lines.filter((line) => {
    const isFence = line.trimStart().startsWith('```')
    if (isFence) isCode = !isCode
    return !isFence && !isCode
  })
  return prose.join('\n')
}

interface Link {
  page: string
  target: string
}

/** The links to files of this repository, and to headings. */
function linksOf(page: string): Link[] {
  const prose = proseOf(page).replaceAll(/`[^`\n]{1,200}`/g, 'code')
  return [...prose.matchAll(/\]\(([^)\s]{1,300})[^)\n]{0,300}\)/g)]
    .map(([, target = '']) => ({ page, target }))
    .filter(({ target }) => !/^[a-z]{1,10}:/.test(target))
}

/** The fragments of a page's headings, as GitHub makes them. */
function fragmentsOf(page: string): Set<string> {
  const fragments = new Set<string>()
  for (const line of proseOf(page).split('\n')) {
    const [, heading] = /^#{1,6} (.{1,300})$/.exec(line) ?? []
    if (heading === undefined) continue
    const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    const fragment = words.replaceAll(/\s/g, '-')
    let unique = fragment
    for (let n = 1; fragments.has(unique); n++) unique = `${fragment}-${n}`
    fragments.add(unique)
  }
  return fragments
}

function isBroken({ page, target }: Link): boolean {
  const [path = '', fragment] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (file.startsWith('..') || !existsSync(join(root, file))) return true
  if (fragment === undefined || !file.endsWith('.md')) return false
  return !fragmentsOf(file).has(fragment)
}

test('every page has one place in the list of README.md', () => {
  const [, afterHeading = ''] = read('README.md').split('\n## Documentation\n')
  const [section = ''] = afterHeading.split('\n## ')
  const listed = rowsOf(section).flatMap(([cell = '']) =>
    [...cell.matchAll(/\]\(([^)\s]{1,300})\)/g)].map(([, to]) => to),
  )
  const folders = listed.filter((to = '') => statSync(join(root, to), { throwIfNoEntry: false })?.isDirectory())
  const needed = pages.filter((page) => page !== 'README.md' && !folders.includes(dirname(page)))
  assert.deepEqual(listed.sort(), [...needed, ...folders].sort())
})

test('no link on any page leads nowhere', () => {
  const links = pages.flatMap(linksOf)
  assert.ok(links.length > 100, 'they were found')
  assert.deepEqual(links.filter(isBroken), [])
})

test('links to what is missing are found', () => {
  const page = 'docs/console.md'
  const broken = ['nowhere.md', 'products.md#nowhere', '#nowhere', '../../elsewhere.md']
  for (const target of broken) assert.ok(isBroken({ page, target }), target)
  for (const target of ['products.md#changes', '#tour', '../README.md', 'images']) {
    assert.ok(!isBroken({ page, target }), target)
  }
})
