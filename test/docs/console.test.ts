/** The pictures of docs/console.md exist, and its example works. */
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addGreetingPage, greetings } from '../../docs/examples/greeting.ts'
import { pictures } from '../../docs/screenshots/pictures.ts'
import { root } from '../../src/config/root.ts'
import { systemRandom } from '../../src/core/random.ts'
import { createCookies } from '../../src/platform/pages/cookies.ts'
import { createCsrf } from '../../src/platform/pages/csrf.ts'
import { html } from '../../src/platform/pages/html.ts'
import { addPages } from '../../src/platform/pages/pages.ts'
import { startApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { blocksOf } from '../support/docs.ts'
import { signIn } from '../support/people.ts'

const page = readFileSync(join(root, 'docs', 'console.md'), 'utf8')
const images = join(root, 'docs', 'images')
const maxBytes = 150 * 1024

test('the page shows every picture that the script takes, and no other', () => {
  const shown = [...page.matchAll(/!\[([^\]]+)\]\(images\/([^)]+)\)/g)].map(([, , file = '']) => file)
  const taken = pictures.map(({ name }) => `${name}.png`)
  assert.deepEqual(shown.sort(), taken.sort())
  assert.deepEqual(readdirSync(images).sort(), taken.sort())
})

test('the pictures are small, and README shows one of them', () => {
  for (const file of readdirSync(images)) {
    const path = join(images, file)
    assert.equal(readFileSync(path).toString('latin1', 1, 4), 'PNG', file)
    assert.ok(statSync(path).size <= maxBytes, file)
  }
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, file = ''] = /!\[[^\]]+\]\(docs\/images\/([^)]+)\)/.exec(readme) ?? []
  assert.ok(pictures.some(({ name }) => `${name}.png` === file))
})

test('the buttons and pages that README names in the first steps are there', () => {
  const [, afterHeading = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('\n## First steps in the browser\n')
  const [steps = ''] = afterHeading.split('\n## ')
  const labels = [...steps.matchAll(/\*([^*\n]{1,60})\*/g)].map(([, label]) => label)
  assert.ok(labels.length > 4)
  const source = globSync('src/**/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const isThere = (label = '') => source.some((text) => text.includes(`>${label}<`) || text.includes(`'${label}'`))
  assert.deepEqual(
    labels.filter((label) => !isThere(label)),
    [],
  )
})

test('the code on the page is the code of docs/examples/greeting.ts', () => {
  const source = readFileSync(join(root, 'docs', 'examples', 'greeting.ts'), 'utf8')
  assert.equal(blocksOf(page, 'ts').length, 1)
  for (const block of blocksOf(page, 'ts')) assert.ok(source.includes(block), block)
})

test('the example is protected against CSRF without any code for it', async (t) => {
  const { api, browser } = await startWithGreeting(t)
  const path = '/console/greeting'
  assert.equal((await openConsole(api).open(path)).location, `/sign-in?next=${encodeURIComponent(path)}`)
  assert.match((await browser.open(path)).html, /<h1>Hello, Ada<\/h1>/)
  assert.equal((await browser.post(path, { text: 'Forged' })).status, 403)
  await browser.open(path)
  assert.equal((await browser.submit(path, { text: 'Good morning' })).location, path)
  assert.deepEqual(greetings, ['Good morning'])
})

/** The page, in a plugin such as the console's, where the cookie holds an access token. */
async function startWithGreeting(t: TestContext) {
  const api = await startApi(t, {
    async extend(app, { authenticate }) {
      await app.register(
        async (pages) => {
          const send = await addPages(pages, {
            cookies: createCookies({ isHttps: false, maxAgeSeconds: 60 }),
            csrf: createCsrf({ secret: 'of the example alone', random: systemRandom }),
            random: systemRandom,
            findSession: authenticate,
            render: ({ content }) => content,
            renderProblem: ({ message }) => ({ title: message, content: html`${message}` }),
            askToSignIn: (reply, { next }) => reply.redirect(`/sign-in?next=${encodeURIComponent(next)}`, 303),
          })
          addGreetingPage(pages, { send })
        },
        { prefix: '/console' },
      )
    },
  })
  const browser = openConsole(api)
  browser.cookies.set('latchkey_session', { value: (await signIn(api)).access, attributes: [] })
  return { api, browser }
}
