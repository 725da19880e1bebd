import { connect, type OutgoingHttpHeaders } from 'node:http2'

/** One HTTP/2 stream on its own connection, whose bytes a test writes itself. */
export type GrpcStream = AsyncDisposable & {
  write(bytes: Buffer): void
  end(bytes?: Buffer): void
  /** Cancels the call by RST_STREAM only. */
  cancel(): void
  /** Headers and trailers of the answer, complete when the stream is closed. */
  answer: Promise<Record<string, unknown>>
  /** The code with which the stream was closed. */
  rst_code: Promise<number>
  /** Settings that the server announced. */
  settings: Promise<{ maxConcurrentStreams?: number | undefined }>
  /** Resolves at the next PING of the server, and at its GOAWAY with the code. */
  ping: Promise<unknown>
  goaway: Promise<number>
}

/** Opens a stream to the Export of traces, with a key; `headers` override the defaults. */
export function openGrpcStream(address: string, headers: OutgoingHttpHeaders = {}): GrpcStream {
  // Node's client sends no more than 64 KiB of headers by default.
  const session = connect(`http://${address}`, { maxSendHeaderBlockLength: 1_000_000 })
  session.on('error', () => undefined)
  const stream = session.request({
    ':method': 'POST',
    ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-api-key': 'lt_writer',
    ...headers,
  })
  const found: Record<string, unknown> = {}
  const note = (more: object) => void Object.assign(found, more)
  const answer = Promise.withResolvers<Record<string, unknown>>()
  const rst = Promise.withResolvers<number>()
  stream
    .on('response', note)
    .on('trailers', note)
    .on('error', () => undefined)
    .on('close', () => {
      answer.resolve(found)
      rst.resolve(stream.rstCode ?? 0)
    })
  stream.resume()
  return {
    write: (bytes) => void stream.write(bytes),
    end: (bytes) => void (bytes === undefined ? stream.end() : stream.end(bytes)),
    cancel: () => void stream.destroy(new Error('cancelled')),
    answer: answer.promise,
    rst_code: rst.promise,
    settings: new Promise((resolve) => session.once('remoteSettings', resolve)),
    ping: new Promise((resolve) => session.once('ping', resolve)),
    goaway: new Promise((resolve) => session.once('goaway', resolve)),
    [Symbol.asyncDispose]: async () => {
      session.destroy()
    },
  }
}

/** A gRPC message: compression flag, length, bytes. */
export function grpcFrame(message: Buffer, packed = 0): Buffer {
  const prefix = Buffer.alloc(5)
  prefix[0] = packed
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}
