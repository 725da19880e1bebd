import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Option } from './command.ts'
import { incidentFilters, incidentParameters } from './incidents/incident-options.ts'
import { instantFrom, pageEndText } from './list-options.ts'
import { taskFilters, taskOrder, taskParameters } from './tasks/task-options.ts'
import { treeOptions } from './traces/tree-options.ts'

type Parameter = { name: string; schema: { enum?: string[]; type?: string } }
const document = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8'))

/** A part of the document in place of the reference to it. */
function resolved<Part>(part: Part | { $ref: string }): Part {
  if (typeof part !== 'object' || part === null || !('$ref' in part)) return part as Part
  const steps = part.$ref.split('/').slice(1)
  return resolved(steps.reduce((from, step) => from[step], document))
}

/** The query parameters of a route, with their schemas. */
function parametersOf(path: string): Parameter[] {
  const all: unknown[] = document.paths[path].get.parameters
  return all
    .map((one) => resolved(one as Parameter & { in: string }))
    .filter((one) => one.in === 'query')
    .map(({ name, schema }) => ({ name, schema: resolved(schema) }))
}

type Listed = [string, Readonly<Record<string, Option>>, Readonly<Record<string, string>>]

test.each<Listed>([
  ['/api/v1/tasks', { ...taskFilters, ...taskOrder }, taskParameters],
  ['/api/v2/observability/incidents', incidentFilters, incidentParameters],
  ['/api/v2/observability/traces/{trace_id}/explorer', treeOptions, {}],
])('each option is a parameter of %s with the same values', (path, options, names) => {
  const parameters = parametersOf(path)
  for (const [option, { choices, multiple }] of Object.entries(options)) {
    const name = names[option] ?? option.replaceAll('-', '_')
    const parameter = parameters.find((one) => one.name === name)
    expect(parameter, name).toBeDefined()
    if (multiple) continue
    const isFlag = parameter?.schema.type === 'boolean'
    expect([name, choices]).toEqual([name, isFlag ? ['true', 'false'] : parameter?.schema.enum])
  }
})

test('each filter of tasks is an option', () => {
  const known = Object.keys({ ...taskFilters, ...taskOrder }).map(
    (option) => taskParameters[option as 'search'] ?? option.replaceAll('-', '_'),
  )
  const queried = parametersOf('/api/v1/tasks').map(({ name }) => name)
  expect([...known, 'limit', 'cursor'].toSorted()).toEqual(queried.toSorted())
})

test('an instant is one, or an age', () => {
  const io = { now_ms: () => Date.parse('2026-11-29T12:00:00Z') }
  expect(instantFrom('from', '90m', io)).toBe('2026-11-29T10:30:00.000Z')
  expect(instantFrom('from', '2026-11-29T08:00:00+02:00', io)).toBe('2026-11-29T06:00:00.000Z')
  const local = new Date(2026, 10, 29).toISOString()
  expect(instantFrom('from', '2026-11-29', io)).toBe(local)
  for (const text of ['', 'yesterday', '2026-11-32', '1', '20261129']) {
    expect(() => instantFrom('from', text, io)).toThrow(`--from: got "${text}"`)
  }
})

test('the end of a page says what it shows and how to go on', () => {
  expect(pageEndText({ shown: 1, total: 1, next_cursor: null }, 'task')).toBe('1 task.')
  expect(pageEndText({ shown: 2, total: 9, next_cursor: 'abc' }, 'task')).toBe(
    '2 of 9 tasks. Next page: --cursor abc',
  )
})
