import { expect, test } from 'vitest'
import { type AllowedProjects, refuseForeignProject } from './allowed-projects.ts'

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
