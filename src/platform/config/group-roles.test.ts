import { expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'

const read = (value: unknown) =>
  loadConfig('all', {
    LOOPTRACE_OIDC_GROUP_ROLES: typeof value === 'string' ? value : JSON.stringify(value),
  }).oidc_group_roles

const member = { group: 'g', organization: 'o', role: 'member' }
const editor = { group: 'g', organization: 'o', project: 'p', role: 'editor' }

test('a list of roles is read, and is empty by default', () => {
  expect(read([member, editor])).toEqual([member, editor])
  expect(loadConfig('all', {}).oidc_group_roles).toEqual([])
})

test.each<[string, unknown]>([
  ['no JSON', '[{'],
  ['no list', member],
  ['a role of projects in an organization', [{ ...member, role: 'viewer' }]],
  ['a role of organizations in a project', [{ ...editor, role: 'owner' }]],
  ['an unknown field', [{ ...member, projects: ['p'] }]],
  ['an empty group', [{ ...member, group: '' }]],
  ['no organization', [{ group: 'g', role: 'member' }]],
  ['too many entries', Array.from({ length: 1_001 }, () => member)],
])('%s is refused, with what is expected', (_name, value) => {
  expect(() => read(value)).toThrow(
    /LOOPTRACE_OIDC_GROUP_ROLES[\s\S]*expected a JSON list of at most/,
  )
})

test('the entry at fault is named', () => {
  expect(() => read([member, { ...editor, role: 'owner' }])).toThrow('entry 2: expected')
})
