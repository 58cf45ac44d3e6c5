/** Files that browsers send: each is held in memory, and read by a thread of its own. */
import { AppError } from '../../core/app-error.ts'
import { createFairQueue } from '../../core/fair-queue.ts'
import { createBodyBudget } from '../../platform/http/body-budget.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { UploadedFile } from './serve-upload.ts'
import { openUploadReader, type UploadReader, type UploadThread } from './upload-reader.ts'

/** Larger files are for the command. */
export const maxUploadBytes = 8 * 1024 * 1024
/** For the other fields, and for a carried file, which is longer in base64. */
const spareBytes = 1024 * 1024
const maxBodyBytes = maxUploadBytes + spareBytes
/** In each thread that serves: each reads a file in a thread of its own. */
const maxAtOnce = 2

export interface Uploader {
  userId: number
  /** The client's address. */
  address: string
  /** Aborted when nobody waits for the result any more, until something is written. */
  signal: AbortSignal
}

const uploadUnderWay = () =>
  new AppError(429, 'Another file of yours is still being processed. Try again when it is done.', {
    code: 'too_many_attempts',
    headers: { 'retry-after': '5' },
  })

export type Uploads = ReturnType<typeof createUploads>
type UploadsDeps = Pick<Infrastructure, 'db' | 'limitPerAddress'>

const shared = new WeakMap<object, Uploads>()

/** Its limits are those of the service, whatever is imported. */
export function uploadsOf(deps: UploadsDeps): Uploads {
  const uploads = shared.get(deps.db) ?? createUploads(deps)
  shared.set(deps.db, uploads)
  return uploads
}

function createUploads({ limitPerAddress }: UploadsDeps) {
  // Each user counts like an address.
  const perUser = limitPerAddress('uploads', 1)
  const keyOf = (userId: number) => `user ${userId}`
  const queue = createFairQueue({
    atOnce: maxAtOnce,
    maxPerClient: 4,
    maxWaiting: 32,
    full: httpErrors.unavailable,
    gone: httpErrors.unavailable,
  })
  return {
    budget: createBodyBudget({ maxBodyBytes, maxClientBytes: 2 * maxBodyBytes, maxBytes: 4 * maxBodyBytes }),

    /** Throws if another file of the user is being read or imported. */
    requireIdle(userId: number): void {
      if (perUser.isFull(keyOf(userId))) throw uploadUnderWay()
    },

    /** Waits for its turn. Throws if another file of the same user is being read or imported. */
    async use<Values, T>(
      file: UploadedFile,
      thread: UploadThread,
      { userId, address, signal }: Uploader,
      work: (reader: UploadReader<Values>) => Promise<T>,
    ): Promise<T> {
      const release = perUser.enter(keyOf(userId))
      if (!release) throw uploadUnderWay()
      try {
        return await queue.run({ client: address, isUrgent: false, isGone: () => signal.aborted }, async () => {
          const reader = openUploadReader<Values>(thread, file, { signal })
          try {
            return await work(reader)
          } finally {
            await reader.close()
          }
        })
      } finally {
        release()
      }
    },
  }
}
