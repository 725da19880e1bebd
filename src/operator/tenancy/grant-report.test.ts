import { expect, test } from 'vitest'
import type { Grant } from './grant.ts'
import { createGrantBook } from './grant-book.ts'
import { formatSelector, grantReport } from './grant-report.ts'

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
