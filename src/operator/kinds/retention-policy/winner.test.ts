import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retentionPolicySpec } from './spec.ts'
import { findWinner, nameOf, projectTerms, type RetentionPolicy, rivalTerms } from './winner.ts'

const project = '0a1b2c3d-0000-4000-8000-0123456789ab'

function policy(
  name: string,
  created_at: string,
  more: { ref?: object; projectId?: string; namespace?: string } = {},
): RetentionPolicy {
  const { ref = { name: 'default' }, projectId, namespace = 'a' } = more
  return {
    meta: {
      ...{ kind: 'RetentionPolicy', name, namespace, uid: name, generation: 1, created_at },
      ...{ annotations: {}, external_id: undefined },
    },
    spec: retentionPolicySpec.parse({ projectRef: ref }),
    status: projectId === undefined ? {} : { projectId },
  }
}

const early = '2026-11-21T12:00:00Z'
const late = '2026-11-21T12:00:01Z'
/** Finds the winner among the peers with the terms of a rival. */
const winner = (own: RetentionPolicy, ...peers: RetentionPolicy[]) => {
  const words = new Set(rivalTerms(own, project))
  const rivals = peers.filter((peer) => projectTerms(peer).some((word) => words.has(word)))
  return nameOf(findWinner(own, rivals))
}

test('the oldest wins, and among equally old ones the first by namespace and name', () => {
  const [one, other] = [policy('b', early), policy('a', late)]
  expect(winner(one, one, other)).toBe('a/b')
  expect(winner(other, one, other)).toBe('a/b')
  expect(winner(policy('b', early), policy('a', early))).toBe('a/a')
  expect(winner(policy('a', early, { namespace: 'b' }), policy('z', early))).toBe('a/z')
})

test('a policy wins over policies of other projects', () => {
  expect(winner(policy('b', late))).toBe('a/b')
  expect(winner(policy('b', late), policy('a', early, { ref: { name: 'other' } }))).toBe('a/b')
})

test('the same project is found by id, by name and by the looked-up id', () => {
  const own = policy('b', late, { ref: { id: project } })
  expect(winner(own, policy('a', early, { ref: { id: project.toUpperCase() } }))).toBe('a/a')
  expect(winner(own, policy('a', early, { projectId: project }))).toBe('a/a')
  expect(winner(own, policy('a', early))).toBe('a/b')
  expect(winner(policy('b', late), policy('a', early))).toBe('a/a')
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
