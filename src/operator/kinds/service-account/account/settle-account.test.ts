import { expect, test } from 'vitest'
import type { Resource } from '../../../contract.ts'
import { type ServiceAccountSpec, serviceAccountSpec } from '../spec.ts'
import { desiredAccount, differences } from './settle-account.ts'

const meta = {
  kind: 'LooptraceServiceAccount',
  name: 'robot',
  namespace: 'team',
  uid: 'u1',
  generation: 1,
  created_at: '2026-11-21T12:00:00.000Z',
  annotations: {},
  external_id: undefined,
}
const owner = { kind: meta.kind, namespace: 'team', name: 'robot', uid: 'u1' }

const specOf = (more: object = {}) =>
  serviceAccountSpec.parse({ projectRef: { name: 'default' }, scopes: ['proxy:write'], ...more })

const resource = (
  more: object,
  name = 'robot',
): Pick<Resource<ServiceAccountSpec>, 'meta' | 'spec'> => ({
  meta: { ...meta, name },
  spec: specOf(more),
})

test('the name of an account is displayName, or namespace/name of the resource', () => {
  expect(desiredAccount(resource({})).name).toBe('team/robot')
  expect(desiredAccount(resource({ displayName: ' Robot ' })).name).toBe('Robot')
  expect(desiredAccount(resource({ displayName: '  ' })).name).toBe('team/robot')
  const [one, other] = ['a', 'b'].map(
    (end) => desiredAccount(resource({}, `${'x'.repeat(200)}${end}`)).name,
  )
  expect(one).toHaveLength(100)
  expect(one).not.toBe(other)
})

const account = {
  id: 'a1',
  name: 'team/robot',
  scopes: ['proxy:write'],
  disabled_at: null,
  managed_by: owner,
}
const desired = { name: 'team/robot', scopes: ['proxy:write'], disabled: false }

test.each([
  ['nothing', {}, []],
  ['the name', { name: 'else' }, ['name']],
  ['the scopes', { scopes: [] }, ['scopes']],
  ['the disabled state', { disabled_at: '2026-11-21T12:00:00.000Z' }, ['disabled']],
  ['a missing owner', { managed_by: null }, ['owner']],
  ['another owner', { managed_by: { ...owner, name: 'other' } }, ['owner']],
  ['the uid of the owner', { managed_by: { ...owner, uid: 'u0' } }, ['owner']],
])('a difference is found in %s', (_name, more, expected) => {
  expect(differences({ ...account, ...more }, desired, owner)).toEqual(expected)
})

test.each([
  ['no scopes', { scopes: undefined }],
  ['an unknown scope', { scopes: ['everything'] }],
  ['a key without a Secret', { keys: [{ name: 'main' }] }],
  ['a key with a strange duration', { keys: [{ name: 'a', secretName: 'b', rotateAfter: '1d' }] }],
  [
    'too many keys',
    { keys: Array.from({ length: 17 }, (_, n) => ({ name: `k${n}`, secretName: `s${n}` })) },
  ],
  ['a Secret with a strange name', { keys: [{ name: 'a', secretName: 'B_c' }] }],
])('%s is an invalid spec', (_name, more) => {
  expect(() => specOf(more)).toThrow()
})
