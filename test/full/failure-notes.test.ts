import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/databases.ts'

const support = JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', 'support', 'api.ts')).href)

test('a failing test prints its requests, their responses and what the service logged; others print nothing', async (t) => {
  const file = join(temporaryFolder(t), 'fixture.test.mjs')
  writeFileSync(
    file,
    `import assert from 'node:assert/strict'
    import { test } from 'node:test'
    import { shareApi } from ${support}
    const shared = shareApi()
    test('passes', async () => assert.equal((await (await shared()).get('/health/live')).status, 200))
    test('fails', async () => {
      const api = await shared()
      await api.post('/api/auth/login', { email: 'nobody@example.com', password: 'wrong' })
      assert.equal((await api.get('/nothing')).status, 200)
    })`,
  )
  const { NODE_TEST_CONTEXT: _nested, ...env } = process.env
  const args = ['--test', '--test-reporter=spec', file]
  const ended = await promisify(execFile)(process.execPath, args, { env }).catch((error) => error)
  const { stdout } = ended as { stdout: string }
  assert.match(stdout, /of the failed test "fails":/)
  assert.match(stdout, /^> POST \/api\/auth\/login\n> {"email":"nobody@example.com","password":"wrong"}\n< 401 /m)
  assert.match(stdout, /^> GET \/nothing\n< 404 {"error":"Not found"}$/m)
  assert.match(stdout, /^{"level":"info",.*"path":"\/nothing","status":404/m)
  assert.doesNotMatch(stdout, /health/)
})
