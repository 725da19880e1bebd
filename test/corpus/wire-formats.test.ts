import { expect, test } from 'vitest'
import { detectors } from '../../src/capabilities/detection/detectors/index.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import { foundBy } from '../support/detect-one.ts'
import { formatRows, type WireCall } from './format-rows.ts'

/** An agent that asks one thing again and again, in each wire format that re-sends its history. */

const steps = 8
const args = { path: 'src/app.ts' }
const result = 'file not found'
const task = 'Fix the failing test.'

/** The calls of a loop: `turn` is what the model answers, `back` what the client sends for it. */
function loopOf(
  first: unknown,
  {
    turn,
    back,
    ask,
    answer,
  }: {
    turn: (at: number) => unknown[]
    back: (at: number) => unknown[]
    ask: (history: unknown[]) => object
    answer: (turn: unknown[], at: number) => object
  },
): WireCall[] {
  const history: unknown[] = [first]
  return Array.from({ length: steps }, (_, at) => {
    const request = ask([...history])
    const said = turn(at)
    history.push(...said, ...back(at))
    return { request, response: answer(said, at) }
  })
}

const formats: [ExchangeFacts['endpoint'], WireCall[]][] = [
  [
    'responses',
    loopOf(
      { role: 'user', content: task },
      {
        turn: (at) => [
          {
            ...{ type: 'function_call', id: `fc_${at}`, call_id: `c${at}`, name: 'read_file' },
            arguments: JSON.stringify(args),
          },
        ],
        back: (at) => [{ type: 'function_call_output', call_id: `c${at}`, output: result }],
        ask: (input) => ({ model: 'gpt-5-mini', instructions: 'You fix code.', input }),
        answer: (output, at) => ({
          ...{ id: `resp_${at}`, object: 'response', status: 'completed', model: 'gpt-5-mini' },
          ...{ output, usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 } },
        }),
      },
    ),
  ],
  [
    'messages',
    loopOf(
      { role: 'user', content: task },
      {
        turn: (at) => [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: `c${at}`, name: 'read_file', input: args }],
          },
        ],
        back: (at) => [
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: `c${at}`, content: result }],
          },
        ],
        ask: (messages) => ({
          model: 'claude-sonnet-4-5',
          max_tokens: 9,
          system: 'You fix code.',
          messages,
        }),
        answer: ([message], at) => ({
          ...(message as object),
          ...{
            id: `msg_${at}`,
            type: 'message',
            model: 'claude-sonnet-4-5',
            stop_reason: 'tool_use',
          },
          usage: { input_tokens: 9, output_tokens: 3 },
        }),
      },
    ),
  ],
  [
    'generate_content',
    loopOf(
      { role: 'user', parts: [{ text: task }] },
      {
        turn: () => [{ role: 'model', parts: [{ functionCall: { name: 'read_file', args } }] }],
        back: () => [
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'read_file', response: { output: result } } }],
          },
        ],
        ask: (contents) => ({
          systemInstruction: { parts: [{ text: 'You fix code.' }] },
          contents,
        }),
        answer: ([content], at) => ({
          candidates: [{ content, finishReason: 'STOP' }],
          ...{ modelVersion: 'gemini-3-pro', responseId: `r${at}` },
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
        }),
      },
    ),
  ],
  [
    'interactions',
    loopOf(
      { type: 'user_input', content: [{ type: 'text', text: task }] },
      {
        turn: (at) => [{ type: 'function_call', id: `c${at}`, name: 'read_file', arguments: args }],
        back: (at) => [{ type: 'function_result', call_id: `c${at}`, name: 'read_file', result }],
        ask: (input) => ({ model: 'gemini-3-pro', input }),
        answer: (stepsOf, at) => ({
          ...{
            id: `i${at}`,
            object: 'interaction',
            status: 'requires_action',
            model: 'gemini-3-pro',
          },
          ...{
            steps: stepsOf,
            usage: { total_input_tokens: 9, total_output_tokens: 3, total_tokens: 12 },
          },
        }),
      },
    ),
  ],
]

test.each(formats)('%s: the loop of an agent is found, and nothing else', (endpoint, loop) => {
  const rows = formatRows(endpoint, loop)
  expect(rows.map(({ tool_calls }) => tool_calls.length)).toEqual(Array(steps).fill(1))
  expect(rows.slice(1).map(({ tool_results }) => tool_results.length)).toEqual(
    Array(steps - 1).fill(1),
  )
  const found = detectors.flatMap((detector) => foundBy(detector, { observations: () => rows }))
  expect(found.map(({ kind, type }) => `${kind} ${type}`)).toEqual(['loop repeat_call'])
})
