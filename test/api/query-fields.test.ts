import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aggregateSchema, querySchema } from '../../src/capabilities/query/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Json, openQueryApi, type QueryApi } from '../support/query-api.ts'
import { keyOf } from '../support/task-api.ts'

const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }

const sampleOf: Record<string, unknown> = {
  text: 'x',
  uuid: '0198c0de-0000-7000-8000-000000000002',
  integer: 1,
  decimal: '0.1',
  float: 0.5,
  time: '2026-09-21T15:00:00Z',
  bool: true,
  list: 'x',
  json: null,
}

let api: QueryApi
let listed: Json
beforeAll(async () => {
  api = await openQueryApi()
  const { status, body } = await api.call('query/fields', undefined, { method: 'GET' })
  expect(status).toBe(200)
  listed = body
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** Returns the value that an operator compares a field of a type with. */
function valueFor(type: string, op: string): unknown {
  if (op === 'exists') return true
  return op === 'in' || op === 'not_in' ? [sampleOf[type]] : sampleOf[type]
}

/** Calls `check` with each field of each entity, and its type's operators and functions. */
function eachField(check: (entity: Json, field: Json, type: Json) => void): void {
  for (const entity of listed.entities) {
    for (const field of entity.fields) {
      const type = listed.types.find((each: Json) => each.type === field.type)
      check(entity, field, type)
    }
  }
}

describe('the list of fields', () => {
  test('names exactly the operators that a query accepts', () => {
    const all = new Set<string>(listed.types.flatMap((each: Json) => each.operators))
    eachField(({ name: entity }, field, { operators }) => {
      for (const op of all) {
        const where = { field: field.name, op, value: valueFor(field.type, op) }
        const { success } = querySchema.safeParse({ entity, window, where })
        expect([entity, field.name, op, success]).toEqual([
          entity,
          field.name,
          op,
          operators.includes(op),
        ])
      }
    })
  })

  test('names exactly the functions that an aggregate accepts', () => {
    const all = new Set<string>(listed.types.flatMap((each: Json) => each.functions))
    eachField(({ name: entity }, field, { functions }) => {
      for (const fn of all) {
        const measures = [{ fn, field: field.name, as: 'm' }]
        const { success } = aggregateSchema.safeParse({ entity, window, measures })
        const about = [entity, field.name, fn]
        expect([...about, success]).toEqual([...about, functions.includes(fn)])
      }
    })
    for (const { name: entity, has_errors } of listed.entities) {
      for (const fn of listed.functions_without_field) {
        const { success } = aggregateSchema.safeParse({
          entity,
          window,
          measures: [{ fn, as: 'm' }],
        })
        expect([entity, fn, success]).toEqual([entity, fn, fn !== 'error_rate' || has_errors])
      }
    }
  })

  test('says which fields can be sorted and grouped by, and which are large', () => {
    eachField(({ name: entity }, { name, sortable, groupable, large }) => {
      const sorted = querySchema.safeParse({ entity, window, order_by: [{ field: name }] })
      const measures = [{ fn: 'count', as: 'm' }]
      const grouped = aggregateSchema.safeParse({ entity, window, measures, group_by: [name] })
      const columns = querySchema.parse({ entity, window }).query.select.map((each) => each.name)
      expect([entity, name, sorted.success, grouped.success, !columns.includes(name)]).toEqual([
        ...[entity, name, sortable, groupable, large],
      ])
    })
  })

  test('says which entities have maps and restored rows', () => {
    for (const { name: entity, maps, restorable } of listed.entities) {
      for (const map of ['attributes', 'metadata']) {
        const where = { field: `${map}.x`, op: 'eq', value: 'y' }
        const { success } = querySchema.safeParse({ entity, window, where })
        expect([entity, map, success]).toEqual([entity, map, maps.includes(map)])
      }
      const { success } = querySchema.safeParse({ entity, window, include_restored: true })
      expect([entity, success]).toEqual([entity, restorable])
    }
  })

  test('is for readers of the project', async () => {
    const about = { method: 'GET' as const }
    const withKey = (key: Record<string, string>) =>
      api.call('query/fields', undefined, { ...about, headers: key })
    expect((await withKey({})).status).toBe(401)
    expect((await withKey(keyOf(newId(), 'ingest:write'))).status).toBe(403)
    expect((await withKey(keyOf(newId(), 'traces:read'))).body).toEqual(listed)
  })
})
