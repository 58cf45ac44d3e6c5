/** Keeps the session in the browser, for all tabs of the origin. */
import type { LatchkeyStorage, StoredState } from './storage.ts'

export interface IndexedDbOptions {
  /** For several sessions at one origin. */
  name?: string
}

/** The part of IndexedDB that is used, so that the types of browsers are not needed to compile this package. */
interface Database {
  transaction(store: string, mode: 'readonly' | 'readwrite', options?: { durability: 'strict' }): Transaction
  close(): void
  onversionchange: (() => void) | null
  onclose: (() => void) | null
}
interface Transaction {
  objectStore(name: string): { get(key: string): Pending; put(value: unknown, key: string): unknown }
  oncomplete: (() => void) | null
  onabort: (() => void) | null
  error: unknown
}
interface Pending {
  result: unknown
  onsuccess: (() => void) | null
}
interface Opening {
  result: Database & { createObjectStore(name: string): unknown }
  error: unknown
  onupgradeneeded: (() => void) | null
  onsuccess: (() => void) | null
  onerror: (() => void) | null
}

const store = 'sessions'

export function indexedDbStorage({ name = 'default' }: IndexedDbOptions = {}): LatchkeyStorage {
  const channelName = `latchkey:${name}`
  let opened: Promise<Database> | undefined

  function open(): Promise<Database> {
    opened ??= openDatabase().then(
      (database) => {
        const forget = () => {
          opened = undefined
        }
        database.onclose = forget
        database.onversionchange = () => {
          database.close()
          forget()
        }
        return database
      },
      (error: unknown) => {
        opened = undefined
        throw error
      },
    )
    return opened
  }

  async function transact(change?: (state: StoredState) => StoredState): Promise<StoredState> {
    const database = await open()
    return new Promise((resolve, reject) => {
      const transaction = change
        ? database.transaction(store, 'readwrite', { durability: 'strict' })
        : database.transaction(store, 'readonly')
      const rows = transaction.objectStore(store)
      const reading = rows.get(name)
      let state: StoredState = {}
      let isChanged = false
      reading.onsuccess = () => {
        const before = (reading.result as StoredState | undefined) ?? {}
        state = change ? change(before) : before
        isChanged = state !== before
        if (isChanged) rows.put(state, name)
      }
      transaction.oncomplete = () => {
        if (isChanged) announce(channelName)
        resolve(state)
      }
      transaction.onabort = () => reject(transaction.error)
    })
  }

  return {
    webLock: channelName,
    read: () => transact(),
    update: transact,
    watch(listener) {
      const channel = new BroadcastChannel(channelName)
      channel.onmessage = () => listener()
      return () => channel.close()
    },
  }
}

function openDatabase(): Promise<Database> {
  const { indexedDB } = globalThis as unknown as { indexedDB: { open(name: string, version: number): Opening } }
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('latchkey', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(store)
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
}

/** To the other tabs, and to other clients of this one. */
function announce(channelName: string): void {
  const channel = new BroadcastChannel(channelName)
  channel.postMessage('changed')
  channel.close()
}
