/** The files of scheduled backups in their folder. Other files there are let alone. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const namePattern = /^latchkey-\d{8}T\d{6}Z\.archive$/
const unprovedPattern = /^latchkey-\d{8}T\d{6}Z\.archive\.unproved$/
/** What is left of a backup or a proof that was killed. */
const leftoverPattern = /^(latchkey-\d{8}T\d{6}Z\.archive\.[\w-]+\.partial|proof\.db.*)$/

export function createBackupFiles(folder: string) {
  async function list(pattern: RegExp): Promise<string[]> {
    return (await readdir(folder)).filter((name) => pattern.test(name)).sort()
  }

  async function remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(folder, name), { force: true })
  }

  return {
    folder,

    /** Creates the folder, and removes what an interrupted backup has left. */
    async prepare(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await remove(await list(leftoverPattern))
    },

    /** By its time, so that names sort by age. */
    pathAt: (iso: string) => join(folder, `latchkey-${iso.slice(0, 19).replaceAll(/[-:]/g, '')}Z.archive`),

    /** Removes the oldest, and those that could not be proved. */
    async prune(keep: number): Promise<void> {
      await remove((await list(namePattern)).slice(0, -keep))
      await remove(await list(unprovedPattern))
    },

    /** Keeps the newest only: it may be all there is, and is never counted among the good ones. */
    async setAside(path: string): Promise<string> {
      await remove(await list(unprovedPattern))
      const aside = `${path}.unproved`
      await rename(path, aside)
      return aside
    },
  }
}

export type BackupFiles = ReturnType<typeof createBackupFiles>
