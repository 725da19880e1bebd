import { tracesProtobuf } from '../../test/support/otlp-messages.ts'
import { exportRequest, type SpanShape } from './spans.ts'

/** Returns the body of the next request: new ids, spans that end at `end_ns`. */
export type LiveRequests = (end_ns: bigint) => Buffer

const templates = 8
/** Placeholders for the seed and the times of a template: bytes that its texts do not contain. */
const seedMark = 0x7a5e_9d00
const start_mark = 0x71a2_b3c4_d5e6_f700n
const duration_ns = 840_123_456n

/**
 * Requests with current traces, in protobuf: a few are encoded once, then ids, names of conversations
 * and times are written into their bytes, because encoding costs more than the measured work. So each
 * request has conversations of its own, of at most 32 traces.
 */
export function liveRequests(shape: SpanShape, spans: number): LiveRequests {
  const made = Array.from({ length: templates }, (_, at) => template(shape, spans, at))
  let count = 0
  return (end_ns) => {
    const one = made[count % templates]
    if (one === undefined) throw new Error('no template')
    count += 1
    const body = Buffer.from(one.body)
    for (const at of one.seeds) body.writeUInt32BE(count, at)
    const name = String(count).padStart(one.name_bytes, '0')
    for (const at of one.names) body.write(name, at, 'latin1')
    for (const at of one.starts) body.writeBigUInt64LE(end_ns - duration_ns, at)
    for (const at of one.ends) body.writeBigUInt64LE(end_ns, at)
    return body
  }
}

type Template = {
  body: Buffer
  seeds: number[]
  /** The seed as text, in names of conversations. */
  names: number[]
  name_bytes: number
  starts: number[]
  ends: number[]
}

function template(shape: SpanShape, spans: number, at: number): Template {
  const seed = seedMark + at
  const about = { spans, seed, start_ns_from: start_mark, step_ns: 0n }
  const body = tracesProtobuf(exportRequest(shape, about))
  const seedBytes = Buffer.alloc(4)
  seedBytes.writeUInt32BE(seed)
  const found = {
    body,
    seeds: placesOf(seedBytes, body),
    names: placesOf(Buffer.from(String(seed)), body),
    name_bytes: String(seed).length,
    starts: placesOf(timeBytes(start_mark), body),
    ends: placesOf(timeBytes(start_mark + duration_ns), body),
  }
  if (found.starts.length !== spans || found.ends.length !== spans) {
    throw new Error(`${found.starts.length} times found in ${spans} spans`)
  }
  return found
}

function timeBytes(time_ns: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(time_ns)
  return bytes
}

function placesOf(mark: Buffer, body: Buffer): number[] {
  const places: number[] = []
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + 1)) places.push(at)
  return places
}
