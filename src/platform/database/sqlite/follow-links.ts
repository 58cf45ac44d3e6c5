/** Where symbolic links lead to. SQLite itself opens that file, with its -wal beside it. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { cannotOpen } from './open-errors.ts'

/** As many as Linux follows. */
const maxLinks = 40

/** The file that a path names, which need not exist. A path that is no link is returned as it is. */
export function followLinks(path: string): string {
  let file = path
  for (let links = 0; links <= maxLinks; links++) {
    if (!isLink(file)) return file === path ? path : inRealFolder(file)
    const next = readlinkSync(file)
    // Not by `join`: after a linked folder, ".." leads elsewhere than in the text.
    file = isAbsolute(next) ? next : `${dirname(file)}/${next}`
  }
  throw cannotOpen(path, Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' }))
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function inRealFolder(file: string): string {
  const folder = dirname(file)
  return existsSync(folder) ? join(realpathSync(folder), basename(file)) : file
}
