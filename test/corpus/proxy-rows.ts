import {
  exchangeToObservation,
  type MappingContext,
} from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import type { Observation } from '../../src/model/observation.ts'
import { plainFacts } from '../support/exchange-facts.ts'
import type { RecordedCall, RecordedRun } from './recorded-run.ts'
import { hexFrom, traceIdOf } from './run-ids.ts'

/** The rows that the proxy's worker stores for a run: its own mapping of whole bodies. */
export function proxyRows(run: RecordedRun): Observation[] {
  return run.calls.map((call) => {
    const facts = factsOf(run, call)
    const request = Buffer.from(JSON.stringify(requestOf(run, call)))
    const response = Buffer.from(call.streamed ? eventsOf(run, call) : bodyOf(run, call))
    const message_id = hexFrom(16, 'message', run.name, call.index)
    return exchangeToObservation({ facts, request, response }, message_id, context)
  })
}

const context: MappingContext = {
  pricing: createPricing(),
  countTokens: (text) => Math.ceil(text.length / 4),
  response_bytes_max: 16_777_216,
}

function factsOf(run: RecordedRun, call: RecordedCall): ExchangeFacts {
  const { error } = call
  return {
    ...plainFacts,
    project_id: run.project_id,
    trace_id: traceIdOf(run.name, call.index),
    observation_id: hexFrom(16, 'call', run.name, call.index),
    provider: run.provider,
    start_time: `${call.start_time}`,
    end_time: `${call.end_time}`,
    first_token_time: call.streamed ? `${call.start_time + 300_000_000n}` : null,
    outcome: error === undefined ? 'complete' : (error.outcome ?? 'provider_error'),
    status_code: error === undefined ? 200 : (error.status ?? 0),
    error_type: error === undefined ? '' : (error.type ?? ''),
    error_message: error === undefined ? '' : (error.message ?? ''),
    streamed: call.streamed,
    request_bytes: 0,
    response_bytes: 0,
    response_type: call.streamed ? 'text/event-stream' : 'application/json',
    task_id: run.task_id,
    task_name: run.task_name,
    conversation_id: run.conversation_id,
  }
}

function requestOf(run: RecordedRun, call: RecordedCall): object {
  const { model, declared } = run
  const stream = call.streamed ? { stream: true } : {}
  if (declared.length === 0) return { model, messages: call.messages, ...stream }
  const tools = declared.map((tool) => ({ type: 'function', function: tool }))
  return { model, messages: call.messages, tools, ...stream }
}

function usageOf({ input_tokens, output_tokens }: RecordedCall): object {
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
  }
}

function bodyOf(run: RecordedRun, call: RecordedCall): string {
  const { answer: message, error, finish_reason } = call
  if (message === undefined) return error?.outcome ? '' : JSON.stringify(errorBody(call))
  const choices = [{ index: 0, message, finish_reason }]
  return JSON.stringify({ model: run.model, choices, usage: usageOf(call) })
}

function errorBody({ error }: RecordedCall): object {
  const { type = 'server_error', message = 'The server had an error', status } = error ?? {}
  return { error: { message, type, code: type, status } }
}

/** The answer as a stream in three pieces; one that was cut has no finish reason and no end. */
function eventsOf(run: RecordedRun, call: RecordedCall): string {
  const { answer, error, finish_reason } = call
  if (answer === undefined) return error?.outcome ? '' : JSON.stringify(errorBody(call))
  const { content, tool_calls = [], ...rest } = answer
  const text = content ?? ''
  const half = Math.floor(text.length / 2)
  const deltas: object[] = [{ ...rest, content: text.slice(0, half) }]
  deltas.push({ content: text.slice(half) })
  if (tool_calls.length > 0) {
    deltas.push({ tool_calls: tool_calls.map((one, index) => ({ index, ...one })) })
  }
  const { model } = run
  const events: object[] = deltas.map((delta) => ({
    model,
    choices: [{ index: 0, delta, finish_reason: null }],
  }))
  const isCut = error !== undefined
  if (!isCut) events.push({ model, choices: [{ index: 0, delta: {}, finish_reason }] })
  if (!isCut) events.push({ model, choices: [], usage: usageOf(call) })
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return lines.join('') + (isCut ? '' : 'data: [DONE]\n\n')
}
