import { describe, expect, test } from 'vitest'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import type { OtlpSpan } from '../../src/capabilities/edge/otlp/contract.ts'
import { createMapper, currentContract } from '../../src/capabilities/edge/otlp/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { Observation } from '../../src/model/observation.ts'
import {
  mappedRequest,
  otlpRequest,
  otlpSpan,
  spanStart,
  storedFrom,
} from '../support/otlp-spans.ts'
import { formatRows, type WireCall } from './format-rows.ts'

/** Histories as today's agents write them: what is found in them, and what is not. */

const settings = defaultDetectionSettings()
const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 }
const task = { role: 'user', content: 'Fix the failing test.' }
const args = '{"path":"src/app.ts"}'

function foundIn(rows: readonly Observation[]): string[] {
  const { findings } = runDetectors(reconstruct(rows), settings)
  return findings.map(({ kind, type }) => `${kind} ${type}`)
}

function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

function responded(at: number, output: readonly object[]): object {
  const about = { object: 'response', status: 'completed', model: 'gpt-5-mini' }
  return { id: `resp_${at}`, ...about, output, usage }
}

function calling(id: string): object {
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read_file', arguments: args }
}

function output(id: string): object {
  return { type: 'function_call_output', call_id: id, output: 'it is empty' }
}

/** An agent that sends its whole history; `turn` is an answer as it is sent back. */
function responsesLoop(count: number, turn: (at: number) => readonly object[]): WireCall[] {
  const history: object[] = [task]
  return times(count, (at) => {
    const request = { model: 'gpt-5-mini', instructions: 'You fix code.', input: [...history] }
    history.push(...turn(at), output(`c${at}`))
    return { request, response: responded(at, [calling(`c${at}`)]) }
  })
}

describe('Responses', () => {
  const reasoning = (at: number) => ({ type: 'reasoning', id: `rs_${at}`, summary: [] })

  test('a loop is found in a history with thoughts of the model', () => {
    const calls = responsesLoop(8, (at) => [reasoning(at), calling(`c${at}`)])
    expect(foundIn(formatRows('responses', calls))).toEqual(['loop repeat_call'])
  })

  test('a loop is found in a history that names stored items', () => {
    const calls = responsesLoop(8, (at) => [
      { type: 'item_reference', id: `rs_${at}` },
      { type: 'item_reference', id: `fc_c${at}` },
    ])
    expect(foundIn(formatRows('responses', calls))).toEqual(['loop repeat_call'])
  })

  test('searches of the provider are not turns of the user', () => {
    const searched = (at: number) => ({ type: 'web_search_call', id: `ws_${at}`, action: {} })
    const calls = responsesLoop(8, (at) => [searched(at), calling(`c${at}`)])
    expect(foundIn(formatRows('responses', calls))).toEqual(['loop repeat_call'])
  })

  test('each call is a task: results are asked for by the calls in their histories', () => {
    const history: object[] = [task]
    const calls = times(7, (at): WireCall => {
      const request = { model: 'gpt-5-mini', input: [...history] }
      const both = [calling(`a${at}`), calling(`b${at}`)]
      history.push(reasoning(at), ...both, output(`a${at}`), output(`b${at}`))
      return { request, response: responded(at, both) }
    })
    const rows = formatRows('responses', calls)
    expect(rows.flatMap((row) => foundIn([row]))).toEqual([])
  })
})

describe('OpenInference of Anthropic', () => {
  const mapper = createMapper({ contract: currentContract, pricing: createPricing() })

  /** A message in numbered attributes: each call stands in its contents and in its tool calls. */
  function asked(prefix: string, id: string): Record<string, string> {
    const places = [
      `${prefix}.tool_calls.0.tool_call`,
      `${prefix}.contents.1.message_content.tool_call`,
    ]
    return {
      [`${prefix}.role`]: 'assistant',
      [`${prefix}.contents.0.message_content.type`]: 'text',
      [`${prefix}.contents.0.message_content.text`]: 'I read it.',
      [`${prefix}.contents.1.message_content.type`]: 'tool_use',
      ...Object.fromEntries(
        places.flatMap((place) => [
          [`${place}.id`, id],
          [`${place}.function.name`, 'read_file'],
          [`${place}.function.arguments`, args],
        ]),
      ),
    }
  }

  function spanOf(at: number): OtlpSpan {
    const input: Record<string, string> = {
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': task.content,
    }
    for (let before = 0; before < at; before++) {
      const place = `llm.input_messages.${2 * before + 2}.message`
      Object.assign(input, asked(`llm.input_messages.${2 * before + 1}.message`, `toolu_${before}`))
      input[`${place}.role`] = 'tool'
      input[`${place}.tool_call_id`] = `toolu_${before}`
      input[`${place}.content`] = 'it is empty'
    }
    const start_time = spanStart + BigInt(at) * 5_000_000_000n
    const about = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'claude-sonnet-4-5' }
    return otlpSpan(
      { ...about, ...input, ...asked('llm.output_messages.0.message', `toolu_${at}`) },
      { span_id: `00000000000000a${at}`, start_time, end_time: start_time + 1_000_000_000n },
    )
  }

  test('a call that is reported twice is one: the loop is found, and nothing else', () => {
    const request = otlpRequest(times(8, spanOf), {
      scope: 'openinference.instrumentation.anthropic',
    })
    const rows = mapper.traces(request, mappedRequest).records.observations.map(storedFrom)
    expect(rows.map(({ tool_calls }) => tool_calls.length)).toEqual(times(8, () => 1))
    expect(reconstruct(rows).tools.length).toBe(8)
    expect(foundIn(rows)).toEqual(['loop repeat_call'])
  })
})

describe('Claude Code', () => {
  const reminder = (at: number) =>
    `<system-reminder>\n${9 - at} items are open.\n</system-reminder>`

  /** A history in which reminders stand beside and within the results of tools. */
  function messagesLoop(count: number, back: (at: number) => readonly object[]): WireCall[] {
    const first = [
      { type: 'text', text: reminder(0) },
      { type: 'text', text: task.content },
    ]
    const history: object[] = [{ role: 'user', content: first }]
    return times(count, (at) => {
      const called = { type: 'tool_use', id: `toolu_${at}`, name: 'Read', input: { path: 'a.ts' } }
      const request = {
        ...{ model: 'claude-sonnet-4-5', max_tokens: 9, stream: false },
        ...{ system: [{ type: 'text', text: 'You fix code.' }], messages: [...history] },
      }
      history.push({ role: 'assistant', content: [called] }, { role: 'user', content: back(at) })
      const about = { type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' }
      return {
        request,
        response: { id: `msg_${at}`, ...about, content: [called], stop_reason: 'tool_use', usage },
      }
    })
  }

  const resultOf = (at: number, text: string) => {
    return { type: 'tool_result', tool_use_id: `toolu_${at}`, content: text }
  }

  test.each<[string, (at: number) => readonly object[]]>([
    ['beside results', (at) => [resultOf(at, 'empty'), { type: 'text', text: reminder(at) }]],
    ['in results', (at) => [resultOf(at, `empty\n${reminder(at)}`)]],
  ])('reminders %s do not hide a loop', (_where, back) => {
    expect(foundIn(formatRows('messages', messagesLoop(8, back)))).toEqual(['loop repeat_call'])
  })

  test('words of a person beside a result begin a turn', () => {
    const calls = messagesLoop(8, (at) => [
      resultOf(at, 'empty'),
      {
        type: 'text',
        text: `No, ${['look', 'read', 'search', 'try'][at % 4]} it again (${at * at}).`,
      },
    ])
    expect(foundIn(formatRows('messages', calls))).not.toContain('loop repeat_call')
  })
})
