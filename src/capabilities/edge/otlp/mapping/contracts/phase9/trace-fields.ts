import type { FieldRule, TraceFieldName } from '../contract-shape.ts'
import { attributes, attributesOrResource, rule } from '../sources.ts'

/** Fields of the trace in a span; spans of the trace without such fields inherit them. */
export const traceFields: Record<TraceFieldName, FieldRule> = {
  task_id: rule('text', attributes('looptrace.task.id', 'gen_ai.task.id'), {
    from: 'request',
    key: 'trace_id',
  }),
  task_name: rule(
    'text',
    attributes('looptrace.task.name', 'gen_ai.task.name'),
    attributes('traceloop.workflow.name', 'gen_ai.workflow.name'),
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
