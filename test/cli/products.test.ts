/** products:import, products:export and products:seed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { signIn } from '../support/people.ts'
import type { Ended } from '../support/process.ts'
import { productsPath } from '../support/products.ts'

const header = 'name,description,price'

/** A database, a folder, and the commands on them. */
async function createShop(t: TestContext, engine: 'sqlite' | 'postgres' = 'sqlite') {
  const env = { DATABASE_URL: await createDatabaseUrl(t, engine, { isMigrated: true }) }
  const folder = temporaryFolder(t)
  const run = (args: string[], input?: string) =>
    runLoaded(args, { env, cwd: folder, ...(input !== undefined && { input }) })
  const file = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const exported = async () => {
    const { code, stdout, stderr } = await run(['products:export', '--format', 'ndjson'])
    assert.equal(code, 0, stderr)
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }
  return { env, folder, run, file, exported }
}

function assertRefused(ended: Ended, code: number, line: RegExp): void {
  assert.equal(ended.code, code, ended.stderr)
  assert.match(ended.stderr, /^latchkey: [^\n]*\n$/)
  assert.match(ended.stderr, line)
}

const awkward = [
  { name: 'Plain Lamp', description: 'Bright', price: 1234.5, category: 'home', stock: 3, active: true },
  { name: '=1+1', description: '=cmd|"x"', price: 0.01, category: '+a', stock: 0, active: false },
  {
    name: ' "Quoted", too ',
    description: 'one\ntwo\r\nthree\r',
    price: 99999999.99,
    category: 'a,b',
    stock: 2147483647,
  },
  { name: 'Füße 😀 Ω\tŚ', description: '"', price: 5, category: 'ünï', stock: 1, active: true },
  { name: "O'Neill; --", description: '\\n {"a": [1]} $1', price: 19.99, category: 'general', stock: 7, active: true },
  { name: 'Without words', description: '', price: 1, category: 'general', stock: 0, active: true },
]

onAnyEngine('products:import and products:export', (engine) => {
  test('bring products in by both formats, take them out again, and they are the same', async (t) => {
    const { run, file, exported, folder } = await createShop(t, engine)
    const path = file('in.jsonl', awkward.map((product) => JSON.stringify(product)).join('\n'))
    const imported = await run(['products:import', path])
    assert.equal(imported.code, 0, imported.stderr)
    assert.match(imported.stdout, /^imported 6 products, skipped 0, in \d+\.\d s\n$/)
    assert.equal(imported.stderr, '')
    const wanted = awkward.map((product) => ({ active: true, ...product }))
    const fields = ({ name, description, price, category, stock, active }: (typeof wanted)[number]) => ({
      name,
      description,
      price,
      category,
      stock,
      active,
    })
    const first = await exported()
    assert.deepEqual(first.map(fields), wanted.map(fields))
    assert.deepEqual(
      first.map(({ id }) => id),
      [1, 2, 3, 4, 5, 6],
    )

    for (const name of ['out.csv', 'out.ndjson']) {
      assert.equal((await run(['products:export', '--output', join(folder, name)])).code, 0)
      const again = await createShop(t, engine)
      assert.equal((await again.run(['products:import', join(folder, name)])).code, 0)
      const copies = await again.exported()
      assert.deepEqual(copies.map(fields), wanted.map(fields), name)
      assert.deepEqual(
        copies.map(({ slug }) => slug),
        first.map(({ slug }) => slug),
      )
    }
    const csv = readFileSync(join(folder, 'out.csv'), 'utf8')
    assert.match(csv, /^id,name,slug,description,price,category,stock,active,created_at,updated_at\n/)
    assert.match(csv, /\n1,Plain Lamp,plain-lamp,Bright,1234\.50,home,3,true,20[^,]+Z,20[^,]+Z\n/)
    assert.match(csv, /\n5,"O'Neill; --",o-neill,[^\n]*,19\.99,general,7,true,/)
  })

  test('write no spreadsheet formulas, and import every text unchanged', async (t) => {
    const { run, file, exported, folder } = await createShop(t, engine)
    const names = ['=1+1', '+1 800', '-5 off', '@sum(a1)', "'=1+1", "''-x", "it's", '\tlamp', '=HYPERLINK("http://x")']
    const descriptions = [...names.slice(1), `=${'x'.repeat(100_000)}`]
    const products = names.map((name, i) => ({ name, description: descriptions[i], price: 1, category: names[8 - i] }))
    const path = file('in.ndjson', products.map((product) => JSON.stringify(product)).join('\n'))
    assert.equal((await run(['products:import', path])).code, 0)
    const texts = (rows: { name: string; description: string; category: string }[]) =>
      rows.map(({ name, description, category }) => ({ name, description, category }))
    const first = texts(await exported())
    assert.deepEqual(first, texts(products as Parameters<typeof texts>[0]))
    for (const options of [[], ['--exact']]) {
      const out = join(folder, `out${options.length}.csv`)
      assert.equal((await run(['products:export', '--output', out, ...options])).code, 0)
      const cells = readFileSync(out, 'utf8')
      assert.equal(/(^|,)"?[=@+-]/m.test(cells), options.length > 0)
      const again = await createShop(t, engine)
      assert.equal((await again.run(['products:import', out, ...options])).code, 0)
      assert.deepEqual(texts(await again.exported()), first)
    }
  })

  test('imported products are served, searched and counted; deleted ones are not exported', async (t) => {
    const { run, file, env, exported } = await createShop(t, engine)
    const rows = Array.from({ length: 500 }, (_, i) => `Item ${i + 1},Something,${i + 1}.005`)
    const path = file('many.csv', [header, ...rows].join('\r\n'))
    const imported = await run(['products:import', path])
    assert.equal(imported.code, 0, imported.stderr)
    const api = await startApi(t, { engine, env })
    const page = await api.get(`${productsPath}?page=5&per_page=100`)
    assert.equal(page.body.meta.total, 500)
    assert.equal(page.body.data[99].attributes.name, 'Item 500')
    assert.equal(page.body.data[99].attributes.price, 500.01)
    assert.equal((await api.get(`${productsPath}?q=tem+499`)).body.meta.total, 1)
    const { access } = await signIn(api)
    assert.equal((await api.delete(`${productsPath}/500`, access)).status, 204)
    assert.equal((await exported()).length, 499)
  })

  test('invalid rows are reported with their line and skipped, the rest is imported', async (t) => {
    const { run, file, exported } = await createShop(t, engine)
    const path = file(
      'some.csv',
      [
        `${header},stock,active`,
        '"Two',
        'lines",good,1,,',
        'A,short name,1,,',
        'Cheap,"a',
        'b",0.001,-1,maybe',
        'Broken,row',
        'Last,good,2,5,FALSE',
      ].join('\n'),
    )
    const { code, stdout, stderr } = await run(['products:import', path])
    assert.equal(code, 65)
    assert.match(stdout, /^imported 2 products, skipped 3, in /)
    assert.deepEqual(stderr.split('\n'), [
      'line 4: name: Must be between 2 and 255 characters',
      'line 5: price: Must be at least 0.01; stock: Must be at least 0; active: Must be true or false',
      'line 7: has 2 fields, where the header has 5',
      '',
    ])
    assert.deepEqual(
      (await exported()).map(({ name, stock, active, category }) => ({ name, stock, active, category })),
      [
        { name: 'Two\nlines', stock: 0, active: true, category: 'general' },
        { name: 'Last', stock: 5, active: false, category: 'general' },
      ],
    )
  })
})

test('in NDJSON values have JSON types, and a line that is not an object is an invalid row', async (t) => {
  const { run, file } = await createShop(t)
  const path = file(
    'rows.ndjson',
    [
      '{"name":"Lamp","description":"x","price":1.00499999999999999999}',
      '{"name":"Lamp","description":"x","price":"1"}',
      '{"name":',
      '[1]',
      '',
      '{"name":7,"price":1,"active":"true"}',
    ].join('\r\n'),
  )
  const { code, stdout, stderr } = await run(['products:import', path])
  assert.equal(code, 65)
  assert.match(stdout, /^imported 1 product, skipped 4/)
  assert.deepEqual(stderr.split('\n'), [
    'line 2: price: Must be a number',
    'line 3: not a JSON object',
    'line 4: not a JSON object',
    'line 6: name: Must be a string; description: Must not be blank; active: Must be true or false',
    '',
  ])
})

test('of many invalid rows the first are shown and the rest are counted', async (t) => {
  const { run, file } = await createShop(t)
  const path = file('bad.csv', `${header}\n${'x,y,1\n'.repeat(1100)}`)
  const ended = await run(['products:import', path])
  const lines = ended.stderr.trimEnd().split('\n')
  assert.equal(lines.length, 21)
  assert.equal(lines.at(-1), '… and 1,080 more')
  assert.match(ended.stdout, /^imported 0 products, skipped 1,100/)
  const fewer = await run(['products:import', path, '--again', '--max-errors', '2'])
  assert.equal(fewer.stderr.split('\n').length, 4)
})

test('--strict imports all or nothing', async (t) => {
  const { run, file, exported } = await createShop(t)
  const bad = await run(['products:import', '--strict', file('a.csv', `${header}\nLamp,x,1\n ,x,1\n`)])
  assert.equal(bad.code, 65)
  assert.equal(bad.stderr, 'line 3: name: Must not be blank\nlatchkey: 1 row is wrong; nothing was imported\n')
  assert.deepEqual(await exported(), [])
  const good = await run(['products:import', '--strict', file('b.csv', `${header}\nLamp,x,1\n`)])
  assert.equal(good.code, 0, good.stderr)
  assert.equal((await exported()).length, 1)
  assertRefused(await run(['products:import', '--strict', '--format', 'csv', '-'], header), 64, /--strict .*twice/)
})

test('standard input is read if the format is given', async (t) => {
  const { run, exported } = await createShop(t)
  assertRefused(await run(['products:import', '-'], ''), 64, /say --format csv or --format ndjson/)
  const ended = await run(
    ['products:import', '-', '--format', 'csv', '--delimiter', '\\t'],
    'price\tname\tdescription\n1\tLamp\tx,y',
  )
  assert.equal(ended.code, 0, ended.stderr)
  assert.equal((await exported())[0].description, 'x,y')
})

test('a file that was imported is refused under any name, unless --again is given', async (t) => {
  const { run, file, exported } = await createShop(t)
  const text = `${header}\nLamp,x,1\n`
  const path = file('a.csv', text)
  assert.equal((await run(['products:import', path])).code, 0)
  for (const again of [path, file('copy.csv', text)]) {
    assertRefused(
      await run(['products:import', again]),
      1,
      /was imported on 20\d\d-\d\d-\d\d at .*; --again imports it once/,
    )
  }
  assert.equal((await run(['products:import', path, '--again'])).code, 0)
  assert.equal((await exported()).length, 2)
  assertRefused(await run(['products:import', path]), 1, /--again/)
})

test('a file that contains no products: one clear line, and nothing is imported', async (t) => {
  const { run, file, folder, exported } = await createShop(t)
  mkdirSync(join(folder, 'folder.csv'))
  assertRefused(await run(['products:import', 'nothing.csv']), 66, /cannot read nothing\.csv: there is no such file/)
  assertRefused(await run(['products:import', 'folder.csv']), 66, /cannot read folder\.csv: it is a folder/)
  assertRefused(await run(['products:import', file('a.txt', '')]), 64, /a\.txt ends neither in \.csv/)
  assertRefused(await run(['products:import', file('a.csv', '')]), 65, /the file is empty/)
  assertRefused(await run(['products:import', file('b.csv', 'name,price\nLamp,1\n')]), 65, /has no column description/)
  assertRefused(await run(['products:import', 'b.csv', '--delimiter', ';;']), 64, /one ASCII character/)
  assertRefused(await run(['products:import', 'b.csv', '--format', 'xml']), 64, /--format/)
  assert.deepEqual(await exported(), [])
})

test('the disk is full during an import: one clear line, and the next run resumes', async (t) => {
  const { run, file, exported, env } = await createShop(t)
  const rows = Array.from({ length: 6000 }, (_, i) => `Item ${i},${'text '.repeat(10)},1`)
  const path = file('many.csv', [header, ...rows].join('\n'))
  // Limits the file size of this process, so that writing fails as on a full disk.
  const limited = spawnSync('sh', ['-c', `ulimit -f 3000; exec "${root}/bin/latchkey" products:import "${path}"`], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  })
  assert.equal(limited.status, 69, limited.stderr)
  assert.match(
    limited.stderr,
    /^latchkey: the database failed: [^\n]*; [\d,]+ products of this run are kept; run the same/m,
  )
  const kept = (await exported()).length
  assert.ok(kept > 0 && kept < rows.length, `${kept} products`)
  const resumed = await run(['products:import', path])
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.match(resumed.stdout, /\(in all 6,000 imported, 0 skipped\)\n$/)
  assert.equal(new Set((await exported()).map(({ name }) => name)).size, rows.length)
})

test('an export file is complete or absent, and replaces nothing without --force', async (t) => {
  const { run, folder, file, env } = await createShop(t)
  assert.equal((await run(['products:seed', '--count', '1500'])).code, 0)
  const path = file('out.csv', 'precious')
  assertRefused(await run(['products:export', '--output', path]), 73, /out\.csv: it exists; --force replaces it/)
  assert.equal(readFileSync(path, 'utf8'), 'precious')
  assertRefused(
    await run(['products:export', '--output', join(folder, 'no', 'x.csv')]),
    73,
    /cannot write .*x\.csv: ENOENT/,
  )
  const limited = spawnSync(
    'sh',
    ['-c', `ulimit -f 200; exec "${root}/bin/latchkey" products:export --force --output "${path}"`],
    {
      env: { PATH: process.env.PATH ?? '', ...env },
      encoding: 'utf8',
    },
  )
  assert.equal(limited.status, 73, limited.stderr)
  assert.match(limited.stderr, /^latchkey: cannot write .*out\.csv: [^\n]*\n$/m)
  assert.equal(readFileSync(path, 'utf8'), 'precious')
  symlinkSync(path, join(folder, 'link.csv'))
  assert.equal((await run(['products:export', '--force', '--output', join(folder, 'link.csv')])).code, 0)
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 1502)
  assert.deepEqual(readdirSync(folder).sort(), ['link.csv', 'out.csv'], 'nothing half-written is left behind')
})

test('an export to a closed pipe ends quietly', async (t) => {
  const { run, env } = await createShop(t)
  assert.equal((await run(['products:seed', '--count', '1500', '--quiet'])).code, 0)
  const { stdout, stderr } = spawnSync('sh', ['-c', `"${root}/bin/latchkey" products:export | head -n 2`], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  })
  assert.equal(stdout.split('\n').length, 3)
  assert.equal(stderr, '')
})

test('generated products are the same for the same seed', async (t) => {
  const shops = await Promise.all([createShop(t), createShop(t), createShop(t)])
  const made = await Promise.all(
    shops.map(async ({ run, exported }, i) => {
      const ended = await run(['products:seed', '--count', '300', ...(i === 2 ? ['--seed', '2'] : [])])
      assert.equal(ended.code, 0, ended.stderr)
      assert.match(ended.stdout, /^made 300 products in \d+\.\d s\n$/)
      return (await exported()).map(({ created_at, updated_at, ...product }) => product)
    }),
  )
  assert.deepEqual(made[0], made[1])
  assert.notDeepEqual(made[0], made[2])
  assert.match(made[0]?.[0]?.name, /^[A-Z][a-z]+ [A-Z][a-z]+ [A-Z][A-Za-z ]+ 1$/)
  assert.ok(new Set(made[0]?.map(({ category }) => category)).size > 3)
})

test('products:seed generates the given number, and refuses to in production', async (t) => {
  const { run, env, folder } = await createShop(t)
  assertRefused(await run(['products:seed']), 64, /required option '--count <n>'/)
  assertRefused(await run(['products:seed', '--count', 'x']), 64, /must be a whole number/)
  for (const count of ['0', '10000001']) {
    assertRefused(await run(['products:seed', '--count', count]), 64, /--count must be from 1 to 10,000,000/)
  }
  const production = { ...env, NODE_ENV: 'production' }
  assertRefused(await runLoaded(['products:seed', '--count', '1'], { env: production, cwd: folder }), 64, /--force/)
  const forced = await runLoaded(['products:seed', '--count', '1', '--force'], { env: production, cwd: folder })
  assert.equal(forced.code, 0, forced.stderr)
  assert.ok(!existsSync(join(folder, 'data')))
})
