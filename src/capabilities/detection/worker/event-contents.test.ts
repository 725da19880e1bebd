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
  const storeOf = (events: readonly GenAiEvent[]) => {
    const asked: number[] = []
    const genAiEvents = async (_project: string, { places }: { places: readonly unknown[] }) => {
      asked.push(places.length)
      return [...events]
    }
    return { asked, genAiEvents }
  }

  test('for calls without content only, in one statement', async () => {
    const store = storeOf(messages)
    const full = observationOf({ project_id, observation_id: 'full', content_state: 'full' })
    const rows = await addEventContents(store, project_id, [full, bare])
    expect(store.asked).toEqual([1])
    expect(rows.map(({ content_state }) => content_state)).toEqual(['full', 'full'])
    await addEventContents(store, project_id, [full])
    expect(store.asked).toEqual([1])
  })

  test('again for calls that were read without content; events without content change nothing', async () => {
    expect((await findLateContents(storeOf(messages), project_id, [bare])).size).toBe(1)
    const other = storeOf([event('gen_ai.evaluation.result', {})])
    expect([...(await findLateContents(other, project_id, [bare]))]).toEqual([])
  })
})
