import { expect, test } from 'vitest'
import type { Grant } from './grant.ts'
import { createGrantBook } from './grant-book.ts'

const grantOf = (namespaces: Grant['namespaces'], more: Partial<Grant> = {}): Grant => ({
  ...{ name: 'g', project_id: 'p1', project: { organization: 'acme', name: 'checkout' } },
  ...{ kinds: ['Account'], scopes: [], roles: [], max_keys: 1, revoke_after: '1h' },
  ...{ namespaces, ...more },
})

function emptyBook() {
  const changes: string[][] = []
  const book = createGrantBook((namespaces) => changes.push([...namespaces].toSorted()))
  return { book, changes }
}

test('a change is reported for the namespaces that the grant had and has', () => {
  const { book, changes } = emptyBook()
  book.put('g', grantOf({ names: ['a', 'b'] }))
  book.put('g', grantOf({ names: ['a', 'b'] }))
  book.put('g', grantOf({ names: ['b', 'c'] }))
  book.put('g', undefined)
  book.put('g', undefined)
  expect(changes).toEqual([
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['b', 'c'],
  ])
  expect([book.grantsFor('b'), [...book.namesOf('p1')]]).toEqual([[], []])
})

test('labels matter only while a grant has a selector', () => {
  const { book, changes } = emptyBook()
  const byLabel = grantOf({ selector: { matchLabels: { team: 'x' } } })
  book.setLabels('a', { team: 'x' })
  book.setLabels('b', {})
  expect([changes, book.hasSelectors()]).toEqual([[], false])
  book.put('g', byLabel)
  book.setLabels('b', { team: 'x' })
  book.setLabels('b', { team: 'x' })
  book.setLabels('a', undefined)
  expect(changes).toEqual([['a'], ['b'], ['a']])
  expect([book.select(byLabel.namespaces), book.labelsOf('a')]).toEqual([['b'], undefined])
})

test('grants are found by namespace and by project', () => {
  const { book } = emptyBook()
  const named = grantOf({ names: ['a', 'a'] })
  const byLabel = grantOf({ selector: {} }, { name: 'h', project: undefined })
  book.put('g', named)
  book.put('h', byLabel)
  expect(book.grantsFor('a')).toEqual([named, byLabel])
  expect(book.grantsFor('b')).toEqual([byLabel])
  expect([...book.namesOf('p1')]).toEqual(['checkout'])
  expect(book.select(named.namespaces)).toEqual(['a'])
  expect(book.all()).toEqual([named, byLabel])
})
