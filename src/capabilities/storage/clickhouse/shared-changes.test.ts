import { expect, test } from 'vitest'
import { ofProject, type ProjectCondition } from './conditions.ts'
import { type ConditionWork, shareChanges } from './shared-changes.ts'

/** Work that records its condition and ends on demand. */
function noting() {
  const seen: { condition: ProjectCondition; signal: AbortSignal | undefined }[] = []
  const ends: PromiseWithResolvers<boolean>[] = []
  const work: ConditionWork = (condition, signal) => {
    seen.push({ condition, signal })
    const end = Promise.withResolvers<boolean>()
    ends.push(end)
    return end.promise
  }
  /** Resolves when this many statements have begun. */
  const begun = async (count: number) => {
    while (seen.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { seen, ends, work, begun }
}

const idOf = (digit: string) => `00000000-0000-4000-8000-00000000000${digit}`

test('concurrent conditions of a key are one statement', async () => {
  const { seen, ends, work, begun } = noting()
  const share = shareChanges()
  const asked = ['a', 'b'].map((project) =>
    share('day', { condition: ofProject(idOf(project)), signal: undefined, work }),
  )
  const apart = share('other day', { condition: ofProject(idOf('c')), signal: undefined, work })
  await begun(2)
  expect(seen.map(({ condition }) => condition)).toEqual([
    {
      sql: '((project_id = {c0_project:UUID})) OR ((project_id = {c1_project:UUID}))',
      params: { c0_project: idOf('a'), c1_project: idOf('b') },
      projects: [idOf('a'), idOf('b')],
    },
    ofProject(idOf('c')),
  ])
  ends[0]?.resolve(true)
  ends[1]?.resolve(false)
  expect(await Promise.all(asked)).toEqual([true, true])
  expect(await apart).toBe(false)
})

test('conditions that arrive during a statement join the next one; a failure rejects all of its callers', async () => {
  const { seen, ends, work, begun } = noting()
  const share = shareChanges()
  const first = share('day', { condition: ofProject(idOf('a')), signal: undefined, work })
  await begun(1)
  const later = ['b', 'c'].map((project) =>
    share('day', { condition: ofProject(idOf(project)), signal: undefined, work }),
  )
  ends[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await begun(2)
  expect(seen[1]?.condition.params).toEqual({ c0_project: idOf('b'), c1_project: idOf('c') })
  ends[1]?.resolve(true)
  expect(await Promise.all(later)).toEqual([true, true])
})

test('an aborted caller is rejected at once; the statement continues while another caller waits', async () => {
  const { seen, ends, work, begun } = noting()
  const share = shareChanges()
  const [one, other, early] = [1, 2, 3].map(() => new AbortController())
  early?.abort(new Error('early'))
  const asked = [one, other, early].map((stop, at) =>
    share('day', { condition: ofProject(idOf(`${at}`)), signal: stop?.signal, work }),
  )
  await expect(asked[2]).rejects.toThrow('early')
  await begun(1)
  expect(seen[0]?.condition.params).toEqual({ c0_project: idOf('0'), c1_project: idOf('1') })
  one?.abort(new Error('first'))
  await expect(asked[0]).rejects.toThrow('first')
  expect(seen[0]?.signal?.aborted).toBe(false)
  ends[0]?.resolve(true)
  expect(await asked[1]).toBe(true)
  other?.abort(new Error('second'))
  expect(seen[0]?.signal?.aborted).toBe(true)
})

test('the parameters of a statement fit into its URL', async () => {
  const { seen, ends, work, begun } = noting()
  const share = shareChanges()
  const held = Array.from({ length: 3_000 }, () => '0198c0de-0000-7000-8000-0000000000aa')
  const condition = ofProject(idOf('a'), {
    sql: 'trace_id NOT IN {held:Array(UUID)}',
    params: { held },
  })
  const asked = [1, 2].map(() => share('day', { condition, signal: undefined, work }))
  await begun(1)
  expect(seen[0]?.condition).toBe(condition)
  ends[0]?.resolve(true)
  await begun(2)
  ends[1]?.resolve(true)
  expect(await Promise.all(asked)).toEqual([true, true])
})
