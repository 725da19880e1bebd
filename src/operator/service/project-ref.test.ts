import { expect, test } from 'vitest'
import { manualTiming } from '../../../test/support/manual-timing.ts'
import { type AllowedProjects, refuseForeignProject, resolveProject } from './project-ref.ts'
import type { ServiceClient } from './service-client.ts'

function service(projects: object[]) {
  const paths: string[] = []
  const client: ServiceClient = {
    request: async ({ path }) => {
      paths.push(path)
      return { status: 200, body: { projects, total: 1, next_cursor: null }, etag: undefined }
    },
  }
  return { client, paths }
}

test('an id is used without a lookup', async () => {
  const { client, paths } = service([])
  expect(await resolveProject({ id: 'ABC' }, client)).toBe('abc')
  expect(paths).toEqual([])
})

test('a name is looked up', async () => {
  const { client, paths } = service([{ id: 'p1', name: 'a & b', role: 'admin' }])
  expect(await resolveProject({ name: 'a & b' }, client)).toBe('p1')
  expect(paths).toEqual(['/api/v2/access/projects?name=a+%26+b&limit=5'])
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
])('%j has no unique match', async (projects, reason) => {
  const { client } = service(projects)
  await expect(resolveProject({ name: 'a' }, client)).rejects.toMatchObject({
    ...{ name: 'NotReady', reason, message: expect.stringContaining('"a"') },
  })
})

test('an unreadable list is rejected', async () => {
  const client: ServiceClient = {
    request: async () => ({ status: 200, body: { hello: 1 }, etag: undefined }),
  }
  await expect(resolveProject({ name: 'a' }, client)).rejects.toThrow('unreadable list')
})

test('with a clock the id is cached for a minute, per service', async () => {
  const { clock, advance } = manualTiming()
  const first = service([{ id: 'p1', name: 'a' }])
  const second = service([{ id: 'p2', name: 'a' }])
  const ask = () => resolveProject({ name: 'a' }, first.client, clock)
  expect(await ask()).toBe('p1')
  expect(await ask()).toBe('p1')
  expect(await resolveProject({ name: 'a' }, second.client, clock)).toBe('p2')
  expect(first.paths).toHaveLength(1)
  await advance(60_000)
  await ask()
  expect(first.paths).toHaveLength(2)
})

test('a project that was not found is looked up again', async () => {
  const { clock } = manualTiming()
  const { client, paths } = service([])
  const ask = () => resolveProject({ name: 'a' }, client, clock).catch(() => 'none')
  expect([await ask(), await ask()]).toEqual(['none', 'none'])
  expect(paths).toHaveLength(2)
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
])('%s may use %o', (namespace, projectRef) => {
  expect(() => refuseForeignProject(allowed, { namespace, projectRef })).not.toThrow()
})

test.each([
  ['team-b', { name: 'checkout' }],
  ['team-a', { name: 'search' }],
  ['team-b', { id }],
  ['constructor', { name: 'checkout' }],
])('%s may not use %o', (namespace, projectRef) => {
  expect(() => refuseForeignProject(allowed, { namespace, projectRef })).toThrow(
    expect.objectContaining({ reason: 'ProjectNotAllowed' }),
  )
})

test('without a list every namespace may use every project', () => {
  const resource = { namespace: 'any', projectRef: { name: 'checkout' } }
  expect(() => refuseForeignProject(undefined, resource)).not.toThrow()
})
