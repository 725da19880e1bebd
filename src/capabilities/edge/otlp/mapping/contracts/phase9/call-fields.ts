import type { FieldRule, SpanFieldName, TraceFieldName } from '../contract-shape.ts'
import { attribute, attributes, attributesOrResource, otherwise, rule } from '../sources.ts'

/** OpenLLMetry calls each node of a graph a task; its ids would split a run into many tasks. */
const exceptNodes = { except_scopes: ['opentelemetry.instrumentation.langchain*'] }

/** Fields of the trace in a span; spans of the trace without such fields inherit them. */
export const traceFields: Record<TraceFieldName, FieldRule> = {
  task_id: rule('text', attributes('looptrace.task.id'), attribute('gen_ai.task.id', exceptNodes), {
    from: 'request',
    key: 'trace_id',
  }),
  task_name: rule(
    'text',
    attributes('looptrace.task.name'),
    attribute('gen_ai.task.name', exceptNodes),
    attributes('traceloop.workflow.name', 'gen_ai.workflow.name', 'langfuse.trace.name'),
  ),
  conversation_id: rule(
    'text',
    attributesOrResource('langfuse.session.id', 'gen_ai.conversation.id', 'session.id'),
    attributes('traceloop.association.properties.conversation_id'),
    attributes('traceloop.association.properties.session_id'),
    attributes('traceloop.association.properties.thread_id'),
    attributes('ai.telemetry.metadata.sessionId', 'thread_id', 'gcp.vertex.agent.session_id'),
  ),
  user_id: rule(
    'text',
    attributesOrResource('langfuse.user.id', 'user.id', 'enduser.id'),
    attributes('gen_ai.user', 'llm.user', 'traceloop.association.properties.user_id'),
    attributes('ai.telemetry.metadata.userId'),
  ),
  environment: rule(
    'text',
    attributesOrResource('deployment.environment.name', 'deployment.environment'),
    attributesOrResource('langfuse.environment'),
    { from: 'request', key: 'environment' },
  ),
  release: rule('text', attributesOrResource('service.version', 'langfuse.release'), {
    from: 'request',
    key: 'release',
  }),
  trace_name: rule('text', attributes('langfuse.trace.name')),
  trace_input: rule('content', attributes('langfuse.trace.input')),
  trace_output: rule('content', attributes('langfuse.trace.output')),
}

type Name = Extract<
  SpanFieldName,
  'type' | 'model' | 'model_requested' | 'provider' | 'endpoint' | 'agent_name' | 'service_name'
>

/** The kind of the operation, and its participants. */
export const callFields: Record<Name, FieldRule> = {
  type: rule(
    'text',
    // Google ADK repeats the results of parallel tools in a span of this name.
    attribute('gen_ai.tool.name', { only: ['(merged tools)'], gives: 'span', silent: true }),
    attribute('langfuse.observation.type', { table: 'langfuse_types' }),
    attribute('openinference.span.kind', { table: 'openinference_kinds' }),
    attribute('gen_ai.operation.name', { table: 'operation_names' }),
    attribute('ai.operationId', { in_scopes: ['ai'], table: 'ai_operations' }),
    { from: 'span', key: 'name', table: 'claude_code_spans' },
    attribute('mlflow.spanType', { transform: 'json_string', table: 'mlflow_types' }),
    attribute('genkit:metadata:subtype', { table: 'genkit_subtypes' }),
    attribute('langsmith.span.kind', { table: 'langsmith_kinds' }),
    attribute('traceloop.span.kind', { table: 'traceloop_kinds' }),
    attribute('llm.request.type', { table: 'llm_request_types' }),
    attribute('mcp.method.name', { table: 'mcp_methods' }),
    attribute('gen_ai.tool.name', { gives: 'tool' }),
    attribute('gen_ai.tool.call.id', { gives: 'tool' }),
    attribute('gen_ai.tool.call.arguments', { gives: 'tool' }),
    attribute('gen_ai.tool.call.result', { gives: 'tool' }),
    attribute('gen_ai.tool.type', { gives: 'tool' }),
    attribute('gen_ai.tool.description', { gives: 'tool' }),
    { from: 'prefix', key: 'retrieval.', gives: 'retriever' },
    { from: 'prefix', key: 'gen_ai.retrieval.', gives: 'retriever' },
    { from: 'prefix', key: 'db.vector.', gives: 'retriever' },
    { from: 'fields', present: ['model', 'input_tokens'], gives: 'generation' },
    { from: 'fields', present: ['model', 'output_tokens'], gives: 'generation' },
    { from: 'fields', present: ['model_requested', 'input_tokens'], gives: 'generation' },
    { from: 'fields', present: ['model_requested', 'output_tokens'], gives: 'generation' },
    otherwise('span'),
  ),
  model: rule(
    'text',
    attributes('langfuse.observation.model.name', 'gen_ai.response.model'),
    attributes('llm.response.model_name', 'ai.response.model'),
    // OpenInference replaces the requested model by the one that answered.
    attributes('llm.model_name'),
  ),
  model_requested: rule(
    'text',
    attributes('gen_ai.request.model', 'llm.request.model_name'),
    attribute('llm.invocation_parameters', { path: ['model'] }),
    attributes('llm.model_name', 'ai.model.id'),
    attribute('mlflow.llm.model', { transform: 'json_string' }),
    attributes(
      'traceloop.association.properties.ls_model_name',
      'langsmith.metadata.ls_model_name',
    ),
    attributes('embedding.model_name', 'reranker.model_name'),
    attribute('model', { in_scopes: ['com.anthropic.claude_code*'] }),
  ),
  provider: rule(
    'text',
    attribute('gen_ai.provider.name', { table: 'providers' }),
    attribute('llm.provider', { table: 'providers' }),
    attribute('llm.system', { table: 'providers' }),
    attribute('gen_ai.system', { table: 'providers' }),
    attribute('ai.model.provider', { table: 'providers' }),
    attribute('traceloop.association.properties.ls_provider', { table: 'providers' }),
    attribute('langsmith.metadata.ls_provider', { table: 'providers' }),
    attribute('mlflow.llm.provider', { transform: 'json_string', table: 'providers' }),
    attribute('server.address', { table: 'provider_hosts', silent: true }),
    { from: 'span', key: 'name', only: ['claude_code.llm_request'], gives: 'anthropic' },
  ),
  endpoint: rule(
    'text',
    attribute('openai.api.type', { table: 'openai_api_types' }),
    attribute('gen_ai.openai.api.type', { table: 'openai_api_types' }),
  ),
  agent_name: rule(
    'text',
    attributes('gen_ai.agent.name', 'gen_ai.agent.id', 'agent.name'),
    attributes('graph.node.name', 'graph.node.display_name', 'graph.node.id'),
    attributes('agent_name'),
  ),
  service_name: rule('text', { from: 'resource', key: 'service.name' }),
}
