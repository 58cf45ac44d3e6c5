/** The writer thread and the scanner thread of a database file: one of each per process, however many threads serve. */
import type { MessagePort } from 'node:worker_threads'
import { linkTo, type OwnedThread, startThread } from '../../threads/thread-link.ts'
import type { ScannerLink } from './scanner.ts'
import type { FromScanner, ScanMessage } from './scanner-messages.ts'
import type { SqliteThreadData } from './thread-connection.ts'
import type { WriterLink } from './writer.ts'
import type { FromWriter, WriteMessage, WriterData } from './writer-messages.ts'

export interface SqliteThreads {
  readonly writer: WriterLink
  /** Incremented by each commit, before it is acknowledged. */
  readonly commits: SharedArrayBuffer
  connectScanner(): Promise<ScannerLink>
}

/** What another thread of the process needs to use the same two threads. */
export interface SqliteShare {
  writer: MessagePort
  commits: SharedArrayBuffer
}

export interface OwnSqliteThreads extends SqliteThreads {
  share(): SqliteShare
  shareScanner(): MessagePort
  /** Ends the scanner. The writer ends with its link. */
  closeScanner(): Promise<void>
}

export function startSqliteThreads(file: SqliteThreadData): OwnSqliteThreads {
  const commits = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const data: WriterData = { ...file, commits }
  const writer = startThread<WriteMessage, FromWriter>(new URL('./writer-thread.ts', import.meta.url), data)
  let scanner: OwnedThread<ScanMessage, FromScanner> | undefined

  /** Started on first use, because most commands never scan. */
  function useScanner(): OwnedThread<ScanMessage, FromScanner> {
    if (scanner) return scanner
    const started = startThread<ScanMessage, FromScanner>(new URL('./scanner-thread.ts', import.meta.url), file)
    // The next scan starts a new thread.
    started.onEnd(() => {
      scanner = undefined
    })
    scanner = started
    return started
  }

  return {
    writer,
    commits,
    connectScanner: async () => useScanner(),
    share: () => ({ writer: writer.connect(), commits }),
    shareScanner: () => useScanner().connect(),
    closeScanner: async () => scanner?.close(),
  }
}

export function useSqliteThreads(
  { writer, commits }: SqliteShare,
  connectScanner: () => Promise<MessagePort>,
): SqliteThreads {
  return { writer: linkTo(writer), commits, connectScanner: async () => linkTo(await connectScanner()) }
}
