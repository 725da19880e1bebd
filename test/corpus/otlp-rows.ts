import type { OtlpSpan, OtlpValue } from '../../src/capabilities/edge/otlp/contract.ts'
import { createMapper, currentContract } from '../../src/capabilities/edge/otlp/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { Observation } from '../../src/model/observation.ts'
import { otlpRequest, otlpSpan, storedFrom } from '../support/otlp-spans.ts'
import type {
  ChatMessage,
  RecordedAgent,
  RecordedCall,
  RecordedRun,
  RecordedTool,
} from './recorded-run.ts'
import { hexFrom, traceIdOf } from './run-ids.ts'

/** The instrumentation's format and detail. */
export type OtlpStyle = {
  /** False: names, times, status and usage only, the default of instrumentations. */
  content: boolean
  /** OpenTelemetry's GenAI messages of parts, or OpenInference's numbered attributes. */
  dialect: 'otel' | 'openinference'
}

/**
 * The rows of a run as its own instrumentation reports it, through the mapping of OTLP: one trace,
 * a span of each agent that repeats the content of its calls, their calls and the tools that were
 * run.
 */
export function otlpRows(run: RecordedRun, style: OtlpStyle): Observation[] {
  const spans = [
    ...run.agents.map((agent) => agentSpan(run, agent, style)),
    ...run.calls.map((call) => callSpan(run, call, style)),
    ...run.tools.map((tool) => toolSpan(run, tool, style)),
  ]
  const request = otlpRequest(spans, {
    resource: { 'service.name': 'agent' },
    scope:
      style.dialect === 'otel' ? 'opentelemetry.instrumentation.genai' : 'openinference.openai',
  })
  const { project_id } = run
  const received_at_ms = 1_790_000_100_000
  const about = { project_id, environment: '', release: '', received_at_ms }
  return mapper.traces(request, about).records.observations.map(storedFrom)
}

const mapper = createMapper({ contract: currentContract, pricing: createPricing() })

type Attributes = Record<string, OtlpValue>

function spanIn(
  run: RecordedRun,
  attributes: Attributes,
  given: Partial<Omit<OtlpSpan, 'attributes'>>,
): OtlpSpan {
  const about: Attributes = { 'looptrace.task.id': run.task_id }
  if (run.task_name !== '') about['looptrace.task.name'] = run.task_name
  if (run.conversation_id !== '') about['gen_ai.conversation.id'] = run.conversation_id
  const place = { trace_id: traceIdOf(run.name, 'all'), kind: 1 }
  return otlpSpan({ ...about, ...attributes }, { ...place, ...given })
}

function agentId(run: RecordedRun, index: number): string {
  return hexFrom(16, 'agent', run.name, index)
}

function agentSpan(run: RecordedRun, agent: RecordedAgent, style: OtlpStyle): OtlpSpan {
  const calls = run.calls.filter((call) => call.agent.index === agent.index)
  const times = [...calls, ...run.tools.filter((tool) => tool.agent.index === agent.index)]
  const starts = times.map(({ start_time }) => start_time).sort(byTime)
  const ends = times.map(({ end_time }) => end_time).sort(byTime)
  const last = calls.at(-1)
  const said = last === undefined ? [] : last.messages
  const attributes: Attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent.name,
    ...(style.content ? contentOf(said, last?.answer, { dialect: 'otel' }) : {}),
  }
  return spanIn(run, attributes, {
    name: `invoke_agent ${agent.name}`,
    span_id: agentId(run, agent.index),
    parent_span_id: agent.parent === null ? '' : agentId(run, agent.parent),
    start_time: starts[0] ?? 1n,
    end_time: ends.at(-1) ?? 1n,
  })
}

function byTime(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function callSpan(run: RecordedRun, call: RecordedCall, style: OtlpStyle): OtlpSpan {
  const isOtel = style.dialect === 'otel'
  const { error, answer } = call
  const attributes: Attributes = isOtel ? otelCall(run, call) : openInferenceCall(run, call)
  if (error?.status) attributes['http.response.status_code'] = error.status
  if (error !== undefined) attributes['error.type'] = error.type ?? error.outcome ?? 'error'
  if (style.content) Object.assign(attributes, contentOf(call.messages, answer, style))
  if (style.content && run.declared.length > 0) {
    attributes['gen_ai.tool.definitions'] = JSON.stringify(
      run.declared.map((tool) => ({ type: 'function', ...tool })),
    )
  }
  return spanIn(run, attributes, {
    name: `chat ${run.model}`,
    kind: 3,
    span_id: hexFrom(16, 'call', run.name, call.index),
    parent_span_id: agentId(run, call.agent.index),
    start_time: call.start_time,
    end_time: call.end_time,
    status_code: error === undefined ? 0 : 2,
    status_message: error?.message ?? '',
  })
}

function otelCall(run: RecordedRun, call: RecordedCall): Attributes {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': run.provider,
    'gen_ai.request.model': run.model,
  }
  if (call.streamed) attributes['gen_ai.request.stream'] = true
  if (call.answer === undefined) return attributes
  attributes['gen_ai.response.model'] = run.model
  if (call.finish_reason !== '') {
    attributes['gen_ai.response.finish_reasons'] = [call.finish_reason]
  }
  attributes['gen_ai.usage.input_tokens'] = call.input_tokens
  attributes['gen_ai.usage.output_tokens'] = call.output_tokens
  return attributes
}

function openInferenceCall(run: RecordedRun, call: RecordedCall): Attributes {
  const attributes: Attributes = {
    'openinference.span.kind': 'LLM',
    'llm.provider': run.provider,
    'llm.model_name': run.model,
  }
  if (call.answer === undefined) return attributes
  if (call.finish_reason !== '') attributes['llm.finish_reason'] = call.finish_reason
  attributes['llm.token_count.prompt'] = call.input_tokens
  attributes['llm.token_count.completion'] = call.output_tokens
  return attributes
}

function toolSpan(run: RecordedRun, tool: RecordedTool, style: OtlpStyle): OtlpSpan {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool.name,
    'gen_ai.tool.call.id': tool.tool_call_id,
  }
  if (style.content) {
    attributes['gen_ai.tool.call.arguments'] = tool.arguments
    attributes['gen_ai.tool.call.result'] = tool.result
  }
  if (tool.failed) attributes['error.type'] = 'tool_error'
  return spanIn(run, attributes, {
    name: `execute_tool ${tool.name}`,
    span_id: hexFrom(16, 'tool', run.name, tool.index),
    parent_span_id: agentId(run, tool.agent.index),
    start_time: tool.start_time,
    end_time: tool.end_time,
    status_code: tool.failed ? 2 : 0,
  })
}

function contentOf(
  messages: readonly ChatMessage[],
  answer: ChatMessage | undefined,
  { dialect }: Pick<OtlpStyle, 'dialect'>,
): Attributes {
  if (dialect === 'openinference') {
    const attributes = numbered('llm.input_messages', messages)
    return answer === undefined
      ? attributes
      : { ...attributes, ...numbered('llm.output_messages', [answer]) }
  }
  const attributes: Attributes = { 'gen_ai.input.messages': JSON.stringify(messages.map(inParts)) }
  if (answer !== undefined) {
    attributes['gen_ai.output.messages'] = JSON.stringify([inParts(answer)])
  }
  return attributes
}

/** A message in the format of OpenTelemetry's GenAI conventions. */
function inParts(message: ChatMessage): object {
  const { role, content, tool_calls = [], tool_call_id } = message
  if (role === 'tool') {
    const part = { type: 'tool_call_response', id: tool_call_id, response: content }
    return { role, parts: [part] }
  }
  const parts: object[] = []
  const text = content ?? message.refusal ?? ''
  if (text !== '') parts.push({ type: 'text', content: text })
  for (const { id, function: called } of tool_calls) {
    const { name } = called
    parts.push({ type: 'tool_call', id, name, arguments: parsedOrText(called.arguments) })
  }
  return { role, parts }
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function numbered(prefix: string, messages: readonly ChatMessage[]): Attributes {
  const attributes: Attributes = {}
  for (const [at, message] of messages.entries()) {
    const key = `${prefix}.${at}.message`
    attributes[`${key}.role`] = message.role
    const text = message.content ?? message.refusal
    if (text !== undefined && text !== null) attributes[`${key}.content`] = text
    if (message.tool_call_id !== undefined) attributes[`${key}.tool_call_id`] = message.tool_call_id
    for (const [nth, { id, function: called }] of (message.tool_calls ?? []).entries()) {
      const call = `${key}.tool_calls.${nth}.tool_call`
      attributes[`${call}.id`] = id
      attributes[`${call}.function.name`] = called.name
      attributes[`${call}.function.arguments`] = called.arguments
    }
  }
  return attributes
}
