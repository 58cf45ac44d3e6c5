/** Queries and mutations over HTTP, each repeated until it is compiled: the response must stay the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Element, objectType, query } from '../../src/platform/graphql/schema/elements.ts'
import { shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine } from '../support/databases.ts'
import { ask, codeOf, send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { lamp, productsPath, withoutProducts } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const failing: Element[] = [
  objectType({
    name: 'Failing',
    fields: {
      sync: { type: 'String', resolve: fail },
      later: { type: 'String', resolve: async () => fail() },
      odd: {
        type: 'String',
        resolve() {
          throw 'a secret that is no error'
        },
      },
      // Violates its own schema: the message would contain the value.
      count: { type: 'Int', resolve: () => 'a secret that is no number' },
      needed: { type: 'String!', resolve: fail },
      nothing: { type: 'String!', resolve: () => null },
      loaded: {
        type: 'String',
        async load() {
          throw new Error('a secret of the loader')
        },
      },
    },
  }),
  query({ name: 'failing', type: 'Failing', access: 'public' }),
  query({ name: 'broken', type: 'Failing', access: 'public', resolve: fail }),
]

function fail(): never {
  throw new Error('a secret of the resolver')
}

onAnyEngine('GraphQL operations', (engine) => {
  const shared = shareService(startApiWithRoles, { engine, elements: failing })
  /** Without what the tests before have left. */
  const emptied = async () => {
    const api = await withoutProducts(await shared())
    await api.db.write({ sql: 'DELETE FROM posts' })
    return api
  }

  test('createPost is public and returns an integer, and posts are listed by id', async () => {
    const api = await emptied()
    const create = 'mutation ($title: String!, $body: String!) { createPost(title: $title, body: $body) }'
    const ids: unknown[] = []
    for (const title of ['one', 'two', 'three', 'four', 'five']) {
      const { status, body } = await send(api, create, { variables: { title, body: `${title}!` } })
      assert.equal(status, 200)
      assert.ok(Number.isInteger(body.data.createPost), JSON.stringify(body))
      ids.push(body.data.createPost)
    }
    const { data } = await ask(api, '{ posts { id title body } }')
    assert.deepEqual(data.posts[0], { id: String(ids[0]), title: 'one', body: 'one!' })
    assert.equal(data.posts.length, 5)
    const some = await ask(api, 'query ($after: ID, $n: Int) { posts(limit: $n, after: $after) { title } }', {
      variables: { after: ids[1], n: 2 },
    })
    assert.deepEqual(some, { data: { posts: [{ title: 'three' }, { title: 'four' }] } })
    assert.deepEqual(await ask(api, '{ posts(limit: 0) { id } }'), { data: { posts: [] } })
    assert.deepEqual(await ask(api, `{ post(id: ${ids[0]}) { title } }`), { data: { post: { title: 'one' } } })
  })

  test('the rules of posts are those of REST: lengths, unknown ids, wrong limits', async () => {
    const api = await emptied()
    const create = 'mutation ($title: String!, $body: String!) { createPost(title: $title, body: $body) }'
    const tooLong = await ask(api, create, { variables: { title: 'x'.repeat(256), body: 'y'.repeat(65_537) } })
    assert.deepEqual(tooLong.data, { createPost: null })
    assert.deepEqual(tooLong.errors[0].path, ['createPost'])
    assert.equal(codeOf(tooLong), 'BAD_USER_INPUT')
    assert.deepEqual(tooLong.errors[0].extensions.details, {
      title: ['Must be at most 255 characters'],
      body: ['Must be at most 65536 characters'],
    })
    const longest = await send(api, create, { variables: { title: 'x'.repeat(255), body: 'é'.repeat(65_536) } })
    assert.ok(longest.body.data.createPost > 0)
    for (const id of ['999', 'none', '-1', '99999999999999999999']) {
      const response = await ask(api, 'query ($id: ID!) { post(id: $id) { id } }', { variables: { id } })
      assert.deepEqual([response.data, codeOf(response)], [{ post: null }, 'NOT_FOUND'], id)
    }
    const negative = await ask(api, '{ posts(limit: -1) { id } }')
    assert.deepEqual([negative.data, codeOf(negative)], [{ posts: null }, 'BAD_USER_INPUT'])
    assert.deepEqual(negative.errors[0].extensions.details, { limit: ['Must be at least 0'] })
    for (const after of ['9007199254740993', '99999999999999999999999']) {
      assert.deepEqual((await ask(api, `{ posts(after: "${after}") { id } }`)).data, { posts: [] })
    }
    assert.deepEqual((await ask(api, '{ me { id } posts(after: "x") { id } }')).data, { me: null, posts: null })
  })

  test('the policy protects posts: update for editors, delete for administrators', async () => {
    const api = await emptied()
    const { body } = await send(api, 'mutation { createPost(title: "a", body: "b") }')
    const id = body.data.createPost
    const update = `mutation { updatePost(id: ${id}, title: "new") { title body } }`
    const remove = `mutation { deletePost(id: ${id}) }`
    const [viewer, editor, admin] = [await api.signInAs(), await api.signInAs('editor'), await api.signInAs('admin')]

    assert.equal(codeOf(await ask(api, update)), 'UNAUTHENTICATED')
    assert.equal(codeOf(await ask(api, update, { token: viewer.access })), 'FORBIDDEN')
    assert.deepEqual(await ask(api, update, { token: editor.access }), {
      data: { updatePost: { title: 'new', body: 'b' } },
    })
    const blank = await ask(api, `mutation { updatePost(id: ${id}, title: "${'x'.repeat(256)}") { id } }`, {
      token: editor.access,
    })
    assert.equal(codeOf(blank), 'BAD_USER_INPUT')
    assert.equal(
      codeOf(await ask(api, 'mutation { updatePost(id: 999) { id } }', { token: editor.access })),
      'NOT_FOUND',
    )

    assert.equal(codeOf(await ask(api, remove)), 'UNAUTHENTICATED')
    assert.equal(codeOf(await ask(api, remove, { token: editor.access })), 'FORBIDDEN')
    assert.deepEqual((await send(api, remove, { token: admin.access })).body, { data: { deletePost: true } })
    assert.equal(codeOf(await ask(api, remove, { token: admin.access })), 'NOT_FOUND')
  })

  test('me is the bearer of the token, and null for the anonymous', async () => {
    const api = await emptied()
    const user = await api.signInAs('editor')
    assert.deepEqual(await ask(api, '{ me { id email name roles } }'), { data: { me: null } })
    assert.deepEqual(await ask(api, '{ me { id email name roles } }', { token: user.access }), {
      data: { me: { id: String(user.id), email: user.email, name: 'Ada', roles: ['editor'] } },
    })
  })

  test('products have the fields, rules and errors of the REST API', async () => {
    const api = await emptied()
    const { access: token } = await signIn(api)
    const create = `mutation ($input: CreateProductInput!) { createProduct(input: $input) {
      id name slug description price formattedPrice category stock inStock active createdAt updatedAt } }`
    assert.equal(codeOf(await ask(api, create, { variables: { input: lamp } })), 'UNAUTHENTICATED')
    const made = await send(api, create, { variables: { input: { ...lamp, price: 1234.505 } }, token })
    const product = made.body.data.createProduct
    const { body: rest } = await api.get(`${productsPath}/${product.id}`)
    const { formatted_price, in_stock, created_at, updated_at, ...same } = rest.data.attributes
    assert.deepEqual(product, {
      id: String(rest.data.id),
      ...same,
      formattedPrice: formatted_price,
      inStock: in_stock,
      createdAt: created_at,
      updatedAt: updated_at,
    })
    assert.equal(product.price, 1234.51)

    const broken = await ask(api, create, { variables: { input: { name: 'x', price: 0, stock: -1 } }, token })
    assert.equal(codeOf(broken), 'BAD_USER_INPUT')
    const { body: restBroken } = await api.post(`${productsPath}/`, { name: 'x', price: 0, stock: -1 }, token)
    assert.deepEqual(broken.errors[0].extensions.details, restBroken.details)

    const update =
      'mutation ($id: ID!, $input: UpdateProductInput!) { updateProduct(id: $id, input: $input) { name slug active } }'
    assert.deepEqual(
      await ask(api, update, { variables: { id: product.id, input: { name: 'Floor Lamp', active: false } }, token }),
      { data: { updateProduct: { name: 'Floor Lamp', slug: 'floor-lamp', active: false } } },
    )
    const unknown = await ask(api, update, { variables: { id: '999', input: {} }, token })
    assert.deepEqual([codeOf(unknown), unknown.errors[0].message], ['NOT_FOUND', 'Product not found'])

    const list = '{ products(perPage: 1) { data { name } meta { total page perPage lastPage truncated } } }'
    assert.deepEqual((await ask(api, list)).data.products, {
      data: [{ name: 'Floor Lamp' }],
      meta: { total: 1, page: 1, perPage: 1, lastPage: 1, truncated: false },
    })
    assert.deepEqual((await ask(api, '{ products(q: "LAMP") { data { name } meta { total page } } }')).data.products, {
      data: [],
      meta: { total: 0, page: null },
    })

    const remove = `mutation { deleteProduct(id: ${product.id}) }`
    assert.equal(codeOf(await ask(api, remove)), 'UNAUTHENTICATED')
    assert.deepEqual((await send(api, remove, { token })).body, { data: { deleteProduct: true } })
    assert.equal(codeOf(await ask(api, remove, { token })), 'NOT_FOUND')
    const gone = await ask(api, `{ product(id: ${product.id}) { id } }`)
    assert.deepEqual([gone.data, codeOf(gone)], [{ product: null }, 'NOT_FOUND'])
  })

  test('products.write_permission applies here too', async (t) => {
    const config = createConfig(t, { products: 'products { write_permission = "products.write" }' })
    const api = await startApiWithRoles(t, { engine, config })
    const { access: token } = await signIn(api)
    const admin = await api.signInAs('admin')
    for (const operation of [
      'createProduct(input: {}) { id }',
      'updateProduct(id: 1, input: {}) { id }',
      'deleteProduct(id: 1)',
    ]) {
      assert.equal(codeOf(await ask(api, `mutation { ${operation} }`)), 'UNAUTHENTICATED', operation)
      assert.equal(codeOf(await ask(api, `mutation { ${operation} }`, { token })), 'FORBIDDEN', operation)
      const code = codeOf(await ask(api, `mutation { ${operation} }`, { token: admin.access }))
      assert.ok(code === 'BAD_USER_INPUT' || code === 'NOT_FOUND', operation)
    }
  })

  test('variables are coerced by the schema, and errors in them are reported', async () => {
    const api = await emptied()
    const posts = 'query ($n: Int!) { posts(limit: $n) { id } }'
    for (const variables of [{}, { n: null }, { n: 'many' }, { n: 1.5 }, { n: 2 ** 40 }]) {
      const body = await ask(api, posts, { variables })
      assert.ok(!('data' in body), JSON.stringify(body))
      assert.equal(codeOf(body), 'BAD_USER_INPUT')
      assert.match(body.errors[0].message, /\$n/)
    }
    const update = 'mutation ($i: UpdateProductInput!) { updateProduct(id: 1, input: $i) { id } }'
    for (const i of ['text', { nme: 'x' }, { stock: '1' }, [], null]) {
      assert.equal(codeOf(await ask(api, update, { variables: { i } })), 'BAD_USER_INPUT', JSON.stringify(i))
    }
    const optional = 'query ($yes: Boolean = true) { posts @include(if: $yes) { id } }'
    assert.deepEqual(await ask(api, optional), { data: { posts: [] } })
    assert.equal(codeOf(await ask(api, optional, { variables: { yes: null } })), 'BAD_USER_INPUT')
  })

  test('a non-null variable with a default value always gets the default', async () => {
    const api = await emptied()
    await send(api, 'mutation { a: createPost(title: "a", body: "") b: createPost(title: "b", body: "") }')
    const posts = 'query ($n: Int! = 1) { posts(limit: $n) { title } }'
    assert.deepEqual(await ask(api, posts), { data: { posts: [{ title: 'a' }] } })
    const both = [{ title: 'a' }, { title: 'b' }]
    assert.deepEqual(await ask(api, posts, { variables: { n: 2 } }), { data: { posts: both } })
  })

  test('aliases, fragments, directives and several operations work, compiled or not', async () => {
    const api = await emptied()
    const made = await send(api, 'mutation { createPost(title: "a", body: "b") }')
    const id = String(made.body.data.createPost)
    const document = `query A($yes: Boolean!) { first: posts(limit: 1) { ...Parts @include(if: $yes) kind: __typename }
        second: posts { ... on Post { title @skip(if: $yes) } id } }
      query B { posts { id } }
      fragment Parts on Post { title body }`
    for (const yes of [true, false, true]) {
      const { data } = await ask(api, document, { operationName: 'A', variables: { yes } })
      assert.deepEqual(data, {
        first: [yes ? { title: 'a', body: 'b', kind: 'Post' } : { kind: 'Post' }],
        second: [yes ? { id } : { title: 'a', id }],
      })
    }
    assert.deepEqual(await ask(api, document, { operationName: 'B' }), { data: { posts: [{ id }] } })
    assert.equal(codeOf(await ask(api, document)), 'OPERATION_RESOLUTION_FAILURE')
    assert.equal(codeOf(await ask(api, document, { operationName: 'C' })), 'OPERATION_RESOLUTION_FAILURE')
  })

  test('an unexpected error is masked, wherever it happens, and its cause is logged', async () => {
    const api = await shared()
    for (const [document, data] of [
      ['{ failing { sync } }', { failing: { sync: null } }],
      ['{ failing { later } }', { failing: { later: null } }],
      ['{ failing { odd } }', { failing: { odd: null } }],
      ['{ failing { count } }', { failing: { count: null } }],
      ['{ failing { needed } }', { failing: null }],
      ['{ failing { nothing } }', { failing: null }],
      ['{ broken { sync } }', { broken: null }],
      ['{ failing { loaded } }', { failing: { loaded: null } }],
    ] as const) {
      const body = await ask(api, document)
      assert.deepEqual(body.data, data, document)
      assert.deepEqual(
        [body.errors[0].message, body.errors[0].extensions, body.errors.length],
        ['Internal server error', { code: 'INTERNAL_SERVER_ERROR' }, 1],
        document,
      )
      assert.ok(!JSON.stringify(body).includes('secret'), document)
    }
    assert.ok(api.log.some((line) => line.includes('a secret of the resolver')))
    assert.ok(api.log.some((line) => line.includes('a secret of the loader')))
  })
})
