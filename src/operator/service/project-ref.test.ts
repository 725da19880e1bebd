import { expect, test } from 'vitest'
import { manualTiming } from '../../../test/support/manual-timing.ts'
import { type AllowedProjects, refuseForeignProject, resolveProject } from './project-ref.ts'
import type { ServiceClient } from './service-client.ts'

function service(projects: object[]) {
  const asked: string[] = []
  const client: ServiceClient = {
    request: async ({ path }) => {
      asked.push(path)
      return { status: 200, body: { projects, total: 1, next_cursor: null }, etag: undefined }
    },
  }
  return { client, asked }
}

test('an id is taken as it is', async () => {
  const { client, asked } = service([])
  expect(await resolveProject({ id: 'ABC' }, client)).toBe('abc')
  expect(asked).toEqual([])
})

test('a name is looked up', async () => {
  const { client, asked } = service([{ id: 'p1', name: 'a & b', role: 'admin' }])
  expect(await resolveProject({ name: 'a & b' }, client)).toBe('p1')
  expect(asked).toEqual(['/api/v2/access/projects?name=a+%26+b&limit=5'])
})

test.each([
  [[{ id: 'p1', name: 'other' }], 'ProjectNotFound'],
  [[], 'ProjectNotFound'],
  [
    [
      { id: 'p1', name: 'a' },
      { id: 'p2', name: 'a' },
    ],
    'ProjectAmbiguous',
  ],
])('of %j there is not just one', async (projects, reason) => {
  const { client } = service(projects)
  await expect(resolveProject({ name: 'a' }, client)).rejects.toMatchObject({
    ...{ name: 'NotReady', reason, message: expect.stringContaining('"a"') },
  })
})

test('an answer that is no list is no answer', async () => {
  const client: ServiceClient = {
    request: async () => ({ status: 200, body: { hello: 1 }, etag: undefined }),
  }
  await expect(resolveProject({ name: 'a' }, client)).rejects.toThrow('can not be read')
})

test('with a clock it is kept for a minute, for this service alone', async () => {
  const { clock, advance } = manualTiming()
  const first = service([{ id: 'p1', name: 'a' }])
  const second = service([{ id: 'p2', name: 'a' }])
  const ask = () => resolveProject({ name: 'a' }, first.client, clock)
  expect(await ask()).toBe('p1')
  expect(await ask()).toBe('p1')
  expect(await resolveProject({ name: 'a' }, second.client, clock)).toBe('p2')
  expect(first.asked).toHaveLength(1)
  await advance(60_000)
  await ask()
  expect(first.asked).toHaveLength(2)
})

test('what was not found is asked for again', async () => {
  const { clock } = manualTiming()
  const { client, asked } = service([])
  const ask = () => resolveProject({ name: 'a' }, client, clock).catch(() => 'none')
  expect([await ask(), await ask()]).toEqual(['none', 'none'])
  expect(asked).toHaveLength(2)
})

const id = '0198c0de-0000-7000-8000-00000000000a'
const allowed: AllowedProjects = {
  'team-a': ['checkout', id],
  admins: ['*'],
  '*': ['sandbox'],
}

test.each([
  ['team-a', { name: 'checkout' }],
  ['team-a', { id: id.toUpperCase() }],
  ['team-a', { name: 'sandbox' }],
  ['admins', { name: 'whatever' }],
  ['other', { name: 'sandbox' }],
])('%s may name %o', (namespace, projectRef) => {
  expect(() => refuseForeignProject(allowed, { namespace, projectRef })).not.toThrow()
})

test.each([
  ['team-b', { name: 'checkout' }],
  ['team-a', { name: 'search' }],
  ['team-b', { id }],
  ['constructor', { name: 'checkout' }],
])('%s may not name %o', (namespace, projectRef) => {
  expect(() => refuseForeignProject(allowed, { namespace, projectRef })).toThrow(
    expect.objectContaining({ reason: 'ProjectNotAllowed' }),
  )
})

test('where nothing is said every namespace may name every project', () => {
  const about = { namespace: 'any', projectRef: { name: 'checkout' } }
  expect(() => refuseForeignProject(undefined, about)).not.toThrow()
})
