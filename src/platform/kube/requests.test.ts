import { expect, test } from 'vitest'
import { resourceName, resourcePath, withQuery } from './requests.ts'

const things = { group: 'example.com', version: 'v1', plural: 'things' }
const secrets = { group: '', version: 'v1', plural: 'secrets' }

test.each([
  [{ ...secrets }, '/api/v1/secrets', 'secrets'],
  [{ ...secrets, namespace: 'a', name: 'b' }, '/api/v1/namespaces/a/secrets/b', 'secrets'],
  [{ ...things, namespace: '', name: 'b' }, '/apis/example.com/v1/things/b', 'things.example.com'],
  [{ ...things, namespace: 'a' }, '/apis/example.com/v1/namespaces/a/things', 'things.example.com'],
  [
    { ...things, namespace: 'a', name: 'b', subresource: 'status' },
    '/apis/example.com/v1/namespaces/a/things/b/status',
    'things.example.com/status',
  ],
  [
    { ...secrets, namespace: 'a/../b', name: 'c?d' },
    '/api/v1/namespaces/a%2F..%2Fb/secrets/c%3Fd',
    'secrets',
  ],
])('%o', (target, path, name) => {
  expect(resourcePath(target)).toBe(path)
  expect(resourceName(target)).toBe(name)
})

test('a query leaves out undefined values', () => {
  expect(withQuery('/x', { limit: 5, continue: undefined, labelSelector: 'a=b' })).toBe(
    '/x?limit=5&labelSelector=a%3Db',
  )
  expect(withQuery('/x', { continue: undefined })).toBe('/x')
})
