import { traceFields as first } from '../phase9/trace-fields.ts'
import { attribute, attributes, rule } from '../sources.ts'

/** OpenLLMetry calls each node of a graph a task: its ids would tear a run apart. */
const exceptNodes = { except_scopes: ['opentelemetry.instrumentation.langchain*'] }

/** As in the first contract, but for tasks that are nodes of a graph. */
export const traceFields: typeof first = {
  ...first,
  task_id: rule('text', attributes('looptrace.task.id'), attribute('gen_ai.task.id', exceptNodes), {
    from: 'request',
    key: 'trace_id',
  }),
  task_name: rule(
    'text',
    attributes('looptrace.task.name'),
    attribute('gen_ai.task.name', exceptNodes),
    attributes('traceloop.workflow.name', 'gen_ai.workflow.name'),
  ),
}
