import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retentionPolicySpec } from './spec.ts'
import { findWinner, nameOf, type RetentionPolicy } from './winner.ts'

function policy(
  name: string,
  created_at: string,
  { namespace = 'a' }: { namespace?: string } = {},
): RetentionPolicy {
  return {
    meta: {
      ...{ kind: 'RetentionPolicy', name, namespace, uid: name, generation: 1, created_at },
      ...{ annotations: {}, external_id: undefined },
    },
    spec: retentionPolicySpec.parse({ projectRef: { name: 'default' } }),
    status: {},
  }
}

const early = '2026-11-21T12:00:00Z'
const late = '2026-11-21T12:00:01Z'
/** Finds the winner among the policy and its rivals. */
const winner = (own: RetentionPolicy, ...peers: RetentionPolicy[]) =>
  nameOf(
    findWinner(
      own,
      peers.filter((peer) => peer !== own),
    ),
  )

test('the oldest wins, and among equally old ones the first by namespace and name', () => {
  const [one, other] = [policy('b', early), policy('a', late)]
  expect(winner(one, one, other)).toBe('a/b')
  expect(winner(other, one, other)).toBe('a/b')
  expect(winner(policy('b', early), policy('a', early))).toBe('a/a')
  expect(winner(policy('a', early, { namespace: 'b' }), policy('z', early))).toBe('a/z')
})

test('a policy without rivals wins', () => {
  expect(winner(policy('b', late))).toBe('a/b')
})

test('all policies of a project agree on the winner', () => {
  const some = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ max: 99 })), {
    minLength: 1,
    selector: ([, n]) => n,
  })
  fc.assert(
    fc.property(some, (all) => {
      const peers = all.map(([s, n]) => policy(`p${n}`, `2026-11-21T12:00:0${s}Z`))
      expect(new Set(peers.map((own) => winner(own, ...peers))).size).toBe(1)
    }),
  )
})
