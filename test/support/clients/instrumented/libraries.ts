import { fileURLToPath } from 'node:url'
import type { Observation } from '../../../../src/model/observation.ts'
import { askedModel } from './instrumented-script.ts'
import type { LibraryProgram } from './run-libraries.ts'

/** Fields of a stored row. */
export type Row = Partial<Observation>

/** A program, and what its library does not report or reports in its own way. */
export type Library = LibraryProgram & {
  scope: string
  /** The reported usage of a whole answer, of a streamed one, and after a tool's result. */
  usage: { whole: Row; streamed: Row; after_tool: Row }
  /** Usage of the streamed answer. */
  stream: Row
  has_time_to_first_token?: true
  /** The error of the refused call; undefined if the library never ends that span. */
  refused?: Row
  /** Fields of each model call. */
  everywhere?: Row
  /** The sources of the fields in the explanation. */
  sources: Record<string, string>
}

const usage = (input: number, cached: number, output: number, reasoning: number): Row => ({
  input_uncached_tokens: input,
  cache_read_tokens: cached,
  cache_write_tokens: 0,
  output_visible_tokens: output,
  reasoning_tokens: reasoning,
  usage_source: 'provider',
  usage_semantics: 'inclusive',
})
/** Usage that no library counted. */
export const noUsage: Row = {
  input_uncached_tokens: null,
  cache_read_tokens: null,
  output_visible_tokens: null,
  reasoning_tokens: null,
  usage_source: 'none',
  usage_semantics: '',
}
/** The provider sent 90 with 64 cached, and 24 with 8 of reasoning; 120 and 11 after the tool. */
const allBuckets = usage(26, 64, 16, 8)
const totalsOnly = usage(90, 0, 24, 0)
const after_tool = usage(120, 0, 11, 0)

const openInferenceSources = {
  type: 'openinference.span.kind',
  model: 'llm.model_name',
  model_requested: 'llm.invocation_parameters#model',
  input: 'llm.input_messages.N',
  output: 'llm.output_messages.N',
  input_tokens: 'llm.token_count.prompt',
  finish_reason: 'llm.finish_reason',
}
const genAiSources = {
  type: 'gen_ai.operation.name',
  model: 'gen_ai.response.model',
  model_requested: 'gen_ai.request.model',
  provider: 'gen_ai.provider.name',
  input: 'gen_ai.system_instructions+gen_ai.input.messages',
  output: 'gen_ai.output.messages',
  input_tokens: 'gen_ai.usage.input_tokens',
  finish_reason: 'gen_ai.response.finish_reasons',
}

/** The tested libraries, each with the same script of the provider. */
export const libraries: Library[] = [
  {
    library: '@arizeai/openinference-instrumentation-openai',
    language: 'node',
    program: fileURLToPath(new URL('./openinference-openai.ts', import.meta.url)),
    items: 10,
    scope: '@arizeai/openinference-instrumentation-openai',
    usage: { whole: allBuckets, streamed: noUsage, after_tool },
    stream: { streamed: true, model: askedModel },
    everywhere: { conversation_external_id: 'talk of openinference', user_id: 'ada' },
    sources: { ...openInferenceSources, conversation_id: 'trace', user_id: 'trace' },
  },
  {
    library: '@traceloop/instrumentation-openai',
    language: 'node',
    program: fileURLToPath(new URL('./openllmetry-openai.ts', import.meta.url)),
    items: 8,
    scope: '@traceloop/instrumentation-openai',
    usage: { whole: totalsOnly, streamed: noUsage, after_tool },
    stream: { streamed: false },
    everywhere: {
      conversation_external_id: 'talk of openllmetry',
      user_id: 'ada',
      task_name: 'parcel desk',
      span_kind: 'client',
    },
    sources: genAiSources,
  },
  {
    library: '@ai-sdk/otel',
    language: 'node',
    program: fileURLToPath(new URL('./ai-sdk.ts', import.meta.url)),
    items: 19,
    scope: 'gen_ai',
    usage: { whole: usage(26, 64, 24, 0), streamed: usage(26, 64, 24, 0), after_tool },
    stream: { streamed: true },
    has_time_to_first_token: true,
    refused: { error_type: 'AI_APICallError', status_code: 400 },
    everywhere: {
      conversation_external_id: 'talk of ai sdk',
      user_id: 'ada',
      span_kind: 'client',
    },
    sources: genAiSources,
  },
  {
    library: 'openinference-instrumentation-openai',
    language: 'python',
    program: 'instrumented_openai.py',
    args: ['openinference'],
    items: 9,
    scope: 'openinference.instrumentation.openai',
    usage: { whole: allBuckets, streamed: allBuckets, after_tool },
    stream: { streamed: true },
    has_time_to_first_token: true,
    refused: { error_type: 'openai.BadRequestError' },
    everywhere: { conversation_external_id: 'talk of openinference', user_id: 'ada' },
    sources: { ...openInferenceSources, conversation_id: 'session.id', user_id: 'user.id' },
  },
  {
    library: 'opentelemetry-instrumentation-openai',
    language: 'python',
    program: 'instrumented_openai.py',
    args: ['openllmetry'],
    items: 9,
    scope: 'opentelemetry.instrumentation.openai.v1',
    usage: { whole: allBuckets, streamed: usage(26, 64, 24, 0), after_tool },
    stream: { streamed: true },
    has_time_to_first_token: true,
    refused: { error_type: 'BadRequestError' },
    everywhere: { span_kind: 'client' },
    sources: genAiSources,
  },
  {
    library: 'opentelemetry-instrumentation-openai-v2',
    language: 'python',
    program: 'instrumented_openai.py',
    args: ['official'],
    env: {
      OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_AND_EVENT',
    },
    items: 14,
    scope: 'opentelemetry.util.genai.handler',
    usage: { whole: totalsOnly, streamed: totalsOnly, after_tool },
    stream: { streamed: false },
    refused: { error_type: "<class 'openai.BadRequestError'>" },
    everywhere: { span_kind: 'client' },
    sources: genAiSources,
  },
]
