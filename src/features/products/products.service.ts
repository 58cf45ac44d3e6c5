/** The business rules of products, shared by REST, GraphQL and pages. */
import { hash } from 'node:crypto'
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import { offsetOf, type Page } from '../../platform/http/paging.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import type { DescriptionStore } from './descriptions.store.ts'
import { etagOfProduct, type Product, type ProductChange, type ProductInput, toSlug } from './product.ts'
import type { Actor } from './product-changes.store.ts'
import { briefColumns } from './product-columns.store.ts'
import type { ProductSearch } from './products.search.ts'
import type { ProductStore } from './products.store.ts'

export const productErrors = {
  notFound: () => new AppError(404, 'Product not found'),
  changed: () => new AppError(412, 'Product has changed'),
  keyUsed: () => validationFailed({ idempotency_key: ['Was used with another body'] }),
}

export interface ProductsDeps {
  store: ProductStore
  /** Without descriptions. */
  briefSearch: ProductSearch
  descriptions: DescriptionStore
  clock: Clock
  /** 0 means no limit. */
  collectionLimit: number
  /** Called before the response is sent. */
  onCreated(product: Product): Promise<void>
  /** Called after every committed change. */
  onChanged(): void
}

export interface Collection {
  products: Product[]
  /** There are more than `products.collection_limit`. */
  isCut: boolean
}

export interface Wanted {
  /** A part of the name. */
  q: string | undefined
  category: string | undefined
}

/** The If-Match condition: whether this ETag is the one that the client expects. */
export type Expectation = ((etag: string) => boolean) | undefined

export interface Changing {
  by: Actor
  isExpected?: Expectation
}

const keyTtlSeconds = 24 * 3600
const maxKeyLength = 255

/** A retry after an upgrade must have the same hash, so a new field that is not given, and hence blank, is left out. */
const omitBlank = (_name: string, value: unknown) => (value === '' ? undefined : value)

/** A client's idempotency key. Throws 422 if it is too long. */
export function requireKeyLength(key: string): string {
  if (key.length <= maxKeyLength) return key
  throw validationFailed({ idempotency_key: [`Must be at most ${maxKeyLength} characters`] })
}

export function createProducts(deps: ProductsDeps) {
  return { ...createReads(deps), ...createCreation(deps), ...createChanges(deps) }
}

export type Products = ReturnType<typeof createProducts>

function createReads({ store, briefSearch, descriptions, collectionLimit }: ProductsDeps) {
  const limit = collectionLimit === 0 ? Number.MAX_SAFE_INTEGER : collectionLimit + 1
  return {
    get: (id: number | undefined) => getProduct(store, id),

    listBrief: (page: Page) => store.list({ before: offsetOf(page), limit: page.perPage }, briefColumns),

    listNewest: (page: Page) => store.listNewest({ before: offsetOf(page), limit: page.perPage }),

    measureDescriptions: descriptions.measure,
    readDescriptions: descriptions.read,

    listCategories: (limit: number) => store.listCategories(limit),
    /** Categories to suggest, the most used ones first. A few milliseconds, whatever the number of products. */
    suggestCategories: () => store.listUsedCategories({ limit: 50, looked: 200, counted: 50 }),

    /** The first results of a search, a category, or both, in the order of collections and without descriptions. */
    async find({ q, category, limit: most }: Wanted & { limit: number }): Promise<Product[]> {
      if (q !== undefined) return briefSearch.byName(q, most, category)
      return category === undefined ? [] : briefSearch.byCategory(category, most)
    },

    /** A search or a category without descriptions, with at most `most` products. */
    async collectBrief({ q, category = '' }: Wanted, most: number): Promise<Collection> {
      const enough = Math.min(limit, most + 1)
      const found = await (q === undefined ? briefSearch.byCategory(category, enough) : briefSearch.byName(q, enough))
      return found.length === enough ? { products: found.slice(0, -1), isCut: true } : { products: found, isCut: false }
    },

    /** Returns a product whose deletion can be undone. */
    findDeleted: async (id: number | undefined) => (id === undefined ? undefined : store.findDeleted(id)),
  }
}

function createCreation({ store, clock, onCreated, onChanged }: ProductsDeps) {
  async function create(input: ProductInput, by: Actor): Promise<Product> {
    return notifyCreated(await store.insert(input, by))
  }

  async function notifyCreated(product: Product): Promise<Product> {
    onChanged()
    await onCreated(product)
    return product
  }

  /** Idempotent per user and key, also in parallel. Throws 422 if the key was used with another input. */
  async function createOnce(input: ProductInput, { userId, key }: { userId: number; key: string }): Promise<Product> {
    const id = hash('sha256', `${userId} ${key}`, 'hex')
    const bodyHash = hash('sha256', JSON.stringify(input, omitBlank), 'hex')
    const made = await store.insertOnce(input, {
      id,
      bodyHash,
      expiresAt: clock.nowSeconds() + keyTtlSeconds,
      by: userId,
    })
    if (made) return notifyCreated(made)
    const before = await store.findIdempotent(id)
    // The key expired between the two statements.
    if (!before) return createOnce(input, { userId, key })
    if (before.body_hash !== bodyHash) throw productErrors.keyUsed()
    // Repeats the first response, even if the product has changed since.
    const { product_id, created_at } = before
    const slug = toSlug(input.name)
    return { ...input, id: product_id, slug, active: true, version: 1, created_at, updated_at: created_at }
  }

  return { create, createOnce }
}

function createChanges({ store, onChanged }: ProductsDeps) {
  /** Returns the version for the UPDATE's condition, so that of two parallel changes one fails. Null means any. */
  async function expect(id: number, isExpected: Expectation): Promise<number | null> {
    if (!isExpected) return null
    const key = await store.findKey(id)
    if (!key) throw productErrors.notFound()
    if (!isExpected(etagOfProduct(key))) throw productErrors.changed()
    return key.version
  }

  /** The statement found no row: the product has changed, or does not exist. It may be there again by now. */
  async function refuse(id: number, version: number | null): Promise<never> {
    const hasChanged = version !== null && (await store.findKey(id)) !== undefined
    throw hasChanged ? productErrors.changed() : productErrors.notFound()
  }

  return {
    async update(id: number | undefined, change: ProductChange, { by, isExpected }: Changing): Promise<Product> {
      if (id === undefined) throw productErrors.notFound()
      const version = await expect(id, isExpected)
      if (Object.keys(change).length === 0) return getProduct(store, id)
      const product = (await store.update(id, change, { version, by })) ?? (await refuse(id, version))
      onChanged()
      return product
    },

    async delete(id: number | undefined, { by, isExpected }: Changing): Promise<void> {
      if (id === undefined) throw productErrors.notFound()
      const version = await expect(id, isExpected)
      if (!(await store.delete(id, { version, by }))) await refuse(id, version)
      onChanged()
    },

    /** Undoes a deletion. Idempotent. */
    async restore(id: number | undefined, by: Actor): Promise<Product> {
      if (id === undefined) throw productErrors.notFound()
      const product = await store.restore(id, by)
      if (!product) return getProduct(store, id)
      onChanged()
      return product
    },
  }
}

async function getProduct(store: ProductStore, id: number | undefined): Promise<Product> {
  const product = id === undefined ? undefined : await store.find(id)
  if (!product) throw productErrors.notFound()
  return product
}
