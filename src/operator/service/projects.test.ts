import { expect, test } from 'vitest'
import { findProject, requireProjectById } from './projects.ts'
import { type ServiceClient, ServiceRefusal } from './service-client.ts'

const [id, other] = ['0198c0de-0000-7000-8000-00000000000a', '0198c0de-0000-7000-8000-00000000000b']
const wanted = { organization: 'acme & co', name: 'a & b' }

function serviceOf(body: unknown) {
  const paths: string[] = []
  const client: ServiceClient = {
    request: async ({ path }) => {
      paths.push(path)
      return { status: 200, body, etag: undefined }
    },
  }
  return { client, paths }
}

test('a project is found by organization and name', async () => {
  const { client, paths } = serviceOf({ projects: [{ id, name: 'a & b' }] })
  expect(await findProject(client, wanted)).toBe(id)
  expect(paths).toEqual(['/api/v2/access/projects?organization=acme+%26+co&name=a+%26+b&limit=2'])
})

test.each<[string, object[]]>([
  ['no project', []],
  ['a project of another name', [{ id, name: 'A & B' }]],
  [
    'projects of several organizations, as from a service that ignores the organization',
    [
      { id, name: 'a & b' },
      { id: other, name: 'a & b' },
    ],
  ],
])('%s is not found', async (_what, projects) => {
  await expect(findProject(serviceOf({ projects }).client, wanted)).rejects.toMatchObject({
    ...{ name: 'NotReady', reason: 'ProjectNotFound' },
    message: expect.stringContaining('organization "acme & co" has no project "a & b"'),
  })
})

test('an unreadable list is rejected', async () => {
  const reply = findProject(serviceOf({ hello: 1 }).client, wanted)
  await expect(reply).rejects.toThrow('unreadable list')
})

test('a project by id must exist', async () => {
  const refusal = new ServiceRefusal({ status: 404, code: 'project_not_found', detail: '' })
  const none: ServiceClient = { request: () => Promise.reject(refusal) }
  await requireProjectById(serviceOf({ id }).client, id)
  await expect(requireProjectById(none, id)).rejects.toMatchObject({ reason: 'ProjectNotFound' })
})
