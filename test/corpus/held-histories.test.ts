import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import {
  createReconstruction,
  reconstruct,
} from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
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
import { fuzzRuns } from '../support/suite/budget.ts'
import { formatRows, type WireCall } from './format-rows.ts'

/** Agents whose provider holds the history: each call sends only what is new. */

const settings = defaultDetectionSettings()
const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 }
const args = { path: 'src/app.ts' }
const instructions = 'You fix code.'
const task = { role: 'user', content: 'Fix the failing test.' }
const held = 'part of the history is held by the provider'

function look(rows: readonly Observation[]) {
  const run = reconstruct(rows)
  const { findings, not_checked } = runDetectors(run, settings)
  const found = findings.map(({ kind, type }) => `${kind} ${type}`)
  const abstained = not_checked.filter(({ reason }) => reason === held).map((one) => one.detector)
  return { run, found, abstained, threads: run.threads.length }
}

function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

function calling(id: string): object {
  const written = JSON.stringify(args)
  return { type: 'function_call', call_id: id, name: 'read_file', arguments: written }
}

function saying(text: string): object {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

function output(id: string): object {
  return { type: 'function_call_output', call_id: id, output: 'it is empty' }
}

/** A call of Responses; `link` names what came before. */
function responsesCall(
  id: string,
  { input, said, link = {} }: { input: unknown; said: object | readonly object[]; link?: object },
): WireCall {
  const about = { object: 'response', status: 'completed', model: 'gpt-5-mini', usage }
  return {
    request: { model: 'gpt-5-mini', instructions, input, ...link },
    response: { id, ...about, output: [said].flat() },
  }
}

/** The link of a call that follows another: by the response's id, or by a conversation. */
const links = {
  response: (at: number) => (at === 0 ? {} : { previous_response_id: `resp_${at - 1}` }),
  conversation: () => ({ conversation: 'conv_1' }),
  conversationObject: () => ({ conversation: { id: 'conv_1' } }),
}

function loopOf(link: (at: number) => object): Observation[] {
  const calls = times(8, (at) =>
    responsesCall(`resp_${at}`, {
      input: at === 0 ? [task] : [output(`c${at - 1}`)],
      said: calling(`c${at}`),
      link: link(at),
    }),
  )
  return formatRows('responses', calls)
}

describe('a loop of an agent that sends only results', () => {
  test.each(Object.entries(links))('is found in Responses by %s', (_name, link) => {
    const { found, threads } = look(loopOf(link))
    expect(found).toEqual(['loop repeat_call'])
    expect(threads).toBe(1)
  })

  test('is found if no link was recorded: results continue the thread that asked', () => {
    const { found, threads, abstained } = look(loopOf(() => ({})))
    expect(found).toEqual(['loop repeat_call'])
    expect(threads).toBe(1)
    expect(abstained).toEqual([])
  })

  test('is found in Interactions', () => {
    const calls = times(8, (at): WireCall => {
      const result = {
        type: 'function_result',
        call_id: `c${at - 1}`,
        name: 'read_file',
        result: '-',
      }
      const previous = at === 0 ? {} : { previous_interaction_id: `i${at - 1}` }
      const input = at === 0 ? 'Fix the failing test.' : [result]
      const step = { type: 'function_call', id: `c${at}`, name: 'read_file', arguments: args }
      const about = { object: 'interaction', status: 'requires_action', model: 'gemini-3-pro' }
      return {
        request: { model: 'gemini-3-pro', system_instruction: instructions, input, ...previous },
        response: { id: `i${at}`, ...about, steps: [step], usage: {} },
      }
    })
    const { found, threads } = look(formatRows('interactions', calls))
    expect(found).toEqual(['loop repeat_call'])
    expect(threads).toBe(1)
  })

  test('is the same in any batches', () => {
    const rows = loopOf(links.response)
    expect(look(rows.toReversed()).run).toEqual(look(rows).run)
    const reconstruction = createReconstruction({
      ...{ project_id: rows[0]?.project_id ?? '', task_id: 'task-1', conversation_id: '' },
    })
    for (const row of rows) expect(reconstruction.add([row])).toBe('added')
    expect(reconstruction.run()).toEqual(look(rows).run)
  })
})

describe('spans of Agent Framework, whose conversation is the response before', () => {
  const mapper = createMapper({ contract: currentContract, pricing: createPricing() })
  const spans = times(8, (at) => {
    const result = { type: 'tool_call_response', id: `c${at - 1}`, response: 'it is empty' }
    const asked = { type: 'text', content: task.content }
    const input = [
      { role: 'system', parts: [{ type: 'text', content: instructions }] },
      at === 0 ? { role: 'user', parts: [asked] } : { role: 'tool', parts: [result] },
    ]
    const call = { type: 'tool_call', id: `c${at}`, name: 'read_file', arguments: args }
    const start_time = spanStart + BigInt(at) * 5_000_000_000n
    return otlpSpan(
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.response.id': `resp_${at}`,
        'gen_ai.input.messages': JSON.stringify(input),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [call] }]),
        ...(at === 0 ? {} : { 'gen_ai.conversation.id': `resp_${at - 1}` }),
      },
      { span_id: `00000000000000a${at}`, start_time, end_time: start_time + 1_000_000_000n },
    )
  })
  const rows = mapper.traces(otlpRequest(spans), mappedRequest).records.observations.map(storedFrom)

  test('are one thread, and the loop is found', () => {
    const { found, threads, abstained } = look(rows)
    expect(found).toEqual(['loop repeat_call'])
    expect(threads).toBe(1)
    expect(abstained).toEqual([])
  })

  test('name no conversation', () => {
    expect(
      rows.map(({ conversation_id, conversation_external_id }) => [
        conversation_id,
        conversation_external_id,
      ]),
    ).toEqual(times(8, () => ['', '']))
    expect(rows[3]?.attributes['request.previous_response_id']).toBe('resp_2')
  })
})

test('a conversation of an application is no link, though its id begins with resp_', () => {
  const calls = formatRows('responses', [
    responsesCall('resp_1', { input: [task], said: calling('c0') }),
    responsesCall('resp_2', { input: [task, calling('c0'), output('c0')], said: saying('Done.') }),
  ]).map((row) => ({ ...row, conversation_external_id: 'resp_7' }))
  const { threads, abstained } = look(calls)
  expect([threads, abstained]).toEqual([1, []])
})

describe('a talk of which each call sends one message', () => {
  const talk = (link: (at: number) => object) =>
    formatRows(
      'responses',
      times(5, (at) =>
        responsesCall(`resp_${at}`, {
          input: [{ role: 'user', content: `Question ${at}: what is ${at} + 1?` }],
          said: saying(`It is ${at + 1}.`),
          link: link(at),
        }),
      ),
    )

  test.each(Object.entries(links))('is one thread, by %s', (_name, link) => {
    const { found, run, threads } = look(talk(link))
    expect(threads).toBe(1)
    expect(found).toEqual([])
    expect(run.breaks).toEqual([])
    expect(run.messages.filter(({ role }) => role === 'system').length).toBe(1)
    expect(run.steps.map(({ after_user }) => after_user)).toEqual(times(5, () => true))
  })

  test('branches where two calls follow one response', () => {
    const rows = talk((at) =>
      at === 0 ? {} : { previous_response_id: `resp_${Math.min(at - 1, 1)}` },
    )
    const { run } = look(rows)
    expect(run.threads.map(({ kind, parent }) => [kind, parent])).toEqual([
      ['root', null],
      ['branch', 0],
      ['branch', 0],
    ])
  })

  test('a call that failed and is sent again is no message twice', () => {
    const [first, second] = talk(links.response)
    if (first === undefined || second === undefined) throw new Error('no rows')
    const failed: Observation = {
      ...second,
      ...{ observation_id: 'o0x', status: 'error', status_code: 500, output: '', response_id: '' },
      start_time: first.end_time + 1n,
      end_time: first.end_time + 2n,
    }
    const { run } = look([first, failed, second])
    expect(run.threads.length).toBe(1)
    expect(run.messages.map(({ role }) => role)).toEqual(
      'system user assistant user assistant'.split(' '),
    )
    expect(run.calls[2]?.retry_of).toBe(1)
  })
})

describe('a history whose beginning is not in the task', () => {
  const rest = formatRows('responses', [
    responsesCall('resp_9', {
      input: [output('c8')],
      said: saying('The answer, in 4711 parts, is EUR 99.50.'),
      link: { previous_response_id: 'resp_8' },
    }),
    responsesCall('resp_10', {
      input: [{ role: 'user', content: 'And then?' }],
      said: saying('Nothing.'),
      link: { previous_response_id: 'resp_9' },
    }),
  ])

  test('is not judged by what it lacks, and says so', () => {
    const { found, abstained, run } = look(rest)
    expect(found).toEqual([])
    expect(run.threads.map(({ is_held }) => is_held)).toEqual([true])
    expect(abstained).toEqual(
      expect.arrayContaining(['orphan', 'unsupported_value', 'lost_context', 'context_truncated']),
    )
    expect(abstained).not.toContain('repeat_call')
  })

  test('the first call of a conversation can have a beginning', () => {
    const { abstained } = look(loopOf(links.conversation))
    expect(abstained).toContain('orphan')
  })

  test('with every link nothing abstains', () => {
    expect(look(loopOf(links.response)).abstained).toEqual([])
  })

  test('references to stored items are such a beginning too', () => {
    const input = [task, { type: 'item_reference', id: 'fc_1' }, output('c1')]
    const { found, abstained } = look(
      formatRows('responses', [responsesCall('resp_1', { input, said: saying('Done.') })]),
    )
    expect(found).toEqual([])
    expect(abstained).toContain('orphan')
  })
})

describe('sent in parts, a history is what it is as a whole', () => {
  /** Steps of a run: the user says something, or the model calls tools whose results come back. */
  const step = fc.oneof(
    fc.record({ asks: fc.constantFrom('Where is it?', 'And then?', 'Please go on with it.') }),
    fc.record({ calls: fc.integer({ min: 1, max: 3 }), output: fc.constantFrom('a', 'b') }),
  )

  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

  /** The calls of a run: with all messages, or with those since the call before. */
  function callsOf(steps: readonly Step[], isWhole: boolean): WireCall[] {
    const history: object[] = [task]
    let fresh: object[] = [task]
    return steps.map((one, at) => {
      const said =
        'asks' in one
          ? [saying(`Answer ${at}.`)]
          : times(one.calls, (nth) => calling(`c${at}-${nth}`))
      const back =
        'asks' in one
          ? [{ role: 'user', content: one.asks }]
          : times(one.calls, (nth) => ({ ...output(`c${at}-${nth}`), output: one.output }))
      const link = isWhole ? {} : links.response(at)
      const call = responsesCall(`resp_${at}`, {
        input: isWhole ? [...history] : fresh,
        said,
        link,
      })
      history.push(...said, ...back)
      fresh = back
      return call
    })
  }

  const shown = (calls: readonly WireCall[]) => {
    const { steps, tools, threads, breaks, messages } = reconstruct(formatRows('responses', calls))
    return {
      steps: steps.map(({ text, sig, after_user, thread }) => ({ text, sig, after_user, thread })),
      tools: tools.map(({ name, out, is_answered, orphan }) => ({
        name,
        out,
        is_answered,
        orphan,
      })),
      messages: messages.map(({ role, text }) => `${role} ${text}`),
      threads: threads.length,
      breaks,
    }
  }

  test('for any run', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        expect(shown(callsOf(steps, false))).toEqual(shown(callsOf(steps, true)))
      }),
      { numRuns: fuzzRuns(100) },
    )
  })
})
