import { describe, expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import type { GenAiEvent } from '../../storage/index.ts'
import { reconstruct } from '../reconstruction/index.ts'
import { addEventContents, findLateContents, withEventContent } from './event-contents.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const bare = observationOf({
  project_id,
  ...{ source: 'otlp', type: 'generation', content_state: 'none', input: '', output: '' },
  finish_reason: '',
})
const { trace_id, observation_id } = bare

function event(name: string, body: unknown): GenAiEvent {
  return { trace_id, observation_id, name, body: JSON.stringify(body) }
}

const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"id":7}' } }
const messages = [
  event('gen_ai.system.message', { content: 'Look things up.' }),
  event('gen_ai.user.message', { content: 'Where is it?' }),
  event('gen_ai.assistant.message', { tool_calls: [call] }),
  event('gen_ai.tool.message', { id: 'c1', content: 'in Kiel' }),
  event('gen_ai.choice', {
    ...{ index: 0, finish_reason: 'stop' },
    message: { role: 'assistant', content: 'In Kiel.' },
  }),
]

describe('the content of a call', () => {
  test('is that of its events: the history, and the first choice', () => {
    const row = withEventContent(bare, messages)
    expect(row).toMatchObject({ content_state: 'full', finish_reason: 'stop' })
    const run = reconstruct([row])
    expect(run.content).toBe('full')
    expect(run.messages.map(({ role, text }) => [role, text])).toEqual([
      ['system', 'Look things up.'],
      ['user', 'Where is it?'],
      ['assistant', ''],
      ['tool', 'in Kiel'],
      ['assistant', 'In Kiel.'],
    ])
    expect(run.tools).toMatchObject([{ name: 'look', result: 'in Kiel', tool_call_id: 'c1' }])
  })

  test('has the tool calls of a choice, in its message or beside it', () => {
    for (const body of [{ message: { tool_calls: [call] } }, { tool_calls: [call], message: {} }]) {
      const row = withEventContent(bare, [event('gen_ai.choice', body)])
      expect(reconstruct([row]).tools).toMatchObject([{ name: 'look', arguments: '{"id":7}' }])
    }
  })

  test('is that of a choice whose message or body is a text', () => {
    const said = { role: 'assistant', content: 'In Kiel.' }
    const bodies = [
      { index: 0, message: JSON.stringify(said), finish_reason: 'stop' },
      { index: 0, message: 'In Kiel.', finish_reason: 'stop' },
      JSON.stringify({ message: said }),
      'In Kiel.',
    ]
    for (const body of bodies) {
      const run = reconstruct([withEventContent(bare, [event('gen_ai.choice', body)])])
      expect(run.steps).toMatchObject([{ text: 'In Kiel.' }])
    }
    const plain = { trace_id, observation_id, name: 'gen_ai.choice', body: 'In Kiel.' }
    expect(reconstruct([withEventContent(bare, [plain])]).steps).toMatchObject([
      { text: 'In Kiel.' },
    ])
  })

  test('is that of one event with the whole call', () => {
    const details = event('gen_ai.client.inference.operation.details', {
      'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
      'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }],
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: 'Hello' }] },
      ]),
    })
    const run = reconstruct([withEventContent(bare, [details])])
    expect(run.messages.map(({ role, text }) => `${role} ${text}`)).toEqual([
      'system Be brief.',
      'user Hi',
      'assistant Hello',
    ])
  })

  test('stays as it is for other events and other rows', () => {
    const other = [event('gen_ai.evaluation.result', { score: 1 })]
    expect(withEventContent(bare, other)).toBe(bare)
    for (const given of [
      { source: 'proxy' },
      { type: 'tool' },
      { content_state: 'dropped' },
    ] as const) {
      const row = observationOf({ ...bare, ...given })
      expect(withEventContent(row, messages)).toBe(row)
    }
  })
})

describe('events are read', () => {
  const places = Array.from({ length: 2_300 }, (_, at) => ({ trace_id, observation_id: `c${at}` }))

  /** A store that answers as the real one, up to some events in one statement. */
  function storeOf(events: readonly GenAiEvent[], events_max = 1_000) {
    const [asked, counted]: [number[], number[]] = [[], []]
    type Asked = { places: readonly { observation_id: string }[]; names?: readonly string[] }
    const eventsOf = ({ places: of, names }: Asked) =>
      events.filter(
        (one) =>
          of.some((place) => place.observation_id === one.observation_id) &&
          (names?.includes(one.name) ?? true),
      )
    return {
      ...{ asked, counted },
      genAiEvents: async (_project: string, given: Asked) => {
        asked.push(given.places.length)
        return eventsOf(given).slice(0, events_max)
      },
      eventCounts: async (_project: string, given: Asked) => {
        counted.push(given.places.length)
        const byPlace = Map.groupBy(eventsOf(given), (one) => one.observation_id)
        return [...byPlace].map(([id, own]) => ({
          ...{ trace_id, observation_id: id, events: own.length },
        }))
      },
    }
  }

  test('for calls without content only, in one statement, and for none without events', async () => {
    const store = storeOf(messages)
    const full = observationOf({ project_id, observation_id: 'full', content_state: 'full' })
    const { rows, calls } = await addEventContents(store, project_id, [full, bare])
    expect([store.counted, store.asked]).toEqual([[1], [1]])
    expect(rows.map(({ content_state }) => content_state)).toEqual(['full', 'full'])
    expect(calls).toEqual([{ trace_id, observation_id, events: 5 }])
    await addEventContents(store, project_id, [full])
    expect(store.counted).toEqual([1])
    const silent = { ...bare, observation_id: 'silent' }
    const none = await addEventContents(store, project_id, [silent])
    expect(none).toEqual({ rows: [silent], calls: [expect.objectContaining({ events: 0 })] })
    expect(store.asked).toEqual([1])
  })

  test('again for calls of which more have come; events without content change nothing', async () => {
    const late = async (events: number, stored = messages) =>
      (await findLateContents(storeOf(stored), project_id, [{ trace_id, observation_id, events }]))
        .size
    expect([await late(0), await late(4), await late(5)]).toEqual([1, 1, 0])
    expect(await late(0, [event('gen_ai.evaluation.result', {})])).toBe(0)
  })

  test('of all calls, in several statements', async () => {
    const calls = places.map((place) => ({ ...place, events: 0 }))
    for (const at of [0, 1_150, 2_299]) {
      const store = storeOf([{ ...event('gen_ai.choice', {}), observation_id: `c${at}` }])
      const late = await findLateContents(store, project_id, calls)
      expect(late).toEqual(new Set([expect.stringContaining(`c${at}`)]))
      expect(store.counted).toEqual([1_000, 1_000, 300])
    }
  })

  test('apart where the limits of a statement cut them', async () => {
    const rows = places.slice(0, 40).map((place) => ({ ...bare, ...place }))
    const events = rows.flatMap(({ observation_id: id }) =>
      messages.map((one) => ({ ...one, observation_id: id })),
    )
    const store = storeOf(events, 17)
    const read = await addEventContents(store, project_id, rows)
    const [first] = read.rows
    expect(read.rows.map(({ input, output }) => [input, output])).toEqual(
      rows.map(() => [first?.input, first?.output]),
    )
    expect(first?.output).toContain('In Kiel.')
    // One call has as many events as a statement may have.
    const one = await addEventContents(storeOf(messages, 3), project_id, [bare])
    expect(one.rows[0]).toMatchObject({ content_state: 'full', output: '' })
  })
})
