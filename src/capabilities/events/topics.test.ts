import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChangeKind } from '../../model/change-hint.ts'
import type { ChangedObject } from './pending-changes.ts'
import { parseTopics, scopesOfTopics, selectChanges, type Topics, topicNames } from './topics.ts'

const trace_id = '0af76519-16cd-43dd-8448-eb211c80319c'

function parsed(text: string): Topics {
  const topics = parseTopics(text)
  if ('invalid' in topics) throw new Error(`invalid: ${topics.invalid}`)
  return topics
}

const event = (kind: ChangeKind, changed: ChangedObject[], many = false) => ({
  ...{ kind, changed, many, position: 1 },
})

describe('parsing', () => {
  test('names lists, tasks and traces; a repeated topic counts once', () => {
    const topics = parsed(`tasks,findings,tasks,task:a%2Cb,trace:${trace_id.replaceAll('-', '')}`)
    expect([...topics.lists]).toEqual(['tasks', 'findings'])
    expect([...topics.tasks.keys()]).toEqual(['a,b'])
    expect([...topics.traces.keys()]).toEqual([trace_id])
    expect(topicNames(topics)).toHaveLength(4)
  })

  test.each([
    '',
    'task',
    'task:',
    'task:%',
    'task:%00',
    'trace:1',
    'Tasks',
    'tasks,',
    'incident:1',
  ])('%j is refused', (text) => expect(parseTopics(text)).toHaveProperty('invalid'))

  test('every task id of up to 256 characters can be a topic', () => {
    const ids = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(fc.uniqueArray(ids, { minLength: 1, maxLength: 5 }), (given) => {
        const valid = given.filter((id) => !id.includes('\0'))
        fc.pre(valid.length > 0)
        const topics = parsed(valid.map((id) => `task:${encodeURIComponent(id)}`).join(','))
        expect([...topics.tasks.keys()]).toEqual(valid)
      }),
    )
    expect(parseTopics(`task:${'x'.repeat(257)}`)).toHaveProperty('invalid')
  })

  test('each kind of topic needs the scope of its routes', () => {
    expect(scopesOfTopics(parsed('tasks,task:1,findings'))).toEqual(['tasks:read'])
    expect(scopesOfTopics(parsed('incidents'))).toEqual(['incidents:read'])
    expect(scopesOfTopics(parsed(`trace:${trace_id}`))).toEqual(['traces:read'])
  })
})

describe('selecting', () => {
  test('a list shows all objects, a single topic its own', () => {
    const changed = [{ id: '1' }, { id: '2' }]
    expect(selectChanges(parsed('tasks,task:2'), event('task', changed))).toEqual({
      ...{ topics: ['tasks', 'task:2'], changed, many: false },
    })
    expect(selectChanges(parsed('task:2'), event('task', changed))).toEqual({
      ...{ topics: ['task:2'], changed: [{ id: '2' }], many: false },
    })
    expect(selectChanges(parsed('task:3,incidents'), event('task', changed))).toBeUndefined()
  })

  test('a topic of a task shows its findings', () => {
    const changed = [
      { id: 'f1', task_id: '1' },
      { id: 'f2', task_id: '2' },
    ]
    expect(selectChanges(parsed('task:2,tasks'), event('finding', changed))).toEqual({
      ...{ topics: ['task:2'], changed: [{ id: 'f2', task_id: '2' }], many: false },
    })
  })

  test('with `many`, each topic of the kind may be concerned', () => {
    const topics = parsed(`task:9,task:1,trace:${trace_id}`)
    expect(selectChanges(topics, event('task', [{ id: '1' }], true))).toEqual({
      ...{ topics: ['task:9', 'task:1'], changed: [{ id: '1' }], many: true },
    })
    expect(selectChanges(topics, event('incident', [{ id: '1' }], true))).toBeUndefined()
  })
})
