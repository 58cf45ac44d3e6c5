/** An extension that shows which thread serves, and that can make it die or stop responding. */
import { existsSync, writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { defineFeature, idIsListed, toIdList } from 'latchkey/feature'

export default defineFeature({
  name: 'probe',
  create: ({ db }) => db,
  routes: (db) => (app) => {
    const config = { access: 'public', docs: false } as const
    app.get('/probe/thread', { config }, async () => ({ thread: threadId }))
    app.get('/probe/slow', { config }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      return { thread: threadId }
    })
    // Until the file exists. If it dies then, it reads nothing of what it was sent meanwhile.
    // With `rests`, it mostly sleeps, which blocks the event loop no less and leaves the processor to others.
    type Spin = { until: string; dies?: string; rests?: string }
    app.get<{ Querystring: Spin }>('/probe/spin', { config }, async ({ query }) => {
      writeFileSync(`${query.until}-begun`, '')
      const cell = new Int32Array(new SharedArrayBuffer(4))
      while (!existsSync(query.until)) if (query.rests) Atomics.wait(cell, 0, 0, 20)
      if (query.dies) {
        process.nextTick(() => {
          throw new Error('died on demand')
        })
      }
      return { thread: threadId }
    })
    // Many lists, each with an SQL text of its own, or all with the same one.
    app.get<{ Querystring: { constant?: string } }>('/probe/lists', { config }, async ({ query }) => {
      for (let length = 1; length <= 60; length++) {
        const ids = Array.from({ length }, (_, i) => i + 1)
        const places = ids.map((id) => `$${id}`).join(', ')
        if (query.constant) await db.all(`SELECT id FROM users WHERE ${idIsListed(db)}`, [toIdList(db, ids)])
        else await db.all(`SELECT id FROM users WHERE id IN (${places})`, ids)
      }
      return { thread: threadId }
    })
    // Allocates until the heap is full.
    app.get('/probe/fill', { config }, async () => {
      const kept: object[] = []
      for (;;) kept.push({ kept: kept.length })
    })
    app.get('/probe/die', { config }, async () => {
      setImmediate(() => {
        throw new Error('died on demand')
      })
    })
  },
})
