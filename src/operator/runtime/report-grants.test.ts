import { expect, test } from 'vitest'
import { createLogger } from '../../platform/telemetry/index.ts'
import type { ServiceRequest } from '../service/service-client.ts'
import type { Grant } from '../tenancy/grant.ts'
import { createGrantBook } from '../tenancy/grant-book.ts'
import { formatSelector, grantReport, reportGrants } from './report-grants.ts'

/** Runs rounds of ten seconds; `step` changes the world before each, and the last one ends it. */
async function rounds(steps: readonly (() => void)[], serve: () => void = () => undefined) {
  const book = createGrantBook(() => undefined)
  const sent: ServiceRequest[] = []
  const end = new AbortController()
  let [now_ms, at] = [1_000_000, 0]
  const step = () => {
    if (at === steps.length) end.abort()
    else steps[at]?.call(undefined)
    at += 1
  }
  await reportGrants(
    {
      book,
      service: {
        request: async (request) => {
          sent.push(request)
          serve()
          return { status: 200, body: {}, etag: undefined }
        },
      },
      presence: {
        whenAllowed: async () => step(),
        installation: () => ({ id: 'i', cluster: 'c' }),
      },
      areLabelsKnown: () => true,
      timing: {
        clock: { now_ms: () => now_ms },
        sleep: async (ms) => {
          now_ms += ms
        },
        random: () => 0,
      },
      logger: createLogger({ role: 'test', level: 'silent' }),
    },
    end.signal,
  )
  return sent
}

test('a report is sent once, again after a change, and every five minutes', async () => {
  const none = () => undefined
  expect(await rounds([none, none, none])).toHaveLength(1)
  expect(await rounds(Array.from({ length: 31 }, () => none))).toHaveLength(2)
})

test('a report that failed is sent again in the next round', async () => {
  const none = () => undefined
  let failures = 2
  const sent = await rounds([none, none, none, none], () => {
    failures -= 1
    if (failures >= 0) throw new Error('away')
  })
  expect(sent).toHaveLength(3)
  expect(sent[0]).toMatchObject({
    ...{ method: 'PUT', path: '/api/v2/access/installations/i/grants' },
    body: { cluster: 'c', grants: [] },
  })
})

const grantOf = (name: string, namespaces: Grant['namespaces']): Grant => ({
  ...{ name, project_id: `project of ${name}`, project: undefined, namespaces },
  ...{ kinds: ['Account'], scopes: ['tasks:read'], roles: [], max_keys: 1, revoke_after: '1h' },
})

test('a report has the first grants by name with their first namespaces, and all counts', () => {
  const book = createGrantBook(() => undefined)
  const names = Array.from({ length: 60 }, (_, at) => `n${String(60 - at).padStart(2, '0')}`)
  book.put('b', grantOf('b', { names }))
  book.put('a', grantOf('a', { selector: { matchLabels: { team: 'x' } } }))
  book.setLabels('mine', { team: 'x' })
  book.setLabels('yours', { team: 'y' })
  expect(grantReport(book, 'c')).toMatchObject({
    cluster: 'c',
    grants: [
      { name: 'a', namespaces: ['mine'], namespace_count: 1, selector: 'team=x' },
      { name: 'b', namespaces: names.toSorted().slice(0, 50), namespace_count: 60, selector: null },
    ],
  })
  for (let at = 0; at < 1_100; at += 1) book.put(`k${at}`, grantOf(`k${at}`, { names: ['a'] }))
  expect(grantReport(book, 'c').grants).toHaveLength(1_000)
})

test('a selector is written as kubectl writes it', () => {
  expect(formatSelector({})).toBe('')
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'old', operator: 'DoesNotExist' },
    { key: 'team', operator: 'Exists' },
    { key: 'env', operator: 'NotIn', values: ['dev'] },
  ] as const
  const matchLabels = { team: 'x' }
  expect(formatSelector({ matchLabels, matchExpressions })).toBe(
    'team=x,tier in (a,b),!old,team,env notin (dev)',
  )
})
