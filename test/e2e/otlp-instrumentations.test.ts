import { beforeAll, describe, expect, test } from 'vitest'
import type { Observation } from '../../src/model/observation.ts'
import { answeredModel, askedModel } from '../support/clients/instrumented/instrumented-script.ts'
import {
  type Library,
  libraries,
  noUsage,
  type Row,
} from '../support/clients/instrumented/libraries.ts'
import {
  type LibraryRun,
  type LibraryRuns,
  runLibraries,
} from '../support/clients/instrumented/run-libraries.ts'

let runs: LibraryRuns
beforeAll(async () => {
  runs = await runLibraries(libraries)
})

test('the ledger balances: everything that was sent is stored, but for metrics', () => {
  const items = libraries.reduce((sum, library) => sum + library.items, 0)
  const sums = { stored: items, pending: 0, lost: 0, masked: 0 }
  const { accepted, rejected, rejected_by_reason } = runs.ledger
  expect(runs.ledger).toMatchObject(sums)
  expect([accepted, rejected_by_reason]).toEqual([
    items + Number(rejected),
    [{ reason: 'unknown_metric', items: rejected }],
  ])
})

test('the programs really called the provider', () => {
  expect(runs.requests_of_provider).toBe(libraries.length * 5)
})

describe.each(libraries)('$library of $language', (library) => {
  const run = () => runOf(library)
  const everywhere: Row = {
    type: 'generation',
    source: 'otlp',
    contract_version: 'phase9-otlp-v1',
    provider: 'openai',
    model_requested: askedModel,
    service_name: 'parcel-desk',
    content_state: 'full',
    ...library.everywhere,
  }
  const answered: Row = {
    ...everywhere,
    status: 'ok',
    error_type: '',
    error_message: '',
    model: answeredModel,
    finish_reason: 'stop',
    price_version: expect.stringContaining('genai-prices'),
  }

  test('a plain answer', () => {
    const call = onlyCall(run(), 'plain')
    expect(call).toMatchObject({ ...answered, ...library.usage.whole, streamed: false })
    expect(call.cost_usd).toMatch(/^0\.0000/)
    expect(messagesOf(call.input)).toEqual(asked('plain: where is parcel 7?'))
    expect(messagesOf(call.output)).toEqual([['assistant', 'Parcel 7 left Zürich at noon. 📦']])
    expect([call.tool_calls, call.tool_results]).toEqual([[], []])
  })

  test('a streamed answer', () => {
    const call = onlyCall(run(), 'stream')
    expect(call).toMatchObject({
      ...answered,
      ...library.usage.streamed,
      ...(library.usage.streamed === noUsage && { cost_usd: null, price_version: '' }),
      ...library.stream,
    })
    expect(messagesOf(call.input)).toEqual(asked('stream: where is parcel 7?'))
    expect(messagesOf(call.output)).toEqual([['assistant', 'Parcel 7 left Zürich at noon. 📦']])
    const took_ms = Number(call.end_time - call.start_time) / 1e6
    if (library.has_time_to_first_token) {
      expect(call.time_to_first_token_ms).toBeGreaterThan(0)
      expect(call.time_to_first_token_ms).toBeLessThanOrEqual(took_ms)
    } else expect(call.time_to_first_token_ms).toBeNull()
  })

  test('a tool: the requested call, and its result in the next request', () => {
    const [asking, answering, ...more] = callsOf(run(), 'tools')
    expect(more).toEqual([])
    expect(asking).toMatchObject({
      ...answered,
      ...library.usage.whole,
      finish_reason: 'tool_calls',
      tool_calls: [{ id: 'call_weather_1', name: 'weather' }],
      tool_results: [],
    })
    expect(JSON.parse(asking?.tool_calls[0]?.arguments ?? '')).toEqual({ city: 'Zürich' })
    expect(answering).toMatchObject({
      ...answered,
      ...library.usage.after_tool,
      tool_calls: [],
      tool_results: [{ tool_call_id: 'call_weather_1', content: '{"celsius":7}' }],
    })
    const roles = messagesOf(answering?.input ?? '').map(([role]) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(messagesOf(answering?.output ?? '')).toEqual([['assistant', 'It is 7 °C in Zürich.']])
  })

  test('a refused call', () => {
    const calls = callsOf(run(), 'refused')
    if (library.refused === undefined) {
      expect(calls).toEqual([])
      return
    }
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({
      ...everywhere,
      ...noUsage,
      ...library.refused,
      status: 'error',
      error_message: expect.stringContaining('The script makes the provider fail.'),
      model: '',
      finish_reason: '',
      cost_usd: null,
    })
    expect(messagesOf(calls[0]?.input ?? '')).toEqual(asked('refused: at once'))
  })

  test('content is in no attribute; other attributes stay', () => {
    for (const row of Object.values(run().rows).flat()) {
      const attributes = JSON.stringify(row.attributes)
      for (const words of ['arcel 7', 'track parcels', 'celsius', 'at once', '°C']) {
        expect(attributes).not.toContain(words)
      }
    }
    expect(onlyCall(run(), 'plain').attributes).toMatchObject({ 'otel.scope.name': library.scope })
  })

  test('calls are below their roots, and each is explained', () => {
    const { rows, explained } = run()
    for (const name of Object.keys(rows)) {
      for (const call of callsOf(run(), name)) {
        expect(rootOf(rows[name] ?? [], call)?.name).toBe(name)
        expect(call.task_id).toBe(call.trace_id)
        expect(explained[call.observation_id]).toMatchObject({ is_contract_known: true, cut: [] })
      }
    }
    const { observation_id } = onlyCall(run(), 'plain')
    const fields = explained[observation_id]?.['fields'] as Explained[]
    const sources = fields.map(({ field, source, given_by }) => [field, source ?? given_by])
    expect(Object.fromEntries(sources)).toMatchObject(library.sources)
  })
})

test('embeddings of openinference', () => {
  const rows = runOf(libraries[0]).rows['embeddings'] ?? []
  expect(rows.find(({ type }) => type === 'embedding')).toMatchObject({
    model_requested: 'text-embedding-3-small',
    provider: 'openai',
    status: 'ok',
    input: '["where is parcel 7?"]',
    output: '',
  })
})

test('the GenAI events of the official instrumentation are events of their spans', () => {
  const { events, rows } = runOf(libraries.at(-1))
  for (const name of ['plain', 'stream', 'tools', 'refused']) {
    const calls = callsOf({ rows }, name)
    expect(events[name]).toMatchObject(
      calls.map(({ observation_id }) => ({
        observation_id,
        name: 'gen_ai.client.inference.operation.details',
        source: 'otlp',
        body: expect.stringContaining('You track parcels.'),
        attributes: { 'gen_ai.request.model': askedModel },
      })),
    )
  }
})

type Explained = { field: string; source: string | null; given_by: string }

function runOf(library: Library | undefined): LibraryRun {
  const run = runs.libraries.get(library?.library ?? '')
  if (run === undefined) throw new Error(`${library?.library} was not run`)
  return run
}

function callsOf({ rows }: Pick<LibraryRun, 'rows'>, name: string): Observation[] {
  return rows[name]?.filter(({ type }) => type === 'generation') ?? []
}

function onlyCall(run: LibraryRun, name: string): Observation {
  const [call, ...more] = callsOf(run, name)
  if (call === undefined || more.length > 0) throw new Error(`${name}: got ${more.length + 1}`)
  return call
}

/** The topmost span above a call; undefined if an ancestor is missing. */
function rootOf(rows: Observation[], row: Observation): Observation | undefined {
  if (row.parent_observation_id === '') return row
  const parent = rows.find(({ observation_id }) => observation_id === row.parent_observation_id)
  return parent && rootOf(rows, parent)
}

const asked = (question: string) => [
  ['system', 'You track parcels.'],
  ['user', question],
]

type Message = { role: string; content?: string; parts?: { content?: string }[] }

/** Role and text of each message, in either format. */
function messagesOf(json: string): [string, string][] {
  const messages = JSON.parse(json) as Message[]
  return messages.map(({ role, content, parts = [] }) => [
    role,
    content ?? parts.map((part) => part.content ?? '').join(''),
  ])
}
