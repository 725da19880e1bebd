import type { FieldRule, Source, SpanFieldName, TransformName } from '../contract-shape.ts'
import { attribute, attributes, rule } from '../sources.ts'

type Name = Extract<
  SpanFieldName,
  'input' | 'output' | 'tool_name' | 'tool_call_id' | 'tool_calls' | 'tool_results'
>

const details = 'gen_ai.client.inference.operation.details'
const indexed = (key: string): Source => ({ from: 'indexed', key, transform: 'messages' })
const event = (name: string, key: string): Source => ({ from: 'event', event: name, key })
const calls = { transform: 'tool_calls' } as const
const results = { transform: 'tool_results' } as const
const pydantic = { in_scopes: ['pydantic-ai', 'logfire*'] }
const strands = ['strands*']
const empty = { except: ['{}', '"{}"'] }
/** The text that OpenInference writes in place of hidden content. */
const hidden = { except: ['__REDACTED__'] }
const ofTool = { of_types: ['tool'] }
/** Attributes of a tool's own span that may wrap its one call or result. */
const ofCall = (transform: TransformName, ...keys: string[]): Source[] =>
  keys.map((key) => ({ from: 'attributes', keys: [key], transform, ...ofTool }))
const exceptTool = { except_types: ['tool'] }
const generation = { of_types: ['generation'] }
/** Spans around model calls and tools repeat their content. */
const notAround = { except_types: ['tool', 'chain', 'agent'] }

/**
 * Input, output and tool traffic. The input of a tool's span is the arguments and its output the
 * result, so messages and objects of LangChain's callbacks there are searched for the one call or
 * result. Strands Agents reports the arguments in the event `gen_ai.tool.message` and the result in
 * `gen_ai.choice`; elsewhere `gen_ai.tool.message` is a result, as in the conventions.
 */
export const contentFields: Record<Name, FieldRule> = {
  input: rule(
    'content',
    attributes('langfuse.observation.input'),
    ofCall('call_arguments', 'gen_ai.input.messages'),
    {
      from: 'attributes',
      keys: ['gen_ai.system_instructions', 'gen_ai.input.messages'],
      transform: 'system_then_messages',
    },
    { ...event(details, 'gen_ai.input.messages'), transform: 'call_arguments', ...ofTool },
    { from: 'events', event: details, transform: 'system_then_messages' },
    indexed('llm.input_messages'),
    attributes('ai.prompt.messages', 'ai.prompt', 'ai.toolCall.args'),
    attribute('gcp.vertex.agent.llm_request', empty),
    attribute('gcp.vertex.agent.tool_call_args', empty),
    ofCall('call_arguments', 'gen_ai.tool.call.arguments'),
    attributes('gen_ai.tool.call.arguments', 'pydantic_ai.all_messages'),
    attribute('all_messages_events', pydantic),
    indexed('gen_ai.prompt'),
    attributes('gen_ai.prompt'),
    { ...event('gen_ai.tool.message', 'content'), ...ofTool, with_event: 'gen_ai.choice' },
    { ...event('gen_ai.tool.message', 'content'), ...ofTool, in_scopes: strands },
    { from: 'events', event: 'gen_ai.*.message', transform: 'messages', ...exceptTool },
    event('gen_ai.content.prompt', 'gen_ai.prompt'),
    ofCall('call_arguments', 'traceloop.entity.input'),
    attributes('mlflow.spanInputs', 'traceloop.entity.input', 'genkit:input'),
    attribute('input.value', hidden),
    indexed('llm.prompts'),
    { ...indexed('embedding.embeddings'), without: ['vector'] } as Source,
    attribute('user_prompt', { except: ['<REDACTED>'] }),
    attributes('tool_arguments', 'tool_input', 'gen_ai.task.input'),
  ),
  output: rule(
    'content',
    ofCall('call_result', 'langfuse.observation.output'),
    attributes('langfuse.observation.output'),
    ofCall('call_result', 'gen_ai.output.messages'),
    attributes('gen_ai.output.messages'),
    { ...event(details, 'gen_ai.output.messages'), transform: 'call_result', ...ofTool },
    event(details, 'gen_ai.output.messages'),
    indexed('llm.output_messages'),
    attributes('ai.response.text', 'ai.response.object', 'ai.response.toolCalls'),
    attributes('ai.result.text', 'ai.result.object', 'ai.result.toolCalls', 'ai.toolCall.result'),
    attribute('gcp.vertex.agent.llm_response', empty),
    attribute('gcp.vertex.agent.tool_response', empty),
    ofCall('call_result', 'gen_ai.tool.call.result'),
    attributes('gen_ai.tool.call.result', 'pydantic_ai.final_result'),
    attribute('final_result', pydantic),
    indexed('gen_ai.completion'),
    attributes('gen_ai.completion'),
    { ...event('gen_ai.choice', 'message'), ...ofTool },
    { ...event('gen_ai.tool.message', 'content'), ...ofTool, except_scopes: strands },
    { from: 'events', event: 'gen_ai.choice', transform: 'messages', ...exceptTool },
    event('gen_ai.content.completion', 'gen_ai.completion'),
    ofCall('call_result', 'traceloop.entity.output'),
    attributes('mlflow.spanOutputs', 'traceloop.entity.output', 'genkit:output'),
    ofCall('call_result', 'output.value'),
    attribute('output.value', hidden),
    indexed('llm.choices'),
    indexed('retrieval.documents'),
    attribute('response.model_output', { in_scopes: ['com.anthropic.claude_code*'] }),
    attributes('tool_response', 'tool_output', 'gen_ai.task.output'),
  ),
  tool_name: rule(
    'text',
    attributes('gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'tool_name', 'mcp.tool.name'),
    { from: 'attributes', keys: ['traceloop.entity.name'], ...ofTool },
    { from: 'span', key: 'name', in_scopes: ['langfuse*'], ...ofTool },
  ),
  tool_call_id: rule(
    'text',
    attributes('gen_ai.tool.call.id', 'tool.id', 'ai.toolCall.id', 'tool_use_id'),
    ofCall('call_id', 'langfuse.observation.output', 'gen_ai.tool.call.result'),
    ofCall('call_id', 'traceloop.entity.output', 'output.value'),
  ),
  tool_calls: rule(
    'tool_calls',
    { from: 'attributes', keys: ['langfuse.observation.output'], ...calls, ...generation },
    attribute('gen_ai.output.messages', calls),
    { from: 'event', event: details, key: 'gen_ai.output.messages', ...calls },
    { from: 'indexed', key: 'llm.output_messages', ...calls },
    { from: 'indexed', key: 'gen_ai.completion', ...calls },
    attribute('ai.response.toolCalls', calls),
    attribute('ai.result.toolCalls', calls),
    { from: 'events', event: 'gen_ai.choice', ...calls, ...notAround },
  ),
  tool_results: rule(
    'tool_results',
    { from: 'attributes', keys: ['langfuse.observation.input'], ...results, ...generation },
    attribute('gen_ai.input.messages', results),
    { from: 'event', event: details, key: 'gen_ai.input.messages', ...results },
    { from: 'indexed', key: 'llm.input_messages', ...results },
    attribute('ai.prompt.messages', results),
    { from: 'indexed', key: 'gen_ai.prompt', ...results },
    { from: 'events', event: 'gen_ai.*.message', ...results, ...notAround },
  ),
}
