/** The examples in README.md and docs/graphql.md work when pasted into a shell, one block after another. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'
import { collect, startProcess } from '../support/process.ts'
import { getProgram } from '../support/programs.ts'

const pageOf = (...names: string[]) => readFileSync(join(root, ...names), 'utf8')

/** Interactive, and without the user's settings. */
const shells = [
  ['bash', ['--noprofile', '--norc', '-i']],
  ['zsh', ['-f', '-i']],
] as const

// Most of a tour is waiting.
describe('pasted into a shell', { concurrency: true }, () => {
  for (const [shell, args] of shells) {
    test(`the tour of README.md, and after it docs/graphql.md, pasted into ${shell}`, async (t) => {
      const folder = temporaryFolder(t)
      const { url } = await startProcess(t, {
        env: { DATABASE_URL: `file:${join(folder, 'test.db')}`, BCRYPT_COST: '10' },
      })
      const [, tour = ''] = pageOf('README.md').split('## A tour in five minutes')
      const blocks = [
        ...blocksOf(tour.split('\n## ')[0] ?? '', 'sh'),
        'echo "== graphql"\n',
        ...blocksOf(pageOf('docs', 'graphql.md'), 'sh'),
      ]
      // A busy machine needs longer to start listening and to create a post.
      const script = blocks.join('\n').replace('-m 3 ', '-m 14 ').replace('sleep 1', 'sleep 5')
      const child = spawn(getProgram(shell), args, {
        cwd: root,
        env: { PATH: process.env.PATH ?? '', HOME: folder, TERM: 'dumb', PS1: '', PS2: '' },
      })
      t.after(() => child.kill('SIGKILL'))
      child.stdin.end(`${script.replaceAll('http://localhost:3000', url)}\nexit\n`)
      const { stdout, stderr } = await collect(child)
      assert.doesNotMatch(stderr, /not found|no matches|parse error|syntax error|event not found/, stderr)

      const [toured = '', asked = ''] = stdout.split('== graphql\n')
      // Background output may start in the middle of a line.
      const said = toured
        .replaceAll('event: ', '\nevent: ')
        .split('\n')
        .filter((line) => line.startsWith('{'))
      const responses = said.map((line) => JSON.parse(line))
      const [ready, registered, me, sessions, pair, reused, dead, lamp, found, page, hello, both, again, ...rest] =
        responses
      assert.deepEqual(ready, { status: 'ok' })
      assert.equal(registered.data.email, 'ada@example.com')
      assert.equal(me.name, 'Ada')
      assert.equal(sessions.data.length, 1)
      assert.equal(pair.token_type, 'Bearer')
      assert.deepEqual([reused.error, dead.error], ['Invalid refresh token', 'Invalid access token'])
      assert.equal(lamp.data.attributes.formatted_price, '$1,234.50')
      assert.deepEqual([found.meta.total, page.meta.last_page], [1, 1])
      assert.deepEqual([hello, both.data.posts.length], [{ data: { createPost: 1 } }, 1])
      assert.equal(both.data.products.data[0].formattedPrice, '$1,234.50')
      assert.deepEqual(again, { data: { createPost: 2 } })
      assert.match(toured, /event: next\ndata: \{"data":\{"counter":\{"count":2\}\}\}/)
      const [enabled, verified, nowhere] = rest
      assert.equal(enabled.recovery_codes.length, 10)
      assert.ok(verified.access_token)
      assert.deepEqual(nowhere, { error: 'Not found' })
      assert.equal(rest.length, 3)

      const graphql = asked
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
      assert.deepEqual(
        [graphql[0], graphql[1].data.posts.length, graphql[2], graphql[5], graphql[6]],
        [
          { data: { createPost: 3 } },
          3,
          { data: { post: { title: 'Hello' } } },
          { data: { me: { email: 'grace@example.com', roles: [] } } },
          { data: { createProduct: { id: '2', formattedPrice: '$9.99' } } },
        ],
      )
      assert.equal(graphql.at(-1).errors[0].extensions.code, 'BAD_USER_INPUT')
      assert.equal(graphql.length, 9)
    })
  }
})
