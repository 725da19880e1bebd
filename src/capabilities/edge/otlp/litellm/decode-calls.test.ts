import fc from 'fast-check'
import { expect, test } from 'vitest'
import { logProject } from '../../../../../test/support/agent-logs.ts'
import { noPrice } from '../../../../../test/support/no-cost.ts'
import { currentContract } from '../mapping/contracts/registry.ts'
import { createMapper } from '../mapping/create-mapper.ts'
import { spansOfCalls } from './call-span.ts'
import { decodeLiteLlm } from './decode-calls.ts'

const mapper = createMapper({ contract: currentContract, pricing: noPrice })
const about = { project_id: logProject, environment: '', release: '', received_at_ms: 1 }

/** An object with fields of LiteLLM that have values of any type. */
const call = fc.dictionary(
  fc.constantFrom(
    ...['id', 'litellm_call_id', 'startTime', 'endTime', 'completionStartTime', 'status', 'stream'],
    ...[
      'model',
      'messages',
      'response',
      'metadata',
      'error_information',
      'response_cost',
      'trace_id',
    ],
    ...['usage', 'choices', 'call_type', '__proto__'],
  ),
  fc.jsonValue({ maxDepth: 3 }),
)
const usual = fc.record({
  litellm_call_id: fc.string(),
  startTime: fc.double(),
  endTime: fc.double(),
  response: fc.record({
    choices: fc.array(fc.jsonValue({ maxDepth: 2 })),
    usage: fc.record({ prompt_tokens: fc.double(), completion_tokens: fc.jsonValue() }),
  }),
})

test.each(['""', '1', 'true', 'null', '{'])('%s is refused', (text) => {
  expect(() => decodeLiteLlm(Buffer.from(text))).toThrow('expected a JSON list of calls')
})

test('any batch gives a call or a rejection for each item, in a list as in lines', () => {
  const items = fc.array(fc.oneof(call, usual, fc.jsonValue({ maxDepth: 2 })), { maxLength: 6 })
  fc.assert(
    fc.property(items, (batch) => {
      const lines = batch.map((item) => JSON.stringify(item)).join('\n')
      const list = decodeLiteLlm(Buffer.from(JSON.stringify(batch)))
      const { records } = mapper.traces(spansOfCalls(list, logProject), about)
      const rejected = list.rejected.get('invalid_item') ?? 0
      expect([list.items, records.observations.length + rejected]).toEqual([
        batch.length,
        batch.length,
      ])
      for (const { start_time, end_time } of records.observations) {
        expect(start_time > 0n && end_time >= start_time).toBe(true)
      }
      // One line that is a list would be read as the whole batch.
      if (batch.length > 1) expect(decodeLiteLlm(Buffer.from(lines))).toEqual(list)
    }),
  )
})

test('an empty body is an empty batch, and text is an error', () => {
  expect(decodeLiteLlm(Buffer.from(' \n')).items).toBe(0)
  expect(() => decodeLiteLlm(Buffer.from('{}\nx'))).toThrow('one call on each line')
})
