import { sleep } from '../../../kernel/time.ts'
import { buildAnswer } from './answer.ts'
import type { Dialect } from './dialects.ts'
import type { CompletionRequest } from './request.ts'
import type { ErrorReply, Reply, Step, StreamShape } from './script.ts'
import { type StreamEvent, streamEvents } from './stream-events.ts'
import { wholeAnswer } from './whole-answer.ts'
import { type BodyWriter, bodyWriter, stall, type Wire } from './wire.ts'

type AnswerContext = { dialect: Dialect; seed: number; created_s: number }

/** Answers one request by a step of the script. */
export async function playStep(
  wire: Wire,
  request: CompletionRequest,
  step: Step,
  context: AnswerContext,
): Promise<void> {
  await sleep(step.delay_ms, wire.signal)
  if (wire.signal.aborted) return
  if (step.stall_before_headers) return stall(wire)
  if (step.cut_before_headers) return wire.cut()
  if (step.garbage === 'http') return wire.writeNoHttp('\u0000\u0001 this is not HTTP\r\n\r\n')
  const { reply } = step
  if (reply?.error) return sendError(wire, reply.error, context)
  if (step.garbage === 'body' || reply?.raw) return sendRaw(wire, step, context)
  const answer = buildAnswer(request, reply, context)
  if (request.stream) {
    const events = streamEvents(request, answer, { dialect: context.dialect, shape: step.stream })
    return sendStream(wire, events, step, context)
  }
  const body = wholeAnswer(answer, context.dialect, request.endpoint)
  return sendBody(wire, step, {
    status: 200,
    headers: headersOf(step, context, 'application/json'),
    body: Buffer.from(JSON.stringify(body)),
  })
}

/** Answers with an error in the provider's form, or with the script's own body. */
export async function sendError(
  wire: Wire,
  error: ErrorReply,
  { dialect, seed }: AnswerContext,
): Promise<void> {
  const value = error.body === undefined ? dialect.error(error) : error.body
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  wire.head(error.status, {
    ...dialect.headers(seed),
    'content-type': typeof value === 'string' ? 'text/plain' : 'application/json',
    'content-length': String(body.length),
    ...error.headers,
  })
  await wire.write(body)
  wire.end()
}

type Raw = NonNullable<Reply['raw']>
const garbageBody: Raw = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '/9j/4AAQSkZJRgABAQAAAQABAAD/Pz8/AAECA3siaWQiOg==',
  encoding: 'base64',
}

function sendRaw(wire: Wire, step: Step, context: AnswerContext): Promise<void> {
  const { status, headers, body, encoding } = step.reply?.raw ?? garbageBody
  return sendBody(wire, step, {
    status,
    headers: { ...context.dialect.headers(context.seed), ...headers },
    body: Buffer.from(body, encoding),
  })
}

function headersOf(step: Step, context: AnswerContext, type: string): Record<string, string> {
  return {
    ...context.dialect.headers(context.seed),
    'content-type': type,
    ...(step.gzip && { 'content-encoding': 'gzip' }),
    ...step.reply?.headers,
  }
}

async function sendBody(
  wire: Wire,
  step: Step,
  answer: { status: number; headers: Record<string, string>; body: Buffer },
): Promise<void> {
  const length = step.gzip ? {} : { 'content-length': String(answer.body.length) }
  wire.head(answer.status, { ...length, ...answer.headers })
  const writer = bodyWriter(wire, {
    gzip: step.gzip,
    split_at_every_byte: false,
    cut_after_bytes: step.cut_after_bytes,
    stall_after_bytes: step.stall_after_bytes,
  })
  if (await writer.write(answer.body)) await writer.end()
}

async function sendStream(
  wire: Wire,
  events: Iterable<StreamEvent>,
  step: Step,
  context: AnswerContext,
): Promise<void> {
  const { stream } = step
  wire.head(200, {
    'cache-control': 'no-cache',
    ...headersOf(step, context, 'text/event-stream; charset=utf-8'),
  })
  const writer = bodyWriter(wire, {
    gzip: step.gzip,
    split_at_every_byte: stream.split_at_every_byte,
    cut_after_bytes: stream.cut_after_bytes ?? step.cut_after_bytes,
    stall_after_bytes: step.stall_after_bytes,
  })
  await sleep(stream.first_delay_ms, wire.signal)
  for (let sent = 0; sent < stream.comments; sent += 1) {
    if (!(await writer.write(encodeComment('PROCESSING', stream)))) return
  }
  if (await playEvents(wire, writer, events, step)) await writer.end()
}

/** Writes the events with their delays; false when the answer ended before the last one. */
async function playEvents(
  wire: Wire,
  writer: BodyWriter,
  events: Iterable<StreamEvent>,
  { stream }: Step,
): Promise<boolean> {
  let sent = 0
  for (const event of events) {
    if (await stopsAfter(sent, wire, stream)) return false
    if (sent > 0 && stream.delay_ms > 0) await sleep(stream.delay_ms, wire.signal)
    if (!(await writer.write(encodeEvent(event, stream)))) return false
    sent += 1
  }
  return !(await stopsAfter(sent, wire, stream))
}

async function stopsAfter(sent: number, wire: Wire, stream: Step['stream']): Promise<boolean> {
  if (sent === stream.cut_after_chunks) {
    wire.cut()
    return true
  }
  if (sent !== stream.stall_after_chunks) return false
  await stall(wire)
  return true
}

type Style = Pick<StreamShape, 'crlf' | 'no_space_after_data' | 'multi_line_data'>

/**
 * Encodes one server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 */
function encodeEvent({ event, data }: StreamEvent, style: Style): Buffer {
  const newline = style.crlf ? '\r\n' : '\n'
  const space = style.no_space_after_data ? '' : ' '
  const text = typeof data === 'string' ? data : JSON.stringify(data, null, indentOf(style))
  const lines = text.split('\n').map((line) => `data:${space}${line}`)
  const named = event === undefined ? lines : [`event:${space}${event}`, ...lines]
  return Buffer.from(named.join(newline) + newline + newline)
}

/** Encodes a comment, which servers send to keep a connection open. */
function encodeComment(text: string, style: Style): Buffer {
  const newline = style.crlf ? '\r\n' : '\n'
  return Buffer.from(`: ${text}${newline}${newline}`)
}

function indentOf(style: Style): number {
  return style.multi_line_data ? 1 : 0
}
