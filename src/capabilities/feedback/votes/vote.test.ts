import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Candidate, chooseVote, hourChanges, type Vote, type VoteChange } from './vote.ts'

const instant = fc.integer({ min: 0, max: 5 }).map((at) => `2026-11-23T0${at}:30:00.000Z`)
const candidate: fc.Arbitrary<Candidate> = fc.record({
  feedback_id: fc.uuid(),
  source: fc.constantFrom('end_user', 'annotator', 'rule'),
  subject: fc.constant('user:u'),
  sentiment: fc.constantFrom(null, 'negative', 'neutral', 'positive'),
  labels: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
  at: instant,
  by_browser: fc.boolean(),
  updated_at: instant,
})
const vote = candidate.filter((one): one is Vote => one.sentiment !== null)
const task = { task_name: 'pay', environment: 'prod', release: null, models: ['m1', 'm2'] }

test('the vote is the last item that judges, of a server or person if there is one', () => {
  fc.assert(
    fc.property(fc.array(candidate), (items) => {
      const chosen = chooseVote(items)
      const judging = items.filter(({ sentiment }) => sentiment !== null)
      const trusted = judging.filter(({ by_browser }) => !by_browser)
      const group = trusted.length > 0 ? trusted : judging
      const last = group
        .map(({ updated_at }) => updated_at)
        .toSorted()
        .at(-1)
      expect(chosen?.updated_at).toBe(last)
      expect(group.includes(chosen as Candidate)).toBe(group.length > 0)
      expect(chooseVote(items.toReversed())).toEqual(chosen)
    }),
  )
})

test('votes that are added and then removed leave no change', () => {
  fc.assert(
    fc.property(fc.array(vote), (votes) => {
      const changes = votes.flatMap((one): VoteChange[] => [
        { vote: one, by: 1 },
        { vote: one, by: -1 },
      ])
      expect(hourChanges(task, changes)).toEqual([])
    }),
  )
})

test('each dimension counts each vote once for each of its values, in the order of keys', () => {
  fc.assert(
    fc.property(fc.array(vote, { maxLength: 20 }), (votes) => {
      const changes = hourChanges(
        task,
        votes.map((one) => ({ vote: one, by: 1 })),
      )
      const sum = (dimension: string) =>
        changes
          .filter((change) => change.dimension === dimension)
          .reduce((all, { negative, neutral, positive }) => all + negative + neutral + positive, 0)
      expect(sum('all')).toBe(votes.length)
      expect(sum('task_name')).toBe(votes.length)
      expect(sum('model')).toBe(2 * votes.length)
      expect(sum('label')).toBe(
        votes.reduce((all, { labels, by_browser }) => all + (by_browser ? 0 : labels.length), 0),
      )
      const keys = changes.map(({ negative: _a, neutral: _b, positive: _c, ...key }) =>
        JSON.stringify(Object.values(key)),
      )
      expect(keys).toEqual([...new Set(keys)].toSorted())
    }),
  )
})

test('tasks of onboarding are not counted', () => {
  const [one] = fc.sample(vote, 1)
  const environment = 'looptrace-onboarding'
  expect(hourChanges({ ...task, environment }, [{ vote: one as Vote, by: 1 }])).toEqual([])
})
