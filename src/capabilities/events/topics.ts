import { traceIdFrom } from '../../kernel/ids.ts'
import type { KeyScope } from '../../kernel/scopes.ts'
import { isStorable } from '../../model/list-query.ts'
import type { RingEvent } from './event-ring.ts'
import type { ChangedObject } from './pending-changes.ts'

/** Topics of lists. */
const listTopics = ['tasks', 'incidents', 'findings'] as const
type ListTopic = (typeof listTopics)[number]

/** Maximum topics of a stream. */
export const topics_max = 50

/** Maximum characters of a task id. */
const maxTaskIdChars = 256

/** The topics of a stream. The maps lead from an id to the topic as the client wrote it. */
export type Topics = {
  lists: ReadonlySet<ListTopic>
  tasks: ReadonlyMap<string, string>
  traces: ReadonlyMap<string, string>
}

/**
 * Parses topics that commas separate: `tasks`, `incidents`, `findings`, `task:<id>`, `trace:<id>`. Ids are
 * percent-encoded, so that they may hold a comma. Returns the first invalid topic otherwise.
 */
export function parseTopics(text: string): Topics | { invalid: string } {
  const lists = new Set<ListTopic>()
  const tasks = new Map<string, string>()
  const traces = new Map<string, string>()
  for (const topic of new Set(text.split(','))) {
    const list = listTopics.find((name) => name === topic)
    const task_id = topic.startsWith('task:') ? decodeTaskId(topic.slice(5)) : undefined
    const trace_id = topic.startsWith('trace:') ? traceIdFrom(topic.slice(6)) : undefined
    if (list !== undefined) lists.add(list)
    else if (task_id !== undefined) tasks.set(task_id, topic)
    else if (trace_id !== undefined) traces.set(trace_id, topic)
    else return { invalid: topic }
  }
  return { lists, tasks, traces }
}

function decodeTaskId(encoded: string): string | undefined {
  try {
    const id = decodeURIComponent(encoded)
    const isValid = id.length > 0 && id.length <= maxTaskIdChars && isStorable(id)
    return isValid ? id : undefined
  } catch {
    return undefined
  }
}

/** Returns the number of topics. */
export function countTopics({ lists, tasks, traces }: Topics): number {
  return lists.size + tasks.size + traces.size
}

/** Returns all topics as the client wrote them. */
export function topicNames({ lists, tasks, traces }: Topics): string[] {
  return [...lists, ...tasks.values(), ...traces.values()]
}

/** Returns the scopes that a key needs, all of them: those of the routes that read the objects. */
export function scopesOfTopics({ lists, tasks, traces }: Topics): KeyScope[] {
  const scopes = new Set<KeyScope>()
  if (lists.has('tasks') || lists.has('findings') || tasks.size > 0) scopes.add('tasks:read')
  if (lists.has('incidents')) scopes.add('incidents:read')
  if (traces.size > 0) scopes.add('traces:read')
  return [...scopes]
}

/** The part of an event that a stream shows. */
export type ShownChanges = {
  topics: string[]
  changed: ChangedObject[]
  many: boolean
}

/**
 * Selects the changes of an event for the topics of a stream. Returns undefined when it concerns none
 * of them. An event with `many` concerns every topic of its kind.
 */
export function selectChanges(topics: Topics, event: RingEvent): ShownChanges | undefined {
  const { changed, many } = event
  const { list, single, idOf } = asked(topics, event)
  const named = changed.filter((object) => single.has(idOf(object)))
  const singles = many
    ? [...single.values()]
    : [...new Set(named.map((object) => single.get(idOf(object)) ?? ''))]
  const names = list === undefined ? singles : [list, ...singles]
  if (names.length === 0) return undefined
  return { topics: names, changed: list === undefined ? named : [...changed], many }
}

type Asked = {
  /** The topic of all objects of the kind, if the stream has it. */
  list: ListTopic | undefined
  /** The topics of single objects. */
  single: ReadonlyMap<string, string>
  /** Returns the id that a topic of a single object has. */
  idOf: (object: ChangedObject) => string
}

const noTopics: ReadonlyMap<string, string> = new Map()

function asked({ lists, tasks, traces }: Topics, { kind }: RingEvent): Asked {
  const ifAsked = (list: ListTopic) => (lists.has(list) ? list : undefined)
  const idOf = ({ id }: ChangedObject) => id
  switch (kind) {
    case 'task':
      return { list: ifAsked('tasks'), single: tasks, idOf }
    case 'trace':
      return { list: undefined, single: traces, idOf }
    case 'incident':
      return { list: ifAsked('incidents'), single: noTopics, idOf }
    case 'finding':
      return {
        list: ifAsked('findings'),
        single: tasks,
        idOf: ({ task_id = '' }) => task_id,
      }
  }
}
