import type { AgentSpans, AgentTurn } from './agent-telemetry.ts'
import { plainAttributes } from './otlp-conventions.ts'
import type { PlainSpan } from './otlp-messages.ts'

/** The LangChain callback handlers that send spans. */
export const langGraphListeners = ['langfuse', 'openllmetry', 'openinference'] as const
export type LangGraphListener = (typeof langGraphListeners)[number]

/**
 * The spans of a LangGraph agent that calls a tool in each turn: a node with a model call, a node
 * with a tool, and so on, in the shapes that langfuse 5.0.4,
 * opentelemetry-instrumentation-langchain and openinference-instrumentation-langchain exported for
 * an agent with a scripted model.
 */
export function langGraphSpans(
  listener: LangGraphListener,
  turns: readonly AgentTurn[],
  trace_hex: string,
): AgentSpans {
  const { scope, ...report } = listeners[listener]
  const root = spanId(0)
  const history: Message[] = [{ role: 'user', content: question }]
  const spans: PlainSpan[] = []
  const add = (at: number, parent: string, { name, attributes }: Reported) => {
    spans.push({
      ...{ traceId: trace_hex, spanId: spanId(at), parentSpanId: parent, name, kind: 1 },
      startTimeUnixNano: time(at),
      endTimeUnixNano: time(at + 1),
      attributes: plainAttributes(attributes),
    })
  }
  for (let at = 0; at <= turns.length; at++) {
    const turn = turns[at]
    const node = at * 4 + 1
    add(node, root, report.node('model', at))
    const said: Message = { role: 'assistant', content: turn ? '' : answer }
    if (turn !== undefined) said.calls = [{ ...turn, id: callId(at) }]
    add(node + 1, spanId(node), report.chat([...history], said))
    history.push(said)
    if (turn === undefined) continue
    add(node + 2, root, report.node('tools', at))
    add(node + 3, spanId(node + 2), report.tool({ ...turn, id: callId(at) }, at))
    history.push({ role: 'tool', content: turn.result, tool_call_id: callId(at) })
  }
  spans.push({ ...spans[0], ...rootSpan(trace_hex, report.root()) })
  return { scope, spans }
}

type Call = AgentTurn & { id: string }
type Message = {
  role: 'user' | 'assistant' | 'tool'
  content: string
  calls?: Call[]
  tool_call_id?: string
}
type Reported = { name: string; attributes: Record<string, string | number> }
type Listener = {
  scope: string
  root(): Reported
  node(name: string, at: number): Reported
  chat(asked: readonly Message[], said: Message): Reported
  tool(call: Call, at: number): Reported
}

const question = 'Which orders of C-1042 are open?'
const answer = 'There are no open orders.'
const model = 'gpt-5-mini-2025-08-07'
const start_ms = 1_790_000_000_000
const json = JSON.stringify

function time(at: number): string {
  return `${start_ms + at * 100}000000`
}

function spanId(number: number): string {
  return (0xb000 + number).toString(16).padStart(16, '0')
}

/** Some providers' ids do not look like ids. */
function callId(at: number): string {
  return `c${at}`
}

function rootSpan(traceId: string, { name, attributes }: Reported): PlainSpan {
  return {
    ...{ traceId, spanId: spanId(0), parentSpanId: '', name, kind: 1 },
    startTimeUnixNano: time(0),
    endTimeUnixNano: time(1_000),
    attributes: plainAttributes(attributes),
  }
}

function inLangChain({ name, input, id }: Call) {
  return { name, args: input, id, type: 'tool_call' }
}

/** A result in LangChain's format. */
function toolMessage({ name, result, id }: Call) {
  const about = { additional_kwargs: {}, response_metadata: {}, type: 'tool', name, id: null }
  return { content: result, ...about, tool_call_id: id, artifact: null, status: 'success' }
}

/** Facts about a run that callbacks get; they differ each time. */
function callbackAbout(at: number) {
  return {
    tags: [`seq:step:${at}`],
    metadata: {
      langgraph_step: at,
      checkpoint_ns: `tools:926bee5a-26bd-e03b-b0c2-e1cf7c3850${at}0`,
    },
  }
}

const usage = { input: 2_006, output: 300, cached: 1_920, reasoning: 192 }

function langfuseMessage({ role, content, calls, tool_call_id }: Message) {
  const asked = calls && { tool_calls: calls.map(inLangChain) }
  return { role, content, ...asked, ...(tool_call_id && { tool_call_id }) }
}

function langfuseNode(name: string): Reported {
  return { name, attributes: { 'langfuse.observation.type': 'chain' } }
}

const langfuse: Listener = {
  scope: 'langfuse-sdk',
  root: () => langfuseNode('LangGraph'),
  node: (name) => langfuseNode(name),
  chat: (asked, said) => ({
    name: 'ChatOpenAI',
    attributes: {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.model.name': model,
      'langfuse.observation.input': json(asked.map(langfuseMessage)),
      'langfuse.observation.output': json(langfuseMessage(said)),
      'langfuse.observation.usage_details': json({
        input: usage.input - usage.cached,
        output: usage.output - usage.reasoning,
        total: usage.input + usage.output,
        input_cache_read: usage.cached,
        output_reasoning: usage.reasoning,
      }),
    },
  }),
  tool: (call) => ({
    name: call.name,
    attributes: {
      'langfuse.observation.type': 'tool',
      'langfuse.observation.input': json(call.input),
      'langfuse.observation.output': json(toolMessage(call)),
    },
  }),
}

function inParts({ role, content, calls, tool_call_id }: Message) {
  const said = { type: 'text', content }
  const answered = { type: 'tool_call_response', id: tool_call_id, response: content }
  const asked = calls?.map(({ id, name, input }) => ({
    ...{ type: 'tool_call', id, name, arguments: input },
  }))
  return { role, parts: role === 'tool' ? [answered] : (asked ?? [said]) }
}

const openllmetry: Listener = {
  scope: 'opentelemetry.instrumentation.langchain',
  root: () => ({
    name: 'LangGraph.workflow',
    attributes: { 'traceloop.span.kind': 'workflow', 'traceloop.workflow.name': 'LangGraph' },
  }),
  node: (name, at) => ({
    name: `execute_task ${name}`,
    attributes: {
      'traceloop.workflow.name': 'LangGraph',
      'traceloop.span.kind': 'task',
      'gen_ai.provider.name': 'langgraph',
      'gen_ai.operation.name': 'execute_task',
      'gen_ai.task.name': name,
      'gen_ai.task.id': `01a2035a-0a6a-7171-aba2-ed0405fbc${name.length}0${at}`,
      'gen_ai.task.input': json({ inputs: {}, ...callbackAbout(at) }),
    },
  }),
  chat: (asked, said) => ({
    name: 'ChatOpenAI.chat',
    attributes: {
      'traceloop.workflow.name': 'LangGraph',
      'gen_ai.provider.name': 'langchain',
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.response.model': model,
      'gen_ai.input.messages': json(asked.map(inParts)),
      'gen_ai.output.messages': json([inParts(said)]),
      'gen_ai.usage.input_tokens': usage.input,
      'gen_ai.usage.output_tokens': usage.output,
      'gen_ai.usage.total_tokens': usage.input + usage.output,
      'gen_ai.usage.cache_read.input_tokens': usage.cached,
    },
  }),
  tool: (call, at) => {
    const given = { inputs: call.input, kwargs: { color: 'green', tool_call_id: call.id } }
    const started = { input_str: json(call.input), ...callbackAbout(at), ...given }
    const id = ['langchain', 'schema', 'messages', 'ToolMessage']
    const message = { lc: 1, type: 'constructor', id, kwargs: toolMessage(call) }
    const ended = { output: message, kwargs: { ...callbackAbout(at), name: call.name } }
    return {
      name: `execute_tool ${call.name}`,
      attributes: {
        'traceloop.span.kind': 'tool',
        'traceloop.entity.name': call.name,
        'traceloop.entity.input': json(started),
        'traceloop.entity.output': json(ended),
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.provider.name': 'langgraph',
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.call.arguments': json(started),
        'gen_ai.tool.call.result': json(ended),
      },
    }
  },
}

function numbered(prefix: string, messages: readonly Message[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [at, { role, content, calls = [], tool_call_id }] of messages.entries()) {
    const key = `${prefix}.${at}.message`
    found[`${key}.role`] = role
    if (content !== '') found[`${key}.content`] = content
    if (tool_call_id) found[`${key}.tool_call_id`] = tool_call_id
    for (const [n, { id, name, input }] of calls.entries()) {
      found[`${key}.tool_calls.${n}.tool_call.id`] = id
      found[`${key}.tool_calls.${n}.tool_call.function.name`] = name
      found[`${key}.tool_calls.${n}.tool_call.function.arguments`] = json(input)
    }
  }
  return found
}

const openinference: Listener = {
  scope: 'openinference.instrumentation.langchain',
  root: () => ({ name: 'LangGraph', attributes: { 'openinference.span.kind': 'CHAIN' } }),
  node: (name) => ({ name, attributes: { 'openinference.span.kind': 'CHAIN' } }),
  chat: (asked, said) => ({
    name: 'ChatOpenAI',
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.provider': 'openai',
      'llm.model_name': model,
      ...numbered('llm.input_messages', asked),
      ...numbered('llm.output_messages', [said]),
      'llm.token_count.prompt': usage.input,
      'llm.token_count.completion': usage.output,
      'llm.token_count.total': usage.input + usage.output,
      'llm.token_count.prompt_details.cache_read': usage.cached,
      'llm.token_count.completion_details.reasoning': usage.reasoning,
    },
  }),
  tool: (call) => ({
    name: call.name,
    attributes: {
      'openinference.span.kind': 'TOOL',
      'tool.name': call.name,
      'input.value': json(call.input),
      'output.value': json({ type: 'tool', data: toolMessage(call) }),
    },
  }),
}

const listeners: Record<LangGraphListener, Listener> = { langfuse, openllmetry, openinference }
