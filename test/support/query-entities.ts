import type { InsertObject } from 'kysely'
import { clickhouse } from '../../src/capabilities/query/compile/dialects/clickhouse.ts'
import { postgres } from '../../src/capabilities/query/compile/dialects/postgres.ts'
import { catalogue } from '../../src/capabilities/query/language/catalogue.ts'
import type { RecordStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type {
  CorrelationDraft,
  EventDraft,
  LinkDraft,
  TextPairs,
} from '../../src/model/ingest-records.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import type {
  DetectionTables,
  Relational,
  TaskTables,
} from '../../src/platform/relational/index.ts'
import type { PlainRecord } from './query-evaluation.ts'
import {
  filtersOver,
  groupsOver,
  type Measurable,
  ordersOver,
  type Pools,
} from './query-filters.ts'
import { queryStart } from './query-records.ts'
import { correlationOf, eventOf, linkOf, rowsOf } from './records.ts'

/** Stores of entities that only one store holds. */
export type Stores = {
  columnar: ColumnarServer
  records: RecordStore
  relational: Relational<TaskTables & DetectionTables>
}
type Entity = 'events' | 'links' | 'correlations' | 'tasks' | 'findings'

/** An entity's records, many of whose texts are unknown, and arbitrary queries about them. */
export type EntityCase = ReturnType<typeof caseOf>

const count = 90
const second = 1_000_000_000n
/** Mostly unknown. */
const words = ['', 'ana', '', 'Ben', '', 'zoë', '']
const traceIds = Array.from({ length: 7 }, (_, at) => {
  return `${(99 - at).toString(16)}98c0de-0000-7000-8000-00000000000${at}`
})

function word(seed: number): string {
  return words[seed % words.length] ?? ''
}

function common(project_id: string, at: number) {
  const time = queryStart + BigInt(at % 40) * 80n * second
  return { project_id, trace_id: traceIds[at % 7] ?? '', time }
}

function labels(key: string, seed: number): TextPairs {
  return seed % 3 === 0 ? [] : [key, word(seed)]
}

/** A draft as answers show it. */
function plainDraft({ time, ...draft }: EventDraft | LinkDraft | CorrelationDraft): PlainRecord {
  const pairs = ('metadata' in draft ? draft.metadata : draft.attributes) as readonly string[]
  const map = pairs.length === 0 ? {} : { [String(pairs[0])]: pairs[1] }
  const name = 'metadata' in draft ? 'metadata' : 'attributes'
  const level = 'level' in draft ? { has_error: draft.level === 'error' } : {}
  return { ...draft, ...level, time: isoFromNs(time), [name]: map }
}

function eventAt(project_id: string, at: number): EventDraft {
  return eventOf({
    ...common(project_id, at),
    observation_id: word(at),
    event_id: `e${at}`,
    name: `event ${at % 4}`,
    level: at % 4 === 0 ? 'error' : '',
    body: word(at * 3),
    attributes: labels('k', at),
  })
}

function linkAt(project_id: string, at: number): LinkDraft {
  return linkOf({
    ...common(project_id, at),
    observation_id: `o${at % 5}`,
    link_id: `l${at}`,
    linked_trace_id: traceIds[(at * 3) % 7] ?? '',
    linked_observation_id: word(at),
    attributes: labels('k', at),
  })
}

function correlationAt(project_id: string, at: number): CorrelationDraft {
  return correlationOf({
    ...common(project_id, at),
    observation_id: word(at),
    correlation_type: `type_${at % 3}`,
    correlation_value: `value ${at}`,
    metadata: labels('k', at),
  })
}

function taskAt(project_id: string, at: number): PlainRecord {
  const started_at = isoFromNs(common(project_id, at).time)
  const times = { started_at, last_activity_at: started_at, duration_ms: at % 7 }
  const ended_at = at % 3 === 0 ? started_at : null
  return {
    ...{ project_id, task_id: `task-${at}`, name: word(at * 5), implicit: at % 2 === 0 },
    ...{ ...times, ended_at, state: at % 4 === 0 ? 'failed' : 'running' },
    // Null and the empty text are both unknown.
    user_id: at % 6 === 0 ? null : word(at),
    conversation_id: at % 2 === 0 ? null : (traceIds[at % 7] ?? ''),
    environment: at % 5 === 0 ? null : word(at * 3),
    // The naive evaluation has no derived fields.
    ...(at % 3 === 0
      ? { trust_score: null, verification_state: 'not_verified' }
      : { trust_score: (at % 5) / 4, verification_state: 'verified' }),
    ...{ end_note: word(at + 1), calls: at % 9, models: at % 3 === 0 ? [] : ['m-1', 'm-2'] },
  }
}

function findingAt(project_id: string, at: number): PlainRecord {
  const started_at = isoFromNs(common(project_id, at).time)
  return {
    ...{ finding_id: newId(), project_id, task_id: 'task-0', kind: 'loop', type: `t${at % 3}` },
    ...{ detector: word(at * 2), detector_version: 1, severity: 'high', state: 'open' },
    ...{ summary: word(at), start_step: at % 3 === 0 ? null : at % 10, recovered: at % 2 === 0 },
    judge: at % 4 === 0 ? null : word(at * 3),
    ...{ confidence: (at % 4) / 4, wasted_tokens: at, wasted_cost_usd: '0.5', started_at },
  }
}

async function insertFindings({ relational }: Stores, findings: readonly PlainRecord[]) {
  const { db } = relational
  const [first] = findings
  const task = taskAt(String(first?.['project_id']), 0) as unknown
  await db
    .insertInto('tasks')
    .values(task as InsertObject<TaskTables, 'tasks'>)
    .execute()
  const missing = { places: '[]', evidence: '{}', trace_ids: [] }
  await db
    .insertInto('findings')
    .values(
      findings.map((each) => {
        const at = String(each['started_at'])
        const row = { ...each, ...missing, first_detected_at: at, updated_at: at }
        return row as unknown as InsertObject<DetectionTables, 'findings'>
      }),
    )
    .execute()
}

type Words = { text: string[]; pools?: Pools; sorted: string[]; measured: string[] }

function caseOf(
  entity: Entity,
  { text, pools = {}, sorted, measured }: Words,
  recordsIn: (project_id: string) => {
    plain: PlainRecord[]
    insert: (stores: Stores) => Promise<void>
  },
) {
  const compared = ['ana', 'b', 'Ben', 'zoë', 'zz', 'value 3', 'o3', 'event 2', 'task-3']
  const all = { ...Object.fromEntries(text.map((name) => [name, compared])), ...pools }
  const where = filtersOver(entity, all)
  const groups: Measurable = { groups: text.slice(0, 5), counted: text, measured }
  return {
    entity,
    dialect: catalogue[entity].stores.clickhouse ? clickhouse : postgres,
    recordsIn,
    select: [...sorted, ...text],
    where,
    order: ordersOver([...text, ...sorted]),
    groups: groupsOver(where, groups),
  }
}

function drafts<D extends EventDraft | LinkDraft | CorrelationDraft>(
  make: (project_id: string, at: number) => D,
  insert: (stores: Stores, given: D[]) => Promise<void>,
) {
  return (project_id: string) => {
    const given = Array.from({ length: count }, (_, at) => make(project_id, at))
    return { plain: given.map(plainDraft), insert: (stores: Stores) => insert(stores, given) }
  }
}

const token = () => ({ token: newId() })
/** The first field is the time of records; the second is more precise than PostgreSQL stores. */
const instants = ['2026-09-21T14:30:40Z', '2026-09-21T14:30:40.0000004Z']
const ids = { trace_id: traceIds.slice(0, 3), time: instants }

/** Entities that only one of the stores holds. */
export const entityCases: readonly EntityCase[] = [
  caseOf(
    'events',
    {
      text: ['observation_id', 'level', 'name', 'attributes.k'],
      pools: { ...ids, has_error: [true, false], body: ['ana', 'b', 'zoë'] },
      sorted: ['time', 'trace_id', 'event_id'],
      measured: ['time'],
    },
    drafts(eventAt, ({ records }, given) =>
      records.insertRows('events', rowsOf('events', given), token()),
    ),
  ),
  caseOf(
    'links',
    {
      text: ['linked_observation_id', 'observation_id', 'attributes.k'],
      pools: { ...ids, linked_trace_id: traceIds.slice(0, 3) },
      sorted: ['time', 'trace_id', 'linked_trace_id', 'link_id'],
      measured: ['time'],
    },
    drafts(linkAt, ({ records }, given) =>
      records.insertRows('links', rowsOf('links', given), token()),
    ),
  ),
  caseOf(
    'correlations',
    {
      text: ['observation_id', 'correlation_type', 'metadata.k', 'correlation_value'],
      pools: ids,
      sorted: ['time', 'trace_id'],
      measured: ['time'],
    },
    drafts(correlationAt, ({ records }, given) =>
      records.insertRows('correlations', rowsOf('correlations', given), token()),
    ),
  ),
  caseOf(
    'tasks',
    {
      text: ['user_id', 'name', 'environment', 'end_note', 'conversation_id', 'task_id'],
      pools: {
        ...{ models: ['m-1', 'm-3'], calls: [0, 4], ended_at: instants, started_at: instants },
        ...{ trust_score: [0, 0.5, 1], verification_state: ['not_verified', 'verified'] },
      },
      sorted: ['started_at', 'ended_at', 'calls', 'duration_ms', 'trust_score'],
      measured: ['calls', 'ended_at', 'trust_score'],
    },
    (project_id) => {
      const plain = Array.from({ length: count }, (_, at) => taskAt(project_id, at))
      const insert = async ({ relational: { db } }: Stores) => {
        const rows = plain as unknown as InsertObject<TaskTables, 'tasks'>[]
        await db.insertInto('tasks').values(rows).execute()
      }
      return { plain, insert }
    },
  ),
  caseOf(
    'findings',
    {
      text: ['judge', 'summary', 'detector', 'type'],
      pools: { start_step: [0, 4], recovered: [true, false], confidence: [0.25, 0.5] },
      sorted: ['started_at', 'start_step', 'confidence', 'finding_id'],
      measured: ['start_step', 'wasted_tokens', 'started_at'],
    },
    (project_id) => {
      const plain = Array.from({ length: count }, (_, at) => findingAt(project_id, at))
      return { plain, insert: (stores) => insertFindings(stores, plain) }
    },
  ),
]
