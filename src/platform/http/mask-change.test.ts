import { expect, test } from 'vitest'
import { createRefusalLimit } from './audited-routes.ts'
import { maskChange } from './mask-change.ts'

test('masks secrets, contents and addresses of receivers, at any depth', () => {
  const body = {
    ...{ name: 'pager', enabled: true, limit: 5, password: 'p', api_key: 'k', pin: 1234 },
    target: { url: 'https://user:pw@hooks.example.com/services/T0/secret?x=1', routing_key: 'r' },
    headers: { 'x-anything': 'secret' },
    documents: [{ title: 'Prices', content: 'x'.repeat(9_000) }],
    description: 'x'.repeat(300),
    secrets: ['a', 'b'],
  }
  const masked = maskChange(body, ['pin'])
  expect(masked).toEqual({
    ...{ name: 'pager', enabled: true, limit: 5, password: '[masked]', api_key: '[masked]' },
    pin: '[masked]',
    target: { url: 'https://hooks.example.com/[masked]', routing_key: '[masked]' },
    headers: { 'x-anything': '[masked]' },
    documents: [{ title: 'Prices', content: '[9000 characters]' }],
    description: '[300 characters]',
    secrets: '[masked]',
  })
})

test('cuts large and deep values', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`)
  expect(JSON.stringify(maskChange(deep)).length).toBeLessThan(100)
  const long = Array.from({ length: 1_000 }, (_, at) => at)
  expect(maskChange(long)).toHaveLength(51)
})

test('refused calls beyond the limit of an actor and minute are counted', () => {
  const limit = createRefusalLimit(2)
  const taken = [0, 1, 2, 3].map(() => limit.take('a', 0).allowed)
  expect(taken).toEqual([true, true, false, false])
  expect(limit.take('b', 0)).toEqual({ allowed: true, suppressed: 0 })
  expect(limit.take('a', 60_000)).toEqual({ allowed: true, suppressed: 2 })
  expect(limit.take('a', 60_000)).toEqual({ allowed: true, suppressed: 0 })
  expect(limit.take('a', 60_000, 5)).toEqual({ allowed: false, suppressed: 0 })
  expect(limit.take('a', 120_000)).toEqual({ allowed: true, suppressed: 6 })
})
