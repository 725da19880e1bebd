import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideGrant, type GrantRequest } from './decide-grant.ts'
import { type Grant, type LabelSelector, matchesLabels, type NamespaceSelection } from './grant.ts'

const [checkout, search] = [
  '0a1b2c3d-0000-4000-8000-0123456789aa',
  '0a1b2c3d-0000-4000-8000-0123456789bb',
]

const grantOf = (more: Partial<Grant> = {}): Grant => ({
  ...{ name: 'g', project_id: checkout, project: { organization: 'acme', name: 'checkout' } },
  ...{ namespaces: { names: ['team-a'] }, kinds: ['Account'], scopes: ['tasks:read'], roles: [] },
  ...{ max_keys: 2, revoke_after: '1h' },
  ...more,
})
const requestOf = (more: Partial<GrantRequest> = {}): GrantRequest => ({
  ...{ namespace: 'team-a', namespace_labels: {}, kind: 'Account', bound_id: undefined },
  ...{ project_ref: { name: 'checkout' }, scopes: [], roles: [], keys: 0, keysInUse: () => 0 },
  ...more,
})

const outcomeOf = (request: GrantRequest, grants: readonly Grant[]) => {
  const decision = decideGrant(request, grants)
  if ('unknown' in decision) return 'unknown'
  return 'allowed' in decision ? decision.allowed.project_id : decision.refused
}

describe('one resource and its grants', () => {
  const other = grantOf({ name: 'h', project_id: search })
  const strangers = grantOf({
    ...{ name: 's', project_id: search },
    project: { organization: 'strangers', name: 'checkout' },
  })
  test.each<[string, Partial<GrantRequest>, readonly Grant[], string]>([
    ['no grant', {}, [], 'NotGranted'],
    ['a grant', {}, [grantOf()], checkout],
    ['another namespace', { namespace: 'team-b' }, [grantOf()], 'NotGranted'],
    ['a name that contains the namespace', { namespace: 'team' }, [grantOf()], 'NotGranted'],
    ['another kind', { kind: 'Policy' }, [grantOf()], 'NotGranted'],
    ['another name', { project_ref: { name: 'search' } }, [grantOf()], 'NotGranted'],
    [
      'the id in upper case',
      { project_ref: { id: checkout.toUpperCase() } },
      [grantOf()],
      checkout,
    ],
    ['an id that is not granted', { project_ref: { id: search } }, [grantOf()], 'NotGranted'],
    ['a name of a grant by id', {}, [grantOf({ project: undefined })], 'NotGranted'],
    ['two projects of one name', {}, [grantOf(), strangers], 'ProjectAmbiguous'],
    [
      'the organization tells them apart',
      { project_ref: { organization: 'strangers', name: 'checkout' } },
      [grantOf(), strangers],
      search,
    ],
    [
      'a bound resource keeps its project',
      { bound_id: checkout },
      [grantOf(), strangers],
      checkout,
    ],
    ['a bound project must be granted', { bound_id: checkout }, [strangers], 'NotGranted'],
    ['two grants of one project', {}, [grantOf(), grantOf({ name: 'h' })], checkout],
    ['a scope beyond the ceiling', { scopes: ['query:run'] }, [grantOf()], 'NotGranted'],
    ['a role beyond the ceiling', { roles: ['admin'] }, [grantOf()], 'NotGranted'],
    ['the last key', { keys: 1, keysInUse: () => 1 }, [grantOf()], checkout],
    ['one key too many', { keys: 2, keysInUse: () => 1 }, [grantOf()], 'NotGranted'],
    [
      'ceilings of two grants are not combined',
      { scopes: ['tasks:read', 'query:run'] },
      [grantOf(), grantOf({ name: 'h', scopes: ['query:run'] })],
      'NotGranted',
    ],
    [
      'the project is made precise',
      { bound_id: checkout, project_ref: { organization: 'acme', name: 'checkout' } },
      [grantOf()],
      checkout,
    ],
    [
      'another organization is set',
      { bound_id: checkout, project_ref: { organization: 'strangers', name: 'checkout' } },
      [grantOf(), strangers],
      'ProjectChanged',
    ],
    [
      'another granted id is set',
      { bound_id: checkout, project_ref: { id: search } },
      [grantOf(), other],
      'ProjectChanged',
    ],
    [
      'an unreadable spec keeps a bound project',
      { bound_id: checkout, project_ref: undefined },
      [grantOf()],
      checkout,
    ],
    [
      'an unreadable spec is not granted anything',
      { project_ref: undefined },
      [grantOf()],
      'NotGranted',
    ],
    [
      'a selector with unknown labels',
      { namespace_labels: undefined },
      [grantOf({ namespaces: { selector: {} } })],
      'unknown',
    ],
    [
      'a prototype name is not a label',
      { namespace_labels: {} },
      [
        grantOf({
          namespaces: {
            selector: { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] },
          },
        }),
      ],
      'NotGranted',
    ],
  ])('%s', (_what, request, grants, expected) => {
    expect(outcomeOf(requestOf(request), grants)).toBe(expected)
    expect(outcomeOf(requestOf(request), grants.toReversed())).toBe(expected)
  })

  test('a refusal says what to do and names no other namespace', () => {
    const decision = decideGrant(requestOf(), [
      grantOf({ name: 'theirs', namespaces: { names: ['team-secret'] } }),
    ])
    expect(decision).toMatchObject({
      message: expect.stringMatching(/^no ProjectGrant lets .* team-a .*Ask an administrator/),
    })
    expect(JSON.stringify(decision)).not.toMatch(/theirs|team-secret/)
  })
})

const word = (...words: string[]) => fc.constantFrom(...words)
const some = (...words: string[]) => fc.subarray(words)
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
const ref = fc.oneof(
  fc.record({ id: word('p1', 'p2', 'p3') }),
  fc.record({ name: word('a', 'b'), organization: maybe(word('x', 'y')) }),
)
const selector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(word('k', 'l'), word('1', '2'), { maxKeys: 1 }),
  matchExpressions: fc.array(
    fc.record({
      key: word('k', 'l'),
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist' as const),
      values: some('1', '2'),
    }),
    { maxLength: 2 },
  ),
})
const grants: fc.Arbitrary<Grant[]> = fc.uniqueArray(
  fc.record({
    name: word('g1', 'g2', 'g3', 'g4'),
    project_id: word('p1', 'p2', 'p3'),
    project: maybe(fc.record({ organization: word('x', 'y'), name: word('a', 'b') })),
    namespaces: fc.oneof(
      fc.record<NamespaceSelection>({ names: some('n', 'm') }),
      fc.record<NamespaceSelection>({ selector }),
    ),
    kinds: some('Account', 'Policy'),
    scopes: some('s', 't'),
    roles: some('admin'),
    max_keys: fc.nat(3),
    revoke_after: fc.constant<string>('1h'),
  }),
  { selector: ({ name }) => name, maxLength: 4 },
)
const request = fc.record({
  namespace: word('n', 'm', 'o'),
  namespace_labels: fc.dictionary(word('k', 'l'), word('1', '2')),
  kind: word('Account', 'Policy'),
  project_ref: ref,
  bound_id: maybe(word('p1', 'p2', 'p3')),
  scopes: some('s', 't'),
  roles: some('admin'),
  keys: fc.nat(3),
  adopts: maybe(fc.boolean()),
  used: fc.nat(2),
})

type Asked = Omit<GrantRequest, 'keysInUse'> & { used: number }

/** Whether a namespace is selected, written without the code under test. */
function isSelected({ namespaces: { names, selector: by } }: Grant, asked: Asked): boolean {
  const labels = asked.namespace_labels ?? {}
  if (by === undefined) return names?.includes(asked.namespace) === true
  const pairs = Object.entries(by.matchLabels ?? {})
  if (pairs.some(([key, value]) => labels[key] !== value)) return false
  const broken = (by.matchExpressions ?? []).filter(({ key, operator, values = [] }) => {
    const isThere = key in labels
    const isIn = isThere && values.includes(labels[key] ?? '')
    const holds = { In: isIn, NotIn: !isIn, Exists: isThere, DoesNotExist: !isThere }
    return !holds[operator]
  })
  return broken.length === 0
}

/** Whether projectRef of a bound resource means another project. */
function isMoved({ bound_id, project_ref }: Asked, meant: readonly Grant[]): boolean {
  const { id, organization } = project_ref ?? {}
  if (id !== undefined) return id !== bound_id
  const organizations = meant.flatMap(({ project }) => project?.organization ?? [])
  if (organization === undefined || organizations.length === 0) return false
  return !organizations.includes(organization)
}

/** The rules of the documentation, one after the other, without any sharing. */
function naive(asked: Asked, all: readonly Grant[]) {
  const mayDeclare = ({ project }: Grant) => {
    if (asked.adopts === undefined) return true
    if (asked.adopts) return project === undefined
    const { name, organization = project?.organization } = asked.project_ref ?? {}
    return project !== undefined && project.name === name && project.organization === organization
  }
  const isWide = (grant: Grant) =>
    mayDeclare(grant) &&
    asked.scopes.every((one) => grant.scopes.includes(one)) &&
    asked.roles.every((one) => grant.roles.includes(one)) &&
    (asked.keys === 0 || asked.used + asked.keys <= grant.max_keys)
  const here = all.filter((grant) => grant.kinds.includes(asked.kind) && isSelected(grant, asked))
  const { id, name, organization } = asked.project_ref ?? {}
  const meant = here.filter(({ project_id, project }) => {
    if (asked.bound_id !== undefined) return project_id === asked.bound_id
    if (id !== undefined) return project_id === id
    return project?.name === name && [undefined, project?.organization].includes(organization)
  })
  if (new Set(meant.map(({ project_id }) => project_id)).size > 1) return 'ProjectAmbiguous'
  const wide = meant.filter(isWide)[0]
  if (wide === undefined) return 'NotGranted'
  if (asked.bound_id !== undefined && isMoved(asked, meant)) return 'ProjectChanged'
  return wide.project_id
}

test('the decision equals a naive one, and allows no more than one grant allows', () => {
  fc.assert(
    fc.property(request, grants, ({ used, ...asked }, all) => {
      const decision = decideGrant({ ...asked, keysInUse: () => used }, all)
      const outcome = outcomeOf({ ...asked, keysInUse: () => used }, all)
      expect(outcome).toBe(naive({ ...asked, used }, all))
      if (!('allowed' in decision)) return
      const { grant, project_id } = decision.allowed
      expect(all.includes(grant) && grant.project_id === project_id).toBe(true)
      expect(asked.bound_id ?? project_id).toBe(project_id)
      const alone = decideGrant({ ...asked, keysInUse: () => used }, [grant])
      expect(alone).not.toMatchObject({ refused: 'NotGranted' })
    }),
    { numRuns: 3_000 },
  )
})

test('unknown labels never widen a decision', () => {
  fc.assert(
    fc.property(request, grants, ({ used, ...asked }, all) => {
      const whole = { ...asked, keysInUse: () => used }
      const blind = outcomeOf({ ...whole, namespace_labels: undefined }, all)
      if (blind !== 'unknown' && blind !== 'NotGranted' && !blind.startsWith('Project')) {
        expect(outcomeOf(whole, all)).toBe(blind)
      }
    }),
    { numRuns: 5_000 },
  )
})

test('an empty selector matches every namespace', () => {
  expect(matchesLabels({}, {})).toBe(true)
  expect(matchesLabels({ matchLabels: { a: 'b' } }, { a: 'c' })).toBe(false)
})
