import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReleasePolicy } from '../../api/schema.gen.d.ts'
import { draftOf, limitFields, metrics, requestOf } from './policy-draft.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })
const gate = fc
  .record({
    metric: fc.constantFrom(...metrics),
    kind: fc.constantFrom(...(Object.keys(limitFields) as (keyof typeof limitFields)[])),
    tier: fc.constantFrom('critical', 'supporting', 'advisory'),
    limit: fc.double({ noNaN: true, noDefaultInfinity: true }),
    k: fc.integer({ min: 2, max: 100 }),
    groups: fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 4 }),
    direction: fc.option(fc.constantFrom('higher', 'lower'), { nil: undefined }),
    min_samples: fc.integer({ min: 1, max: 1_000_000 }),
  })
  .map(({ limit, k, groups, direction, ...rest }) => ({
    ...rest,
    // The text of a number has no negative zero.
    [limitFields[rest.kind]]: limit + 0,
    ...(direction !== undefined && { direction }),
    ...(rest.kind === 'pass_k' && { k }),
    ...(rest.kind === 'worst_group' && groups.length > 0 && { groups }),
  }))

test('a policy that is opened and saved unchanged keeps its rules', () => {
  const rules = {
    confidence: share,
    max_age: fc.constant('7d'),
    valid_for: fc.constant('30d'),
    max_attempts: fc.integer({ min: 1, max: 20 }),
    multiple_testing: fc.constant('holm'),
    min_clusters: fc.integer({ min: 5, max: 10_000 }),
    max_late_share: share,
    max_equal_share: share,
    max_jump_share: share,
    max_missing_share: share,
  }
  fc.assert(
    fc.property(fc.record({ ...rules, gates: fc.array(gate, { maxLength: 5 }) }), (policy) => {
      const stored = { ...policy, id: 'default', version: '3', digest: 'd' }
      const request = requestOf(draftOf(stored as unknown as ReleasePolicy['policy']))
      expect(request).toEqual(policy)
    }),
  )
})
