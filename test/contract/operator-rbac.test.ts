import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  operatedNamespace,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'
import { grant, operatorRules, without } from '../support/kube/operator-rules.ts'
import { readyOf } from '../support/kube/resources.ts'

let cluster: NoteCluster
const rules = operatorRules(['notes'])

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

/** Where a missing verb is reported. */
type Told = 'condition' | 'log'

test.each<[string, string, Told]>([
  ['list', 'notes', 'log'],
  ['watch', 'notes', 'log'],
  ['patch', 'notes', 'condition'],
  ['patch', 'notes/status', 'log'],
  ['list', 'secrets', 'log'],
  ['watch', 'secrets', 'log'],
  ['get', 'secrets', 'condition'],
  ['create', 'secrets', 'condition'],
  ['create', 'events', 'log'],
])(
  'without %s on %s the %s names it; with it the operator continues',
  async (verb, resource, told) => {
    await grant(cluster.server, without(rules, verb, resource))
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello', secretName: 'key' })
    if (told === 'condition') {
      const { message } = readyOf(await on.notes.notReady('a', 'Forbidden'))
      expect(message).toContain(verb)
      expect(message).toContain(resource)
    } else {
      await eventually(`the log names ${verb} ${resource}`, () =>
        on.operator
          .logged()
          .split('\n')
          .some((line) => line.includes(verb) && line.includes(resource) && isWarning(line)),
      )
    }
    await grant(cluster.server, rules)
    await on.notes.ready('a')
    await on.notes.remove('a')
    await on.notes.gone('a')
    expect(cluster.service.of(on.owner('a'))).toEqual([])
  },
)

test('without delete on secrets a deleted resource waits, and reports the reason', async () => {
  await using on = await operatedNamespace(cluster)
  await on.notes.apply('a', { text: 'hello', secretName: 'key' })
  await on.notes.ready('a')
  await grant(cluster.server, without(rules, 'delete', 'secrets'))
  await on.notes.remove('a')
  const { message } = readyOf(await on.notes.notReady('a', 'Forbidden'))
  expect(message).toMatch(/delete.*secrets/)
  await grant(cluster.server, rules)
  await on.notes.gone('a')
  expect(cluster.service.of(on.owner('a'))).toEqual([])
})

/** pino's levels: 40 warns, 50 is an error. */
function isWarning(line: string): boolean {
  return JSON.parse(line).level >= 40
}
