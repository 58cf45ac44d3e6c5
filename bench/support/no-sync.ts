/** Preload this to make the database skip fsync. Only for measuring the cost of durability. */
import { DatabaseSync } from 'node:sqlite'

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function execWithoutSync(this: DatabaseSync, sql: string) {
  exec.call(this, sql.replace('synchronous = FULL', 'synchronous = OFF'))
  if (!sql.includes('synchronous')) return
  const { synchronous } = this.prepare('PRAGMA synchronous').get() as { synchronous: number }
  if (synchronous !== 0) throw new Error('the database still waits for the disk')
}
