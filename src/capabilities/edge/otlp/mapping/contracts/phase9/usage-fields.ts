import type { FieldRule, Source, SpanFieldName } from '../contract-shape.ts'
import { attribute, attributes, otherwise, rule } from '../sources.ts'

type Name = Extract<
  SpanFieldName,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'usage_semantics'
  | 'cost_usd'
  | 'total_tokens'
  | 'output_semantics'
>

const claudeCode = ['com.anthropic.claude_code*']
const usageDetails = 'langfuse.observation.usage_details'
const inDetails = (...path: string[]): Source => attribute(usageDetails, { path })
const metadata = 'ai.response.providerMetadata'
/** The usage in Anthropic's own response, which the AI SDK passes on. */
const inAnthropic = (name: string): Source =>
  attribute(metadata, { path: ['anthropic', 'usage', name] })
const inMlflow = (name: string): Source => attribute('mlflow.chat.tokenUsage', { path: [name] })
const inGenkit = (name: string): Source => attribute('genkit:output', { path: ['usage', name] })
/** Reasoning tokens of Google ADK before 2.3, whose output count excludes them. */
const thoughts = 'gen_ai.usage.experimental.reasoning_tokens'

/**
 * Reported tokens and cost. `usage_semantics` says whether the input count includes the cached
 * tokens, `output_semantics` whether the output count includes the reasoning.
 *
 * Langfuse accepts usage in two forms. Its own keys (`input`, `input_cached_tokens`, `output`,
 * `output_reasoning_tokens`) are disjoint. The usage of OpenAI's APIs (`prompt_tokens` or
 * `input_tokens` with `…_details`) is passed on unchanged; there the details are parts of the
 * totals.
 *
 * Input counts include the cached tokens since conventions 1.40; the AI SDK's count of an Anthropic
 * model does since release 6. Anthropic's own counts never do, and report the tokens written to the
 * cache separately.
 *
 * Further senders: LiveKit Agents (`input_cached_tokens`), the agent of browser-use
 * (`input_cache_creation_tokens`), Qwen Code (`thinking_tokens`), LiteLLM (`gen_ai.cost.total_cost`,
 * `litellm.cost.total`), Sentry and Latitude (`gen_ai.usage.total_cost`).
 */
export const usageFields: Record<Name, FieldRule> = {
  input_tokens: rule(
    'count',
    inDetails('input'),
    inDetails('prompt_tokens'),
    inDetails('input_tokens'),
    inAnthropic('input_tokens'),
    attributes('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    attributes('llm.usage.prompt_tokens', 'llm.token_count.prompt'),
    attributes('ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'),
    inMlflow('input_tokens'),
    inGenkit('inputTokens'),
    attribute('input_tokens', { in_scopes: claudeCode }),
  ),
  output_tokens: rule(
    'count',
    inDetails('output'),
    inDetails('completion_tokens'),
    inDetails('output_tokens'),
    attributes('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    attributes('llm.usage.completion_tokens', 'llm.token_count.completion'),
    attributes('ai.usage.outputTokens', 'ai.usage.completionTokens'),
    inMlflow('output_tokens'),
    inGenkit('outputTokens'),
    attribute('output_tokens', { in_scopes: claudeCode }),
  ),
  cache_read_tokens: rule(
    'count',
    inDetails('cache_read_input_tokens'),
    inDetails('input_cached_tokens'),
    inDetails('input_cache_read'),
    inDetails('prompt_tokens_details', 'cached_tokens'),
    inDetails('input_tokens_details', 'cached_tokens'),
    inAnthropic('cache_read_input_tokens'),
    attributes('gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'),
    attributes('gen_ai.usage.details.cache_read_tokens'),
    attributes(
      'gen_ai.usage.details.cache_read_input_tokens',
      'gen_ai.usage.details.cached_tokens',
    ),
    attributes('gen_ai.usage.prompt_tokens_details.cached_tokens'),
    attributes('gen_ai.usage.input_tokens.cached'),
    attributes('llm.token_count.prompt_details.cache_read', 'llm.usage.cache_read_input_tokens'),
    attributes('ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'),
    attributes('cache_read_input_tokens'),
    inGenkit('cachedContentTokens'),
    attribute('cache_read_tokens', { in_scopes: claudeCode }),
    attributes('gen_ai.usage.input_cached_tokens'),
  ),
  cache_write_tokens: rule(
    'count',
    inDetails('cache_creation_input_tokens'),
    inDetails('input_cache_creation'),
    inDetails('input_cache_write'),
    inAnthropic('cache_creation_input_tokens'),
    attributes('gen_ai.usage.cache_write.input_tokens', 'gen_ai.usage.cache_creation.input_tokens'),
    attributes('gen_ai.usage.cache_write_input_tokens'),
    attributes('gen_ai.usage.cache_creation_input_tokens'),
    attributes('gen_ai.usage.details.cache_write_tokens'),
    attributes('gen_ai.usage.details.cache_creation_input_tokens'),
    attributes('gen_ai.usage.input_tokens.cache_write'),
    attributes('llm.token_count.prompt_details.cache_write'),
    attributes('llm.usage.cache_creation_input_tokens'),
    attributes('ai.usage.inputTokenDetails.cacheWriteTokens'),
    attributes('cache_creation_input_tokens'),
    attribute('cache_creation_tokens', { in_scopes: claudeCode }),
    attributes('gen_ai.usage.input_cache_creation_tokens'),
  ),
  reasoning_tokens: rule(
    'count',
    inDetails('output_reasoning_tokens'),
    inDetails('output_reasoning'),
    inDetails('completion_tokens_details', 'reasoning_tokens'),
    inDetails('output_tokens_details', 'reasoning_tokens'),
    attributes('gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'),
    attributes('gen_ai.usage.details.reasoning_tokens'),
    attributes('gen_ai.usage.completion_tokens_details.reasoning_tokens'),
    attributes('gen_ai.usage.output_tokens.reasoning'),
    attributes('llm.token_count.completion_details.reasoning', 'llm.usage.reasoning_tokens'),
    attributes('ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'),
    attributes(thoughts, 'gen_ai.usage.thinking_tokens'),
  ),
  usage_semantics: rule(
    'text',
    { from: 'scope', key: 'name', in_scopes: claudeCode, gives: 'exclusive' },
    { from: 'span', key: 'name', only: ['claude_code.llm_request'], gives: 'exclusive' },
    attribute('cache_read_input_tokens', { gives: 'exclusive' }),
    attribute('cache_creation_input_tokens', { gives: 'exclusive' }),
    attribute(usageDetails, { path: ['input'], gives: 'exclusive' }),
    attribute(usageDetails, { path: ['prompt_tokens'], gives: 'inclusive' }),
    attribute(usageDetails, {
      path: ['input_tokens_details', 'cached_tokens'],
      gives: 'inclusive',
    }),
    attribute(usageDetails, { gives: 'exclusive' }),
    attribute(metadata, { path: ['anthropic', 'usage', 'input_tokens'], gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
  cost_usd: rule(
    'dollars',
    attribute('langfuse.observation.cost_details', { path: ['total'] }),
    attribute('langfuse.observation.cost_details', { transform: 'sum_of_values' }),
    attributes('gen_ai.usage.cost', 'llm.cost.total', 'operation.cost', 'cost_usd'),
    attributes('gen_ai.usage.total_cost', 'gen_ai.cost.total_cost', 'litellm.cost.total'),
  ),
  total_tokens: rule(
    'count',
    attributes('gen_ai.usage.total_tokens', 'llm.usage.total_tokens', 'llm.token_count.total'),
    attributes('ai.usage.totalTokens'),
    inDetails('total'),
    inDetails('total_tokens'),
    inMlflow('total_tokens'),
    inGenkit('totalTokens'),
  ),
  output_semantics: rule(
    'text',
    attribute(usageDetails, { path: ['output'], gives: 'exclusive' }),
    attribute(thoughts, { gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
}

type DetailName = Extract<
  SpanFieldName,
  | 'input_audio_tokens'
  | 'cache_read_audio_tokens'
  | 'output_audio_tokens'
  | 'input_image_tokens'
  | 'cache_write_5m_tokens'
  | 'cache_write_1h_tokens'
  | 'details_semantics'
  | 'service_tier'
  | 'response_id'
>

const inMetadata = (...path: string[]): Source =>
  attribute('ai.response.providerMetadata', { path })
/** The whole answer as OpenInference reports it; `path` leads to the id that the provider gave. */
const answer = (...path: string[]): Source =>
  attribute('output.value', { path, in_scopes: ['openinference.instrumentation.*'], silent: true })

/**
 * Parts of the input and output and the service tier, which have their own prices; and the id of the
 * response, without which a call that the proxy records too would count twice.
 *
 * Senders: LiveKit Agents (`input_audio_tokens`, `output_audio_tokens`), OpenInference
 * (`prompt_details.audio`), Pydantic AI (`gen_ai.usage.details.*`). Langfuse's own keys are disjoint:
 * `input` leaves `input_audio_tokens` out.
 */
export const usageDetailFields: Record<DetailName, FieldRule> = {
  input_audio_tokens: rule(
    'count',
    attributes('llm.token_count.prompt_details.audio', 'gen_ai.usage.input_audio_tokens'),
    attributes('gen_ai.usage.details.input_audio_tokens'),
    attributes('gen_ai.usage.prompt_tokens_details.audio_tokens'),
    inDetails('input_audio_tokens'),
    inDetails('prompt_tokens_details', 'audio_tokens'),
    inDetails('input_tokens_details', 'audio_tokens'),
  ),
  cache_read_audio_tokens: rule(
    'count',
    attributes('gen_ai.usage.details.cache_audio_read_tokens'),
  ),
  output_audio_tokens: rule(
    'count',
    attributes('llm.token_count.completion_details.audio', 'gen_ai.usage.output_audio_tokens'),
    attributes('gen_ai.usage.details.output_audio_tokens'),
    attributes('gen_ai.usage.completion_tokens_details.audio_tokens'),
    inDetails('output_audio_tokens'),
    inDetails('completion_tokens_details', 'audio_tokens'),
    inDetails('output_tokens_details', 'audio_tokens'),
  ),
  input_image_tokens: rule(
    'count',
    inDetails('input_image_tokens'),
    inDetails('prompt_tokens_details', 'image_tokens'),
    inDetails('input_tokens_details', 'image_tokens'),
  ),
  cache_write_5m_tokens: rule(
    'count',
    inMetadata('anthropic', 'usage', 'cache_creation', 'ephemeral_5m_input_tokens'),
    inDetails('cache_creation', 'ephemeral_5m_input_tokens'),
  ),
  cache_write_1h_tokens: rule(
    'count',
    inMetadata('anthropic', 'usage', 'cache_creation', 'ephemeral_1h_input_tokens'),
    inDetails('cache_creation', 'ephemeral_1h_input_tokens'),
  ),
  details_semantics: rule(
    'text',
    attribute('langfuse.observation.usage_details', { path: ['input'], gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
  service_tier: rule(
    'text',
    attributes('openai.response.service_tier', 'gen_ai.openai.response.service_tier'),
    inMetadata('openai', 'serviceTier'),
    inMetadata('anthropic', 'usage', 'service_tier'),
    inDetails('service_tier'),
    attribute('openai.request.service_tier', { except: ['auto'] }),
    attribute('gen_ai.openai.request.service_tier', { except: ['auto'] }),
  ),
  response_id: rule(
    'text',
    attributes('gen_ai.response.id', 'ai.response.id', 'llm.response.id'),
    answer('id'),
    answer('response_id'),
    answer('generations', '0', '0', 'message', 'kwargs', 'response_metadata', 'id'),
  ),
}
