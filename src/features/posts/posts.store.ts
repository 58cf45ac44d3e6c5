import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { KeptCounts } from '../../platform/database/kept-counts.ts'

export interface Post {
  id: number
  title: string
  body: string
}

export type PartOfPost = Pick<Post, 'id'> & Partial<Post>

export interface PostRange {
  after: number
  limit: number
  /** Beside the id. */
  columns: ReadonlySet<'title' | 'body'>
}

export interface PostStoreDeps {
  db: Database
  clock: Clock
  counts: KeptCounts
}

export function createPostStore({ db, clock, counts }: PostStoreDeps) {
  return {
    find: (id: number) => db.get<Post>('SELECT id, title, body FROM posts WHERE id = $1', [id]),

    /** By id ascending, those behind `after`, with no more of them than is wanted. */
    list: ({ after, limit, columns }: PostRange): Promise<PartOfPost[]> =>
      db.all<PartOfPost>(`SELECT ${selected(columns)} FROM posts WHERE id > $1 ORDER BY id LIMIT $2`, [after, limit]),

    /** Answers how many there are then, too. */
    async insert({ title, body }: Omit<Post, 'id'>): Promise<{ post: Post; count: number }> {
      const [[post], [counted]] = await db.write<Post, { total: number }>(
        {
          sql: `INSERT INTO posts (title, body, created_at, updated_at) VALUES ($1, $2, $3, $3) RETURNING id, title, body`,
          params: [title, body, clock.nowIso()],
        },
        counts.totalNow('posts'),
      )
      return { post: post as Post, count: counted?.total ?? 0 }
    },

    /** Null leaves a column as it is. Answers undefined where the post is gone. */
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
  return ['id', ...(['title', 'body'] as const).filter((each) => columns.has(each))].join(', ')
}

export type PostStore = ReturnType<typeof createPostStore>
