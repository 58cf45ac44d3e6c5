/** The samples of /docs run as they are copied: in a shell, in Node and in Python. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Api, startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { collect } from '../support/process.ts'
import { getProgram } from '../support/programs.ts'

const programs = {
  curl: () => [getProgram('bash'), 'sample.sh'] as const,
  typescript: () => [process.execPath, 'sample.mts'] as const,
  python: () => [getProgram('python3'), 'sample.py'] as const,
}

for (const [language, program] of Object.entries(programs)) {
  test(`the samples in ${language} do what they are for`, async (t) => {
    getProgram('curl')
    const api = await startApi(t)
    const { access } = await signIn(api, 'someone@example.com')
    const page = await readPage(api)
    const run = (id: string, change = (text: string) => text) =>
      runSample(t, { program: program(), text: change(page(id, language)), access })

    assert.match(await run('register'), /ada@example\.com/)
    assert.match(await run('login'), /access_token/)
    assert.match(await run('getMe'), /someone@example\.com/)
    assert.match(await run('createProduct'), /Desk Lamp/)
    assert.match(await run('listProducts'), /\btotal\b\W+1\b/)
    assert.match(await run('getProduct'), /desk-lamp/)
    assert.match(await run('updateProduct'), /19\.99/)
    assert.equal((await api.get('/api/v2/products/1')).body.data.attributes.price, 19.99)
    assert.match(await run('createPost'), /\bid\b/)
    await run('deleteProduct')
    assert.equal((await api.get('/api/v2/products/1')).status, 404)
    const refused = await run('getMe', (text) => text.replaceAll('ACCESS_TOKEN', 'NO_TOKEN')).catch(String)
    assert.match(refused, /401|Invalid access token|Missing access token|NO_TOKEN/)
  })
}

/** Returns the sample of an operation, as a reader copies it. */
async function readPage(api: Api): Promise<(id: string, language: string) => string> {
  const { body } = await api.get('/docs')
  return (id, language) => {
    const [, article = ''] = String(body).split(`<article id="${id}"`)
    const [, sample = ''] = article.split(`data-language="${language}"`)
    const [, text = ''] = /<code>([^<]*)<\/code>/.exec(sample) ?? []
    assert.notEqual(text, '', `${id} in ${language}`)
    const plain = text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    return plain.replace(/http:\/\/localhost:\d+/, api.url)
  }
}

interface Sample {
  program: readonly [command: string, file: string]
  text: string
  access: string
}

async function runSample(t: TestContext, { program: [command, file], text, access }: Sample): Promise<string> {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, file), text)
  // Without the proxy that Python and curl might take from the environment.
  const env = { PATH: process.env.PATH ?? '', HOME: cwd, ACCESS_TOKEN: access, NO_TOKEN: 'none' }
  const { code, stdout, stderr } = await collect(spawn(command, [file], { cwd, env }))
  assert.equal(code, 0, stderr)
  return stdout
}
