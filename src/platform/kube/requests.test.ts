import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WatchEvent } from './kube-client.ts'
import { resourceName, resourcePath, watchEvents, withQuery } from './requests.ts'

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

function line(type: string, name: string, version: string): string {
  const metadata = { name, resourceVersion: version, managedFields: [{ manager: 'x' }] }
  return `${JSON.stringify({ type, object: { metadata } })}\n`
}

async function eventsOf(chunks: readonly Uint8Array[]): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  const body = (async function* () {
    yield* chunks
  })()
  for await (const event of watchEvents(body)) events.push(event)
  return events
}

const text =
  line('ADDED', 'ä', '1') +
  line('MODIFIED', '💡', '2') +
  line('BOOKMARK', '', '9') +
  line('DELETED', 'c', '10')

test('events are the same wherever the bytes are cut', async () => {
  const bytes = new TextEncoder().encode(text)
  const whole = await eventsOf([bytes])
  expect(whole.map((event) => event.type)).toEqual(['changed', 'changed', 'bookmark', 'deleted'])
  expect(whole[1]).toEqual({
    type: 'changed',
    // An object without a namespace is cluster-scoped.
    object: { metadata: { name: '💡', namespace: '', resourceVersion: '2' } },
  })
  expect(whole[2]).toEqual({ type: 'bookmark', resource_version: '9' })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end))
      expect(await eventsOf(chunks)).toEqual(whole)
    }),
  )
})

test('an unfinished line is dropped', async () => {
  const bytes = new TextEncoder().encode(`${text}{"type":"ADDED","obj`)
  expect(await eventsOf([bytes])).toHaveLength(4)
})

test('an event of an unknown type is skipped', async () => {
  const bytes = new TextEncoder().encode(`${line('NEWS', 'a', '1')}\n${line('ADDED', 'b', '2')}`)
  expect(await eventsOf([bytes])).toHaveLength(1)
})

test('an ERROR event ends the watch with its status', async () => {
  const object = { code: 410, message: 'too old resource version' }
  const bytes = new TextEncoder().encode(`${JSON.stringify({ type: 'ERROR', object })}\n`)
  await expect(eventsOf([bytes])).rejects.toMatchObject({
    answer: { status: 410, message: 'too old resource version' },
  })
})

test('an endless line fails at the size limit', async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(97)
  await expect(eventsOf(Array.from({ length: 20 }, () => chunk))).rejects.toThrow('a line of over')
})
