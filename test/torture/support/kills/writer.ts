/** What the clients of the service know, and so what its database must hold. */
import type { Caller } from './caller.ts'

/** A client that writes one thing after the other. */
export interface Writer {
  /** One write. Rejects with NotAnswered if it is not known what became of it. */
  write(): Promise<void>
  /** Finds out what became of the write that was not answered. */
  settle(): Promise<void>
}

export interface Person {
  email: string
  roles: readonly string[]
  /** Logins that were acknowledged. */
  logins: number
  /** Refreshes, each made once however often it was repeated. */
  refreshes: number
}

export interface StoredProduct {
  label: string
  /** All of its values follow from the label and this number, so that a mixture of two changes shows. */
  change: number
  version: number
  isDeleted: boolean
}

/** By id. */
export interface Expected {
  people: Map<number, Person>
  products: Map<number, StoredProduct>
}

export interface WriterParts {
  caller: Caller
  expected: Expected
  /** From 0 to 1. */
  random(): number
}

export const password = 'Correct-horse-9'
/** DEFAULT_ROLES of the service. */
export const defaultRoles = ['viewer']

export function valuesOf({ label, change }: Pick<StoredProduct, 'label' | 'change'>) {
  return {
    name: `${label} ${change}`,
    description: `${label} as of change ${change}`,
    price: (100 + change) / 100,
    category: `category ${change}`,
    stock: change,
  }
}
