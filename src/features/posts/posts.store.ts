import { createBatches } from '../../core/batches.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import { listedText } from '../../platform/database/listed-texts.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'

export interface Post {
  id: number
  title: string
  body: string
}

/** A long body is null and must be loaded with `readBodies`. */
export type PartOfPost = Pick<Post, 'id'> & Partial<Pick<Post, 'title'>> & { body?: string | null }

export interface PostRange {
  after: number
  limit: number
  /** In addition to the id. */
  columns: ReadonlySet<'title' | 'body'>
}

const insertion =
  'INSERT INTO posts (title, body, created_at, updated_at) VALUES ($1, $2, $3, $3) RETURNING id, title, body'

export interface PostStoreDeps {
  db: Database
  clock: Clock
  counts: MaintainedCounts
}

export function createPostStore({ db, clock, counts }: PostStoreDeps) {
  /** In one transaction, so that the lock on the count is held for one commit instead of one per post. */
  async function insertAll(posts: readonly Omit<Post, 'id'>[]): Promise<{ post: Post; count: number }[]> {
    const now = clock.nowIso()
    const locks = counts.lock('posts')
    const rows = await db.write<object>(
      ...locks,
      ...posts.map(({ title, body }) => ({ sql: insertion, params: [title, body, now] })),
      counts.totalNow('posts'),
    )
    const counted = rows.at(-1)?.[0] as { total: number } | undefined
    const total = counted?.total ?? 0
    return posts.map((_, i) => ({
      post: rows[locks.length + i]?.[0] as Post,
      count: total - (posts.length - 1 - i),
    }))
  }

  return {
    find: (id: number) => db.get<Post>('SELECT id, title, body FROM posts WHERE id = $1', [id]),

    /** By id ascending, after the id `after`. Reads only the given columns. */
    list: ({ after, limit, columns }: PostRange): Promise<PartOfPost[]> =>
      db.all<PartOfPost>(`SELECT ${selected(columns)} FROM posts WHERE id > $1 ORDER BY id LIMIT $2`, [after, limit]),

    async readBodies(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
      const rows = await db.all<{ id: number; body: string }>(`SELECT id, body FROM posts WHERE ${idIsListed(db)}`, [
        toIdList(db, ids),
      ])
      return new Map(rows.map(({ id, body }) => [id, body]))
    },

    /** Also returns the number of posts after the insert. */
    insert: createBatches({ run: insertAll, maxItems: 100, sizeOf: ({ body }) => body.length, maxSize: 1 << 20 }),

    /** Null leaves a column unchanged. Returns undefined if the post does not exist. */
    async update(
      id: number,
      { title, body }: { title: string | null; body: string | null },
    ): Promise<Post | undefined> {
      const [[post]] = await db.write<Post>({
        sql: `UPDATE posts SET title = COALESCE($1, title), body = COALESCE($2, body), updated_at = $3
              WHERE id = $4 RETURNING id, title, body`,
        params: [title, body, clock.nowIso(), id],
      })
      return post
    },

    async delete(id: number): Promise<boolean> {
      const [rows] = await db.write({ sql: 'DELETE FROM posts WHERE id = $1 RETURNING id', params: [id] })
      return rows.length > 0
    },
  }
}

function selected(columns: PostRange['columns']): string {
  const body = listedText('body')
  return ['id', ...(columns.has('title') ? ['title'] : []), ...(columns.has('body') ? [body] : [])].join(', ')
}

export type PostStore = ReturnType<typeof createPostStore>
