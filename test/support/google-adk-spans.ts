import type { ConventionSpan } from './otlp-conventions.ts'

const json = JSON.stringify
const called = { id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' }

/** Spans of Google's Agent Development Kit. */
export const googleAdkSpans: readonly ConventionSpan[] = [
  {
    convention: 'Google ADK: a model call',
    scope: 'gcp.vertex.agent',
    span: 'call_llm',
    attributes: {
      'gen_ai.system': 'gcp.vertex.agent',
      'gen_ai.request.model': 'gemini-2.5-flash',
      'gcp.vertex.agent.session_id': 'chat 7',
      'gcp.vertex.agent.llm_request': json({ model: 'gemini-2.5-flash', contents: [] }),
      'gcp.vertex.agent.llm_response': json({ content: { parts: [{ text: '7 °C' }] } }),
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.response.finish_reasons': ['stop'],
    },
    row: {
      type: 'generation',
      provider: 'gemini',
      model_requested: 'gemini-2.5-flash',
      conversation_external_id: 'chat 7',
      input: json({ model: 'gemini-2.5-flash', contents: [] }),
      output: json({ content: { parts: [{ text: '7 °C' }] } }),
      input_uncached_tokens: 30,
      finish_reason: 'stop',
    },
  },
  {
    convention: 'Google ADK: a tool, whose call of a model is empty',
    scope: 'gcp.vertex.agent',
    span: 'execute_tool weather',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'call_1',
      'gcp.vertex.agent.llm_request': '{}',
      'gcp.vertex.agent.llm_response': '{}',
      'gcp.vertex.agent.tool_call_args': '{"city":"Zürich"}',
      'gcp.vertex.agent.tool_response': '{"celsius":7}',
    },
    row: {
      type: 'tool',
      tool_calls: [called],
      tool_results: [{ tool_call_id: 'call_1', content: '{"celsius":7}' }],
    },
  },
  {
    convention: 'Google ADK to 2.2: thoughts come on top of the output',
    scope: 'gcp.vertex.agent',
    span: 'generate_content gemini-2.5-flash',
    attributes: {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.system': 'gcp.vertex.agent',
      'gen_ai.request.model': 'gemini-2.5-flash',
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 400,
      'gen_ai.usage.experimental.reasoning_tokens': 150,
    },
    row: { output_visible_tokens: 400, reasoning_tokens: 150 },
  },
  {
    convention: 'Google ADK from 2.3: thoughts are a part of the output',
    scope: 'gcp.vertex.agent',
    span: 'generate_content gemini-2.5-flash',
    attributes: {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.system': 'gcp.vertex.agent',
      'gen_ai.request.model': 'gemini-2.5-flash',
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 550,
      'gen_ai.usage.reasoning.output_tokens': 150,
    },
    row: { output_visible_tokens: 400, reasoning_tokens: 150 },
  },
  {
    convention: 'Google ADK: the results of parallel tools once more, which is no tool',
    scope: 'gcp.vertex.agent',
    span: 'execute_tool (merged)',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': '(merged tools)',
      'gen_ai.tool.call.id': '1f0c3a52-9e37-4c1c-8a55-0c7f3f0f2a11',
      'gcp.vertex.agent.tool_call_args': 'N/A',
      'gcp.vertex.agent.tool_response': json([{ id: 'call_1', name: 'weather', response: {} }]),
    },
    row: { type: 'span', tool_calls: [] },
  },
]
