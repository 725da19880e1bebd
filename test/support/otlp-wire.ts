/**
 * A length-delimited field: a message, text or bytes; parts are joined. Empty fields are written
 * too.
 */
export function lengthFieldOf(field: number, ...parts: (Uint8Array | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  return Buffer.concat([varintOf(field * 8 + 2), varintOf(content.length), content])
}

export function varintFieldOf(field: number, value: number): Buffer {
  return Buffer.concat([varintOf(field * 8), varintOf(value)])
}

function varintOf(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  return Buffer.from([...bytes, rest])
}

export const traceIdBytes = Buffer.from('5b8efff798038103d269b633813fc60c', 'hex')
export const spanIdBytes = Buffer.from('eee19b7ec3c1b174', 'hex')

/** A Span with valid ids and these fields. */
export function spanWith(...fields: Buffer[]): Buffer {
  return Buffer.concat([lengthFieldOf(1, traceIdBytes), lengthFieldOf(2, spanIdBytes), ...fields])
}

/** An ExportTraceServiceRequest of one resource and one scope with these spans. */
export function requestWith(...spans: Buffer[]): Buffer {
  const scopeSpans = spans.map((span) => lengthFieldOf(2, span))
  return lengthFieldOf(1, lengthFieldOf(2, ...scopeSpans))
}

/** A KeyValue whose AnyValue has these bytes. */
export function keyValueOf(key: string | Buffer, value: Buffer): Buffer {
  return Buffer.concat([lengthFieldOf(1, key), lengthFieldOf(2, value)])
}

/** An AnyValue in `depth` nested lists, built from the inside out. */
export function nestedValue(levels: number, inner: Buffer): Buffer {
  const parts = [inner]
  let length = inner.length
  for (let i = 0; i < levels; i++) {
    const list = Buffer.concat([Buffer.from([0x0a]), varintOf(length)])
    const any = Buffer.concat([Buffer.from([0x2a]), varintOf(length + list.length)])
    parts.push(list, any)
    length += list.length + any.length
  }
  return Buffer.concat(parts.toReversed())
}
