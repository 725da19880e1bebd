import type { IngestRequest } from '../../src/capabilities/edge/enqueue/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { EventDraft, ObservationDraft } from '../../src/model/ingest-records.ts'

/** Two projects. */
export const projects = [
  '01900000-0000-7000-8000-000000000001',
  '01900000-0000-7000-8000-000000000002',
]
const trace_id = '01900000-0000-7000-8000-0000000000aa'

/** A small observation of the first project. */
export function observation(about: Partial<ObservationDraft> = {}): ObservationDraft {
  return {
    project_id: projects[0] ?? '',
    trace_id,
    observation_id: newId().slice(-16),
    parent_observation_id: '',
    type: 'generation',
    name: 'chat',
    start_time: 1_790_000_000_000_000_000n,
    end_time: 1_790_000_000_100_000_000n,
    status: 'ok',
    status_code: 0,
    outcome: '',
    error_type: '',
    error_message: '',
    source: 'otlp',
    contract_version: 'phase9-otlp-v1',
    provider: 'openai',
    model_requested: 'm',
    model: 'm',
    endpoint: '',
    task_id: trace_id,
    task_name: '',
    task_implicit: true,
    conversation_id: '',
    conversation_external_id: '',
    user_id: '',
    environment: '',
    release: '',
    service_name: '',
    agent_name: '',
    span_kind: 'client',
    level: '',
    input: 'in',
    output: Buffer.from('out'),
    content_state: 'full',
    tool_calls: [],
    tool_results: [],
    streamed: false,
    finish_reason: 'stop',
    input_uncached_tokens: 1,
    cache_read_tokens: null,
    cache_write_tokens: null,
    output_visible_tokens: 2,
    reasoning_tokens: null,
    usage_source: 'provider',
    usage_semantics: 'inclusive',
    cost_usd: null,
    price_partial: [],
    usage_details: {},
    service_tier: '',
    response_id: '',
    counted_with: '',
    cost_computed_usd: null,
    cost_reported_usd: null,
    price_version: '',
    time_to_first_token_ms: null,
    request_bytes: 0,
    response_bytes: 0,
    attributes: ['a', Buffer.from('b')],
    metadata: [],
    mapped_from: '',
    ...about,
  }
}

/** An event of an observation of the first project. */
export function eventOf(observation_id: string): EventDraft {
  return {
    project_id: projects[0] ?? '',
    trace_id,
    observation_id,
    event_id: '0',
    time: 1_790_000_000_000_000_000n,
    name: 'gen_ai.choice',
    level: '',
    source: 'otlp',
    body: 'said',
    attributes: [],
  }
}

/** A request with these observations, one item each. */
export function requestOf(
  observations: ObservationDraft[],
  about: Partial<IngestRequest> = {},
): IngestRequest {
  const rejected_items = Object.values(about.rejected ?? {}).reduce((a, b) => a + b, 0)
  return {
    project_id: projects[0] ?? '',
    path: 'otlp',
    ingest_request_id: newId(),
    received_at_ms: 1_790_000_000_000,
    items: observations.length + rejected_items,
    rejected: {},
    masked: 0,
    ...about,
    records: {
      observations,
      traces: [],
      events: [],
      links: [],
      correlations: [],
      ...about.records,
    },
  }
}
