import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html, json, prose } from './html.ts'

const evil = `<script>alert("x")</script>'&`

test('whatever is put into a template is text, never markup', () => {
  const { text } = html`<p title="${evil}">${evil}</p>`
  assert.equal(text.match(/</g)?.length, 2)
  assert.ok(!/["'&](?!#\d+;)/.test(text.replace('<p title="', '').replace('">', '')), text)
})

test('what came out of a template is put in as it is, also in lists', () => {
  assert.equal(
    html`<ul>${['a', '<'].map((each) => html`<li>${each}</li>`)}</ul>`.text,
    '<ul><li>a</li><li>&#60;</li></ul>',
  )
  assert.equal(html`${false}${undefined}${0}`.text, '0')
})

test('sentences and JSON are escaped too', () => {
  assert.equal(prose('Call `<b>` <now>').text, 'Call <code>&#60;b&#62;</code> &#60;now&#62;')
  for (const value of [evil, { [evil]: [evil] }]) {
    const tags = json(value).text.match(/<[^>]*>/g) ?? []
    assert.deepEqual(
      tags.filter((tag) => !/^<(span class="(key|text|value)"|\/span)>$/.test(tag)),
      [],
    )
  }
})

test('JSON is marked by what it is, and reads as it was', () => {
  const { text } = json({ a: 'x: 1', b: [1.5, true, null] })
  assert.match(text, /<span class="key">&#34;a&#34;:<\/span> <span class="text">&#34;x: 1&#34;<\/span>/)
  assert.match(text, /<span class="value">1.5<\/span>/)
  const plain = text.replace(/<[^>]*>/g, '').replaceAll('&#34;', '"')
  assert.deepEqual(JSON.parse(plain), { a: 'x: 1', b: [1.5, true, null] })
})
