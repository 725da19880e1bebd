import type { AgentSpans, AgentTurn } from './agent-telemetry.ts'
import { plainAttributes } from './otlp-conventions.ts'
import type { PlainEvent, PlainSpan } from './otlp-messages.ts'

/**
 * Telemetry styles of the Strands Agents SDK. `events` is the default of the Python SDK, `latest`
 * its opt-in to the latest GenAI conventions, `attributes` the same without span events.
 * `typescript` is the default of the TypeScript SDK, which names the service as provider and as
 * scope. `early_latest` is the opt-in of releases whose tool spans have no attributes for arguments
 * and result.
 */
export const strandsStyles = [
  'events',
  'latest',
  'attributes',
  'typescript',
  'early_latest',
] as const
export type StrandsStyle = (typeof strandsStyles)[number]

const strandsModel = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'

/**
 * The spans of one run, in the shapes that strands-agents 1.62.0 exported over OTLP with a scripted
 * model: a chat span and a tool span for each turn inside a cycle, one chat that answers, and the
 * agent around all of them.
 */
export function strandsSpans(
  style: StrandsStyle,
  turns: readonly AgentTurn[],
  trace_hex: string,
): AgentSpans {
  const agent = spanId(0)
  const history: Message[] = [{ role: 'user', content: [{ text: question }] }]
  const spans: PlainSpan[] = []
  for (let at = 0; at <= turns.length; at++) {
    const turn = turns[at]
    const asked = [...history]
    const said: Message = { role: 'assistant', content: turn ? calling(turn, at) : [answer] }
    history.push(said)
    const parent = { traceId: trace_hex, parentSpanId: spanId(at * 3 + 1) }
    spans.push({ ...parent, ...chatSpan(style, at, asked, said) })
    let result: Message | undefined
    if (turn !== undefined) {
      result = { role: 'user', content: [{ toolResult: resultOf(turn, at) }] }
      history.push(result)
      spans.push({ ...parent, ...toolSpan(style, at, turn) })
    }
    const cycle = cycleSpan(style, at, { asked, said, result })
    spans.push({ traceId: trace_hex, parentSpanId: agent, ...cycle })
  }
  spans.push({ traceId: trace_hex, ...agentSpan(style, turns.length) })
  return { scope: style === 'typescript' ? service : 'strands.telemetry.tracer', spans }
}

type Block = Record<string, unknown>
type Message = { role: 'user' | 'assistant'; content: Block[] }

const service = 'order-desk'
const question = 'Which orders of C-1042 are open?'
const answer = { text: 'There are no open orders.' }
const start_ms = 1_790_000_000_000
const json = JSON.stringify

function spanId(number: number): string {
  return (0xa000 + number).toString(16).padStart(16, '0')
}

function toolUseId(at: number): string {
  return `tooluse_${at.toString().padStart(4, '0')}AbCdEfGh`
}

function calling({ name, input }: AgentTurn, at: number): Block[] {
  const toolUse = { toolUseId: toolUseId(at), name, input }
  return [{ text: 'Let me look again.' }, { toolUse }]
}

function resultOf({ result, failed }: AgentTurn, at: number) {
  const status = failed ? 'error' : 'success'
  return { toolUseId: toolUseId(at), status, content: [{ text: result }] }
}

function common(style: StrandsStyle, operation: string) {
  const key = isLatest(style) ? 'gen_ai.provider.name' : 'gen_ai.system'
  const provider = style === 'typescript' ? service : 'strands-agents'
  return { 'gen_ai.operation.name': operation, [key]: provider }
}

function isLatest(style: StrandsStyle): boolean {
  return style === 'latest' || style === 'attributes' || style === 'early_latest'
}

/** A span with the content of a style's events, which `attributes` puts on the span itself. */
function spanOf(
  style: StrandsStyle,
  about: { name: string; span: number; from: number; to: number; attributes: object },
  events: readonly (readonly [name: string, attributes: Record<string, string>])[],
): Omit<PlainSpan, 'traceId'> {
  const time = (ms: number) => `${start_ms + ms}000000`
  const isFlat = style === 'attributes'
  const flat = isFlat ? Object.assign({}, ...events.map(([, given]) => given)) : {}
  const spanEvents = events.map(
    ([name, given]): PlainEvent => ({
      name,
      timeUnixNano: time(name === 'gen_ai.choice' ? about.to : about.from),
      attributes: plainAttributes(given),
    }),
  )
  return {
    spanId: spanId(about.span),
    name: about.name,
    kind: 1,
    startTimeUnixNano: time(about.from),
    endTimeUnixNano: time(about.to),
    attributes: plainAttributes({
      'gen_ai.event.start_time': new Date(start_ms + about.from).toISOString(),
      ...about.attributes,
      'session.id': 's-77',
      ...flat,
      'gen_ai.event.end_time': new Date(start_ms + about.to).toISOString(),
    }),
    ...(!isFlat && { events: spanEvents }),
    status: { code: 1 },
  }
}

const details = 'gen_ai.client.inference.operation.details'

function chatSpan(style: StrandsStyle, at: number, asked: readonly Message[], said: Message) {
  const uncached = 800 + 100 * at
  const finish_reason = said.content.length > 1 ? 'tool_use' : 'end_turn'
  const output = [{ role: 'assistant', parts: said.content.map(partOf), finish_reason }]
  const about = {
    ...{ name: 'chat', span: at * 3 + 2, from: at * 1_000 + 10, to: at * 1_000 + 430 },
    attributes: {
      ...common(style, 'chat'),
      'gen_ai.request.model': strandsModel,
      ...usageOf(style, uncached, 60, 512),
      'gen_ai.server.request.duration': 420,
    },
  }
  if (!isLatest(style)) {
    return spanOf(style, about, [
      ['gen_ai.system.message', { content: json([{ text: instructions }]) }],
      ...asked.map(messageEvent),
      ['gen_ai.choice', { finish_reason, message: json(said.content) }],
    ])
  }
  return spanOf(style, about, [
    [details, { 'gen_ai.system_instructions': json([{ type: 'text', content: instructions }]) }],
    [details, { 'gen_ai.input.messages': json(asked.map(inParts)) }],
    [details, { 'gen_ai.output.messages': json(output) }],
  ])
}

const instructions = 'You help with orders.'

/**
 * Totals include cached tokens in the Python SDK; in the TypeScript SDK they exclude them, as in
 * Bedrock.
 */
function usageOf(style: StrandsStyle, uncached: number, output: number, cached: number) {
  const isExclusive = style === 'typescript'
  const input = isExclusive ? uncached : uncached + cached
  return {
    'gen_ai.usage.prompt_tokens': input,
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.completion_tokens': output,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.total_tokens': uncached + cached + output,
    ...(!isExclusive && { 'gen_ai.usage.cache_read.input_tokens': cached }),
    ...(!isLatest(style) && { 'gen_ai.usage.cache_read_input_tokens': cached }),
  }
}

function toolSpan(style: StrandsStyle, at: number, turn: AgentTurn) {
  const { name, input, failed } = turn
  const id = toolUseId(at)
  const { content, status } = resultOf(turn, at)
  const ofTool = {
    ...common(style, 'execute_tool'),
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.status': status,
  }
  const flat = style === 'latest' || style === 'attributes'
  const attributes = {
    ...ofTool,
    ...(flat && { 'gen_ai.tool.call.arguments': json(input) }),
    ...(flat && !failed && { 'gen_ai.tool.call.result': json(content) }),
  }
  const times = { span: at * 3 + 3, from: at * 1_000 + 440, to: at * 1_000 + 460 }
  const about = { name: `execute_tool ${name}`, ...times, attributes }
  const call = { type: 'tool_call', name, id, arguments: input }
  const response = { type: 'tool_call_response', id, response: content }
  const span = isLatest(style)
    ? spanOf(style, about, [
        [details, { 'gen_ai.input.messages': json([{ role: 'tool', parts: [call] }]) }],
        [details, { 'gen_ai.output.messages': json([{ role: 'tool', parts: [response] }]) }],
      ])
    : spanOf(style, about, [
        ['gen_ai.tool.message', { role: 'tool', content: json(input), id }],
        ['gen_ai.choice', { message: json(content), id }],
      ])
  return failed ? { ...span, status: { code: 2, message: turn.result } } : span
}

type Cycle = { asked: readonly Message[]; said: Message; result: Message | undefined }

function cycleSpan(style: StrandsStyle, at: number, { asked, said, result }: Cycle) {
  const isTypeScript = style === 'typescript'
  const name = isTypeScript ? 'execute_agent_loop_cycle' : 'execute_event_loop_cycle'
  const about = {
    ...{ name, span: at * 3 + 1, from: at * 1_000 + 5, to: at * 1_000 + 470 },
    attributes: isTypeScript
      ? { 'agent_loop.cycle_id': `cycle-${at}` }
      : { ...common(style, name), 'event_loop.cycle_id': `cycle-${at}` },
  }
  if (isLatest(style)) {
    const messages = [asked.map(inParts), ...(result ? [[inParts(result)]] : [])]
    const events = messages.map((one) => [details, { 'gen_ai.input.messages': json(one) }] as const)
    return spanOf(style, about, events)
  }
  const choice = { message: json(said.content), 'tool.result': json(result?.content) }
  const hasChoice = result !== undefined && !isTypeScript
  return spanOf(style, about, [
    ...asked.map(messageEvent),
    ...(hasChoice ? [['gen_ai.choice', choice] as const] : []),
  ])
}

function agentSpan(style: StrandsStyle, turns: number) {
  const calls = turns + 1
  const uncached = 800 * calls + (100 * turns * calls) / 2
  const { text } = answer
  const about = {
    ...{ name: 'invoke_agent orders', span: 0, from: 0, to: calls * 1_000 },
    attributes: {
      ...common(style, 'invoke_agent'),
      'gen_ai.agent.name': 'orders',
      'gen_ai.request.model': strandsModel,
      'gen_ai.agent.tools': json(['search_orders']),
      ...usageOf(style, uncached, 60 * calls, 512 * calls),
    },
  }
  const asked: Message = { role: 'user', content: [{ text: question }] }
  const finish_reason = 'end_turn'
  if (!isLatest(style)) {
    return spanOf(style, about, [
      messageEvent(asked),
      ['gen_ai.choice', { message: `${text}\n`, finish_reason }],
    ])
  }
  const parts = [{ type: 'text', content: `${text}\n` }]
  return spanOf(style, about, [
    [details, { 'gen_ai.input.messages': json([inParts(asked)]) }],
    [details, { 'gen_ai.output.messages': json([{ role: 'assistant', parts, finish_reason }]) }],
  ])
}

/**
 * A message of history is an event named by its role; results of tools have a separate event name.
 */
function messageEvent({ role, content }: Message): [string, Record<string, string>] {
  const isResult = content.some((block) => 'toolResult' in block)
  return [`gen_ai.${isResult ? 'tool' : role}.message`, { content: json(content) }]
}

function inParts({ role, content }: Message) {
  return { role, parts: content.map(partOf) }
}

function partOf(block: Block): Block {
  if ('text' in block) return { type: 'text', content: block['text'] }
  const use = block['toolUse'] as { toolUseId: string; name: string; input: object } | undefined
  if (use !== undefined) {
    return { type: 'tool_call', name: use.name, id: use.toolUseId, arguments: use.input }
  }
  const result = block['toolResult'] as { toolUseId: string; content: unknown }
  return { type: 'tool_call_response', id: result.toolUseId, response: result.content }
}
