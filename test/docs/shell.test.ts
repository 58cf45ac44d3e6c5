/** Commands on any page can be pasted into a shell. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { blocksOf } from '../support/docs.ts'

const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
const commands = pages.flatMap((page) =>
  blocksOf(readFileSync(join(root, page), 'utf8'), 'sh').map((block) => ({ page, block })),
)

test('no command has a comment, which zsh would take for arguments', () => {
  for (const { page, block } of commands) {
    // Ignores quoted text; here-documents contain no comments.
    const bare = block.replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, '')
    assert.doesNotMatch(bare, /(^|\s)#/m, page)
  }
  assert.ok(commands.length > 10)
})

test('no command shows a password or a secret to the list of processes or to the history', () => {
  for (const { page, block } of commands) {
    assert.doesNotMatch(block, /\becho\b.*\|\s*(bin\/)?latchkey/, page)
    assert.doesNotMatch(block, /\becho\b[^\n]*(secret|password)[^\n]*>/i, page)
    assert.doesNotMatch(block, /latchkey\b.*--password/, page)
  }
})
