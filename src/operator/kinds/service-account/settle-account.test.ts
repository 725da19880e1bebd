import { expect, test } from 'vitest'
import type { Resource } from '../../contract.ts'
import { differences, wishOf } from './settle-account.ts'
import { type ServiceAccountSpec, serviceAccountSpec } from './spec.ts'

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

test('an account is named as the resource is, or as it says', () => {
  expect(wishOf(resource({})).name).toBe('team/robot')
  expect(wishOf(resource({ displayName: ' Robot ' })).name).toBe('Robot')
  expect(wishOf(resource({ displayName: '  ' })).name).toBe('team/robot')
  const [one, other] = ['a', 'b'].map(
    (end) => wishOf(resource({}, `${'x'.repeat(200)}${end}`)).name,
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
const wish = { name: 'team/robot', scopes: ['proxy:write'], disabled: false }

test.each([
  ['nothing', {}, []],
  ['the name', { name: 'else' }, ['name']],
  ['the scopes', { scopes: [] }, ['scopes']],
  ['that it is disabled', { disabled_at: '2026-11-21T12:00:00.000Z' }, ['disabled']],
  ['that nobody declares it', { managed_by: null }, ['owner']],
  ['that another one declares it', { managed_by: { ...owner, name: 'other' } }, ['owner']],
  ['the uid of its resource', { managed_by: { ...owner, uid: 'u0' } }, ['owner']],
])('%s differs', (_name, more, expected) => {
  expect(differences({ ...account, ...more }, wish, owner)).toEqual(expected)
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
])('%s is no spec', (_name, more) => {
  expect(() => specOf(more)).toThrow()
})
