import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapAttributes, textFrom } from '../../../../../test/support/otlp-spans.ts'
import type { ObservationDraft } from '../../../../model/ingest-records.ts'
import type { OtlpValue } from '../contract.ts'
import { readMappedFrom } from './mapped-from.ts'

type Row = {
  field: string
  /** Keys in the order of the design, each with a value and what it gives. */
  keys: [key: string, value: OtlpValue, gives: unknown][]
  read: (draft: ObservationDraft) => unknown
  scope?: string
}

const same = (...keys: string[]): Row['keys'] => keys.map((key) => [key, `by ${key}`, `by ${key}`])
const usage = (prefix: number, ...keys: string[]): Row['keys'] =>
  keys.map((key, at) => [key, prefix + at, prefix + at])
const toolCall = (name: string) => JSON.stringify([{ toolCallId: 'c', toolName: name, args: {} }])

const rows: Row[] = [
  {
    field: 'type',
    scope: 'ai',
    read: ({ type }) => type,
    keys: [
      ['langfuse.observation.type', 'evaluator', 'evaluator'],
      ['openinference.span.kind', 'GUARDRAIL', 'guardrail'],
      ['gen_ai.operation.name', 'embeddings', 'embedding'],
      ['ai.operationId', 'ai.generateText.doGenerate', 'generation'],
      ['mlflow.spanType', '"AGENT"', 'agent'],
      ['genkit:metadata:subtype', 'retriever', 'retriever'],
      ['langsmith.span.kind', 'chain', 'chain'],
      ['traceloop.span.kind', 'agent', 'agent'],
      ['llm.request.type', 'chat', 'generation'],
      ['mcp.method.name', 'tools/call', 'tool'],
      ['gen_ai.tool.name', 'find', 'tool'],
      ['db.vector.query.top_k', 3, 'retriever'],
    ],
  },
  {
    field: 'model',
    read: ({ model }) => model,
    keys: same(
      'langfuse.observation.model.name',
      'gen_ai.response.model',
      'llm.response.model_name',
      'ai.response.model',
    ),
  },
  {
    field: 'model_requested',
    read: ({ model_requested }) => model_requested,
    keys: same(
      'gen_ai.request.model',
      'llm.request.model_name',
      'llm.model_name',
      'ai.model.id',
      'mlflow.llm.model',
      'traceloop.association.properties.ls_model_name',
      'langsmith.metadata.ls_model_name',
    ),
  },
  {
    field: 'provider',
    read: ({ provider }) => provider,
    keys: [
      ['gen_ai.provider.name', 'gcp.gemini', 'gemini'],
      ['llm.provider', 'openai', 'openai'],
      ['llm.system', 'Anthropic', 'anthropic'],
      ['gen_ai.system', 'az.ai.openai', 'azure'],
      ['ai.model.provider', 'groq.chat', 'groq'],
      ['traceloop.association.properties.ls_provider', 'cohere', 'cohere'],
      ['mlflow.llm.provider', '"mistral"', 'mistral'],
      ['server.address', 'api.deepseek.com', 'deepseek'],
    ],
  },
  {
    field: 'input',
    read: ({ input }) => textFrom(input),
    keys: same(
      'langfuse.observation.input',
      'gen_ai.input.messages',
      'ai.prompt.messages',
      'ai.prompt',
      'ai.toolCall.args',
      'gcp.vertex.agent.llm_request',
      'gcp.vertex.agent.tool_call_args',
      'gen_ai.tool.call.arguments',
      'pydantic_ai.all_messages',
      'gen_ai.prompt',
      'mlflow.spanInputs',
      'traceloop.entity.input',
      'input.value',
    ),
  },
  {
    field: 'output',
    read: ({ output }) => textFrom(output),
    keys: same(
      'langfuse.observation.output',
      'gen_ai.output.messages',
      'ai.response.text',
      'ai.response.object',
      'ai.response.toolCalls',
      'ai.toolCall.result',
      'gcp.vertex.agent.llm_response',
      'gcp.vertex.agent.tool_response',
      'gen_ai.tool.call.result',
      'gen_ai.completion',
      'mlflow.spanOutputs',
      'traceloop.entity.output',
      'output.value',
    ),
  },
  {
    field: 'tool_calls',
    read: ({ tool_calls }) => tool_calls[0]?.name,
    keys: [
      [
        'gen_ai.output.messages',
        JSON.stringify([{ role: 'assistant', parts: [{ type: 'tool_call', name: 'parts' }] }]),
        'parts',
      ],
      ['llm.output_messages.0.message.tool_calls.0.tool_call.function.name', 'indexed', 'indexed'],
      ['gen_ai.completion.0.tool_calls.0.name', 'completion', 'completion'],
      ['ai.response.toolCalls', toolCall('ai'), 'ai'],
    ],
  },
  {
    field: 'input_tokens',
    read: ({ input_uncached_tokens }) => input_uncached_tokens,
    keys: usage(
      10,
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.inputTokens',
    ),
  },
  {
    field: 'output_tokens',
    read: ({ output_visible_tokens }) => output_visible_tokens,
    keys: usage(
      10,
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.outputTokens',
    ),
  },
  {
    field: 'cache_read_tokens',
    read: ({ cache_read_tokens }) => cache_read_tokens,
    keys: usage(
      10,
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.details.cache_read_tokens',
      'gen_ai.usage.prompt_tokens_details.cached_tokens',
      'llm.token_count.prompt_details.cache_read',
      'ai.usage.cachedInputTokens',
    ),
  },
  {
    field: 'cache_write_tokens',
    read: ({ cache_write_tokens }) => cache_write_tokens,
    keys: usage(
      10,
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_write_input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
    ),
  },
  {
    field: 'reasoning_tokens',
    read: ({ reasoning_tokens }) => reasoning_tokens,
    keys: usage(
      10,
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'gen_ai.usage.completion_tokens_details.reasoning_tokens',
      'ai.usage.reasoningTokens',
    ),
  },
  {
    field: 'cost_usd',
    read: ({ cost_usd }) => cost_usd,
    keys: [
      ['langfuse.observation.cost_details', '{"input":0.5,"total":1.5}', '1.5'],
      ['gen_ai.usage.cost', 2, '2'],
      ['llm.cost.total', '0.000000001', '0.000000001'],
      ['operation.cost', 10.25, '10.25'],
      ['cost_usd', 0, '0'],
    ],
  },
  {
    field: 'conversation_id',
    read: ({ conversation_external_id }) => conversation_external_id,
    keys: same(
      'langfuse.session.id',
      'gen_ai.conversation.id',
      'session.id',
      'traceloop.association.properties.conversation_id',
      'traceloop.association.properties.session_id',
      'traceloop.association.properties.thread_id',
      'ai.telemetry.metadata.sessionId',
      'thread_id',
      'gcp.vertex.agent.session_id',
    ),
  },
  {
    field: 'user_id',
    read: ({ user_id }) => user_id,
    keys: same(
      'langfuse.user.id',
      'user.id',
      'enduser.id',
      'gen_ai.user',
      'llm.user',
      'traceloop.association.properties.user_id',
      'ai.telemetry.metadata.userId',
    ),
  },
  {
    field: 'task_id',
    read: ({ task_id }) => task_id,
    keys: same('looptrace.task.id', 'gen_ai.task.id'),
  },
  {
    field: 'task_name',
    read: ({ task_name }) => task_name,
    keys: same(
      'looptrace.task.name',
      'gen_ai.task.name',
      'traceloop.workflow.name',
      'gen_ai.workflow.name',
    ),
  },
  {
    field: 'agent_name',
    read: ({ agent_name }) => agent_name,
    keys: same('gen_ai.agent.name', 'agent.name', 'graph.node.id'),
  },
  {
    field: 'finish_reason',
    read: ({ finish_reason }) => finish_reason,
    keys: [
      ['gen_ai.response.finish_reasons', ['tool_call', 'stop'], 'tool_calls'],
      ['llm.finish_reason', 'length', 'length'],
      ['ai.response.finishReason', 'tool-calls', 'tool_calls'],
      ['stop_reason', 'tool_use', 'tool_calls'],
      ['anthropic.message.stop_reason', 'end_turn', 'end_turn'],
      ['anthropic.session.turn.stop_reason', 'tool_use', 'tool_calls'],
    ],
  },
  {
    field: 'time_to_first_token_ms',
    read: ({ time_to_first_token_ms }) => time_to_first_token_ms,
    keys: [
      ['gen_ai.response.time_to_first_chunk', 0.25, 250],
      ['ai.response.msToFirstChunk', 120.5, 120.5],
      ['langfuse.observation.completion_start_time', '"2026-09-21T14:13:21.500Z"', 1500],
    ],
  },
  {
    field: 'error_type',
    read: ({ error_type }) => error_type,
    keys: same('error.type', 'exception.type'),
  },
  {
    field: 'environment',
    read: ({ environment }) => environment,
    keys: same('deployment.environment.name', 'deployment.environment', 'langfuse.environment'),
  },
  {
    field: 'release',
    read: ({ release }) => release,
    keys: same('service.version', 'langfuse.release'),
  },
  {
    field: 'level',
    read: ({ level }) => level,
    keys: [['langfuse.observation.level', 'WARNING', 'warning']],
  },
]

describe.each(rows.map((row) => [row.field, row] as const))('%s', (field, row) => {
  const about = row.scope === undefined ? {} : { scope: row.scope }

  test.each(row.keys)('%s alone gives the field', (key, value, gives) => {
    const draft = mapAttributes({ [key]: value }, about)
    expect(row.read(draft)).toEqual(gives)
    expect(readMappedFrom(draft.mapped_from).given.has(field)).toBe(true)
    expect(draft.contract_version).toBe('phase9-otlp-v1')
  })

  test('of any keys in any order the first one wins', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(row.keys, { minLength: 1 }), (keys) => {
        const draft = mapAttributes(Object.fromEntries(keys), about)
        const first = row.keys.find((one) => keys.includes(one))
        expect(row.read(draft)).toEqual(first?.[2])
      }),
      { numRuns: 60 },
    )
  })
})
