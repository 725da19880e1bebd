import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declaredBy } from '../../src/capabilities/access/index.ts'
import {
  NamedTable,
  namedDocumentRoutes,
  ProjectTable,
  projectDocumentRoutes,
} from '../../src/capabilities/documents/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { ManagedBy } from '../../src/model/managed-by.ts'
import { record } from '../../src/model/named-schemas.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { openIdempotencyStore } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type IncidentApi, openIncidentApi } from '../support/incident-api.ts'
import { authorize, operatorOf, tokenOf } from '../support/task-api.ts'

// Documents of the test's own, in tables that the product has.

type Text = { text: string }
type StoredNote = {
  id: string
  project_id: string
  name: string
  spec: Text
  version: number
  managed_by: ManagedBy | null
  created_at: string
  updated_at: string
  updated_by: string
}
type StoredTitle = {
  project_id: string
  spec: Text
  version: number
  updated_at: string
  updated_by: string
}

const notes = new NamedTable<StoredNote>('incident_rules', {
  json: ['spec', 'managed_by'],
  noun: 'note',
  not_found: 'incident_rule_not_found',
})
const titles = new ProjectTable<StoredTitle>('incident_default_routes', {
  json: ['spec'],
  defaults: { spec: { text: 'untitled' } },
})
const notes_max = 3
const clock = { now_ms: () => Date.UTC(2026, 10, 29) }

let projects: IncidentApi
let server: HttpServer

beforeAll(async () => {
  projects = await openIncidentApi()
  const logger = createLogger({ role: 'test', level: 'silent' })
  const { db } = projects
  server = await createHttpServer({
    routes: [...noteRoutes(db), ...titleRoutes(db)],
    authorize,
    idempotency: openIdempotencyStore(db),
    logger,
    metrics: createMetrics(),
    clock,
    body_bytes_max: 100_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
})
afterAll(async () => {
  await server.close()
  await projects[Symbol.asyncDispose]()
})

function noteRoutes(db: IncidentApi['db']) {
  const operation = (id: string) => ({ id, summary: `Test of ${id}` })
  return namedDocumentRoutes(
    { db, clock },
    {
      table: notes,
      title: 'notes',
      documents_max: notes_max,
      is_owned: true,
      url: '/notes',
      item_url: '/notes/{note_id}',
      list: { ...operation('listNotes'), reply: 'TestNoteList', field: 'notes' },
      create: { ...operation('createNote'), again: 'The resource declares the note already.' },
      get: operation('getNote'),
      put: operation('putNote'),
      delete: operation('deleteNote'),
      reads: { level: 'project', role: 'viewer', key: 'incidents:read', operator: true },
      writes: { level: 'project', role: 'admin', key: null, operator: true },
      body: record('TestNoteRequest', {
        name: z.string(),
        text: z.string(),
        managed_by: declaredBy,
      }),
      reply: record('TestNote', { note_id: z.uuid(), name: z.string(), version: z.int() }),
      errors: ['name_taken'],
      toColumns: async (_trx, { spec: { name, text }, managed_by, before }) => {
        const isSame = before?.name === name && before.spec.text === text
        if (isSame && before.managed_by?.name === managed_by?.name) return undefined
        const columns = { name, spec: { text }, kind: 'event', suspended: false }
        return { columns, unique: { name } }
      },
      toReplies: async (rows) =>
        rows.map(({ id, name, version }) => ({ note_id: id, name, version })),
    },
  )
}

function titleRoutes(db: IncidentApi['db']) {
  return projectDocumentRoutes(
    { db, clock },
    {
      table: titles,
      url: '/title',
      get: {
        id: 'getTitle',
        summary: 'Test of getTitle',
        auth: 'jwt',
        scope: { level: 'project', role: 'viewer', key: null },
      },
      put: { id: 'putTitle', summary: 'Test of putTitle' },
      body: record('TestTitleRequest', { text: z.string() }),
      reply: record('TestTitle', { text: z.string(), version: z.int() }),
      errors: ['store_unavailable'],
      toColumns: (spec) => ({ spec }),
      toReply: ({ spec, version }) => ({ ...spec, version }),
    },
  )
}

type Call = { as?: Record<string, string>; body?: object; if_match?: string | undefined }

async function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, about: Call) {
  const { as = {}, body, if_match } = about
  const reply = await server.inject({
    method,
    url,
    headers: { ...as, ...(if_match !== undefined && { 'if-match': if_match }) },
    ...(body && { payload: body }),
  })
  const parsed = reply.payload === '' ? {} : reply.json()
  return { status: reply.statusCode, code: parsed.code, body: parsed, etag: reply.headers['etag'] }
}

const admin = (project: string) => tokenOf('admin', project)

describe('the document of a project', () => {
  test('has its defaults as version 0, and one more version with each change', async () => {
    const as = admin(await projects.newProject())
    const unset = await call('GET', '/title', { as })
    expect([unset.body, unset.etag]).toEqual([
      { text: 'untitled', version: 0 },
      expect.stringMatching(/^"0-/),
    ])
    for (const version of [1, 2, 3]) {
      const put = await call('PUT', '/title', { as, body: { text: `title ${version}` } })
      expect([put.body, put.etag]).toEqual([{ text: `title ${version}`, version }, `"${version}"`])
    }
  })

  test.each(['"0"', '"2"', '"x"', 'W/"1"', '1'])(
    'is not replaced with If-Match: %s',
    async (tag) => {
      const as = admin(await projects.newProject())
      await call('PUT', '/title', { as, body: { text: 'one' } })
      const refused = await call('PUT', '/title', { as, body: { text: 'two' }, if_match: tag })
      expect([refused.status, refused.code]).toEqual([412, 'precondition_failed'])
      expect((await call('GET', '/title', { as })).body).toEqual({ text: 'one', version: 1 })
    },
  )

  test.each(['"0"', '"1"'])(
    'has one winner of many writers with If-Match: %s',
    async (if_match) => {
      const as = admin(await projects.newProject())
      if (if_match === '"1"') await call('PUT', '/title', { as, body: { text: 'first' } })
      const writers = ['a', 'b', 'c', 'd', 'e', 'f']
      const replies = await Promise.all(
        writers.map((text) => call('PUT', '/title', { as, body: { text }, if_match })),
      )
      const won = replies.filter(({ status }) => status === 200)
      expect(replies.filter(({ status }) => status === 412)).toHaveLength(writers.length - 1)
      expect((await call('GET', '/title', { as })).body).toEqual(won[0]?.body)
    },
  )

  test('counts the writers without If-Match', async () => {
    const as = admin(await projects.newProject())
    const texts = ['a', 'b', 'c', 'd', 'e', 'f']
    const replies = await Promise.all(
      texts.map((text) => call('PUT', '/title', { as, body: { text } })),
    )
    expect(replies.map(({ body }) => body.version).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('is not seen or changed by another project', async () => {
    const [as, other] = [admin(await projects.newProject()), admin(await projects.newProject())]
    await call('PUT', '/title', { as, body: { text: 'mine' } })
    expect((await call('GET', '/title', { as: other })).body.version).toBe(0)
    await call('PUT', '/title', { as: other, body: { text: 'theirs' } })
    expect((await call('GET', '/title', { as })).body).toEqual({ text: 'mine', version: 1 })
  })
})

describe('a document of several', () => {
  test('of another project is not found, nor changed', async () => {
    const [as, other] = [admin(await projects.newProject()), admin(await projects.newProject())]
    const body = { name: 'mine', text: 'one' }
    const { note_id } = (await call('POST', '/notes', { as, body })).body
    for (const id of [note_id, newId(), 'x'.repeat(200)]) {
      const replies = await Promise.all([
        call('GET', `/notes/${id}`, { as: other }),
        call('PUT', `/notes/${id}`, { as: other, body }),
        call('DELETE', `/notes/${id}`, { as: other }),
      ])
      for (const reply of replies) {
        expect([reply.status, reply.code]).toEqual([404, 'incident_rule_not_found'])
      }
    }
    expect((await call('GET', '/notes', { as: other })).body).toMatchObject({ notes: [], total: 0 })
    expect((await call('GET', `/notes/${note_id}`, { as })).body.version).toBe(1)
  })

  test('of another project is not chosen by statements either, without the policies of the store', async () => {
    const { db } = projects
    const [project, project_id] = [await projects.newProject(), await projects.newProject()]
    const body = { name: 'mine', text: 'one' }
    const { note_id: id } = (await call('POST', '/notes', { as: admin(project), body })).body
    await expect(notes.read(db, { project_id, id })).rejects.toThrow('note_id')
    expect(await notes.lock(db, { project_id, id })).toBeUndefined()
    expect(await notes.findBy(db, project_id, { name: 'mine' })).toBeUndefined()
    expect(await notes.count(db, project_id, 10)).toBe(0)
    const page = await notes.select(db, project_id, { after: undefined, limit: 10, count_max: 10 })
    expect(page).toEqual({ rows: [], counted: 0 })
    await expect(notes.replace(db, { project_id, id }, { name: 'theirs' })).rejects.toThrow()
    await notes.setOwner(db, { project_id, id }, null)
    await notes.delete(db, { project_id, id })
    expect(await notes.read(db, { project_id: project, id })).toMatchObject({ name: 'mine' })
  })

  test('has one of many writers at once, for a version, a name or the last place', async () => {
    const as = admin(await projects.newProject())
    const texts = ['a', 'b', 'c', 'd', 'e', 'f']
    const named = await Promise.all(
      texts.map((text) => call('POST', '/notes', { as, body: { name: 'same', text } })),
    )
    expect(named.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(named.filter(({ code }) => code === 'name_taken')).toHaveLength(5)
    const { note_id } = named.find(({ status }) => status === 201)?.body ?? {}
    const replaced = await Promise.all(
      texts.map((text) => {
        const body = { name: 'same', text: `changed ${text}` }
        return call('PUT', `/notes/${note_id}`, { as, body, if_match: '"1"' })
      }),
    )
    expect(replaced.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replaced.filter(({ status }) => status === 412)).toHaveLength(5)
    const filled = await Promise.all(
      texts.map((name) => call('POST', '/notes', { as, body: { name, text: 'new' } })),
    )
    expect(filled.filter(({ status }) => status === 201)).toHaveLength(notes_max - 1)
    expect(filled.filter(({ code }) => code === 'limit_reached')).toHaveLength(4)
  })

  test('tells a namespace only the names of its own resources', async () => {
    const project = await projects.newProject()
    const as = operatorOf(project)
    const taken = async (by: ManagedBy) => {
      const body = { name: 'declared', text: '', managed_by: by }
      return (await call('POST', '/notes', { as, body })).body.detail
    }
    await taken(ownerOf('one'))
    expect(await taken(ownerOf('two'))).toContain('the note of Note team-a/one')
    const far = await taken({ ...ownerOf('two'), namespace: 'team-b' })
    expect(far).toContain('another note of the project')
  })
})

function ownerOf(name: string): ManagedBy {
  return { kind: 'Note', namespace: 'team-a', name, uid: `uid-${name}` }
}

// A naive model of documents, against any sequence of calls.

type Note = { name: string; text: string; owner: string | null; version: number; id?: string }
type Writer = string | null
type Step =
  | { type: 'post'; writer: Writer; name: string; text: string }
  | { type: 'put'; writer: Writer; at: number; name: string; text: string; if_match?: string }
  | { type: 'delete'; writer: Writer; at: number; retain: boolean; if_match?: string }

const writer = fc.constantFrom<Writer>(null, null, 'one', 'two')
const name = fc.constantFrom('a', 'b', 'c', 'd')
const text = fc.constantFrom('x', 'y')
const at = fc.nat({ max: 3 })
const if_match = fc.constantFrom(undefined, undefined, '*', '"1"', '"2"')
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('post' as const), writer, name, text }),
    fc.record({ type: fc.constant('put' as const), writer, at, name, text, if_match }),
    fc.record({
      type: fc.constant('delete' as const),
      ...{ writer, at, if_match, retain: fc.boolean() },
    }),
  ) as fc.Arbitrary<Step>,
  { minLength: 4, maxLength: 16 },
)

type Outcome = [status: number, code?: string]

/** Applies a step to the notes; returns the status and the code of the error. */
function applyStep(all: Note[], step: Step): Outcome {
  if (step.type === 'post') return create(all, step)
  if (step.type === 'delete' && step.retain && step.writer === null) return [400, 'invalid_request']
  const note = all[step.at]
  if (note === undefined) return [404, 'incident_rule_not_found']
  if (note.owner !== null && note.owner !== step.writer) return [409, 'managed_by_kubernetes']
  if (![undefined, '*', `"${note.version}"`].includes(step.if_match)) {
    return [412, 'precondition_failed']
  }
  return step.type === 'put' ? replace(all, note, step) : remove(all, note, step)
}

function create(all: Note[], { writer: owner, name, text }: Step & { type: 'post' }): Outcome {
  if (owner !== null && all.some((note) => note.owner === owner)) return [200]
  if (all.some((note) => note.name === name)) return [409, 'name_taken']
  if (all.length >= notes_max) return [409, 'limit_reached']
  all.push({ name, text, owner, version: 1 })
  return [201]
}

function replace(all: Note[], note: Note, step: Step & { type: 'put' }): Outcome {
  const { writer: owner, name, text } = step
  if (note.name === name && note.text === text && note.owner === owner) return [200]
  if (all.some((other) => other !== note && other.name === name)) return [409, 'name_taken']
  Object.assign(note, { name, text, owner, version: note.version + 1 })
  return [200]
}

function remove(all: Note[], note: Note, { writer, retain }: Step & { type: 'delete' }): Outcome {
  if (writer !== null && note.owner === null) return [403, 'permission_denied']
  if (retain) note.owner = null
  else all.splice(all.indexOf(note), 1)
  return [204]
}

async function callStep(project: string, id: string, step: Step) {
  const { writer: by } = step
  const as = by === null ? admin(project) : operatorOf(project)
  if (step.type === 'delete') {
    const query = new URLSearchParams({
      ...(by !== null && { managed_by: `Note/team-a/${by}` }),
      ...(step.retain && { retain: 'true' }),
    })
    return call('DELETE', `/notes/${id}?${query}`, { as, if_match: step.if_match })
  }
  const { name, text } = step
  const body = { name, text, ...(by !== null && { managed_by: ownerOf(by) }) }
  if (step.type === 'post') return call('POST', '/notes', { as, body })
  return call('PUT', `/notes/${id}`, { as, body, if_match: step.if_match })
}

test('documents behave like a list in memory, whoever changes them', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const project = await projects.newProject()
      const model: Note[] = []
      for (const step of given) {
        const id = step.type === 'post' ? '' : (model[step.at]?.id ?? newId())
        const reply = await callStep(project, id, step)
        const [status, code] = applyStep(model, step)
        expect([reply.status, reply.code], JSON.stringify(step)).toEqual([status, code])
        const created = status === 201 ? model.at(-1) : undefined
        if (created) created.id = reply.body.note_id
      }
      const { body } = await call('GET', '/notes', { as: admin(project) })
      const listed = model
        .toReversed()
        .map(({ id, name, version }) => ({ note_id: id, name, version }))
      expect(body).toEqual({ notes: listed, total: listed.length, next_cursor: null })
    }),
    { numRuns: 25 },
  )
})
