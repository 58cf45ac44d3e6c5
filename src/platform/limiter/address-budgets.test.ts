import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressBudgets, type Share } from './address-budgets.ts'
import { createLimitsPerAddress } from './connections-per-address.ts'

const create = () =>
  createAddressBudgets({
    maxBytes: 100,
    subscriptions: createLimitsPerAddress()('subscriptions', 2),
    maxOperations: 2,
  })

test('over the budget the largest is cut off, of that address alone, until the rest fits', () => {
  const budgets = create()
  const cut: string[] = []
  const open = (name: string, address = '198.51.100.1'): Share => budgets.open(address, () => cut.push(name))
  const [small, middle, large] = [open('small'), open('middle'), open('large')]
  const elsewhere = open('elsewhere', '198.51.100.2')
  elsewhere.hold(100)
  small.hold(10)
  middle.hold(30)
  large.hold(60)
  assert.deepEqual(cut, [])
  small.hold(11)
  assert.deepEqual(cut, ['large'])
  assert.equal(small.hasRoomFor(59), true)
  assert.equal(small.hasRoomFor(60), false)
  large.hold(1000)
  assert.deepEqual(cut, ['large'], 'what is cut off does not count any more')
  small.hold(200)
  assert.deepEqual(cut, ['large', 'small'])
  assert.equal(middle.hasRoomFor(70), true)
})

test('for what has to be sent others are cut off, the largest first, and it never is', () => {
  const budgets = create()
  const cut: string[] = []
  const open = (name: string): Share => budgets.open('198.51.100.1', () => cut.push(name))
  const [small, large, sent] = [open('small'), open('large'), open('sent')]
  small.hold(10)
  large.hold(40)
  sent.holdAnyway(60)
  assert.deepEqual(cut, ['large'])
  sent.holdAnyway(1000)
  assert.deepEqual(cut, ['large', 'small'])
  assert.equal(sent.hasRoomFor(1), false)
  sent.close()
  assert.equal(open('next').hasRoomFor(100), true)
})

test('addresses of one /64 have one budget, which is new when all of them have left', () => {
  const budgets = create()
  const [one, two] = ['2001:db8::1', '2001:db8::2'].map((address) => budgets.open(address, () => {})) as [Share, Share]
  assert.equal(one.key, two.key)
  assert.deepEqual([one.addSubscription(), two.addSubscription(), one.addSubscription()], [true, true, false])
  one.removeSubscription()
  assert.equal(two.addSubscription(), true)
  two.close()
  assert.equal(one.addSubscription(), true)
  one.close()
  one.removeSubscription()
  assert.equal(one.addSubscription(), false, 'nothing is taken by what is closed')
  const again = budgets.open('2001:db8::3', () => {})
  assert.deepEqual([again.addSubscription(), again.addSubscription(), again.addSubscription()], [true, true, false])
})

test('operations wait for each other in order; who does not use its turn leaves it to the next', () => {
  const budgets = create()
  const shares = Array.from({ length: 5 }, () => budgets.open('198.51.100.1', () => {}))
  const [a, b, idle, c, d] = shares as [Share, Share, Share, Share, Share]
  const began: string[] = []
  const begin = (share: Share, name: string): boolean => {
    if (!share.hasRoomForOperation(() => begin(share, name))) return false
    share.addOperation()
    began.push(name)
    return false
  }
  begin(a, 'a')
  begin(b, 'b')
  assert.equal(
    idle.hasRoomForOperation(() => false),
    false,
  )
  begin(c, 'c')
  begin(d, 'd')
  assert.deepEqual(began, ['a', 'b'])
  a.close()
  assert.deepEqual(began, ['a', 'b'], 'what is under way outlives its connection')
  a.removeOperation()
  assert.deepEqual(began, ['a', 'b', 'c'])
  b.removeOperation()
  assert.deepEqual(began, ['a', 'b', 'c', 'd'])
})

test('what one connection does with its room may cut off another that waits for it', () => {
  const budgets = create()
  const open = (onCutOff = () => {}) => budgets.open('198.51.100.1', onCutOff)
  const [busy, first] = [open(), open()]
  const second: Share = open(() => second.close())
  busy.addOperation()
  busy.addOperation()
  second.hold(90)
  let asked = 0
  // Its response exceeds the budget of the address, so the largest connection is cut off.
  first.hasRoomForOperation(() => {
    first.hold(20)
    return false
  })
  second.hasRoomForOperation(() => {
    asked += 1
    return true
  })
  busy.removeOperation()
  assert.equal(asked, 0)
  assert.equal(first.hasRoomFor(80), true)
})
