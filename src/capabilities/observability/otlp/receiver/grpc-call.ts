import { constants, type Http2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import type { Metadata } from '@grpc/grpc-js'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { ProjectKey } from '../../../access/index.ts'
import { type GrpcStatus, resultOf, statusOf } from './grpc-status.ts'
import { BodyBytes } from './inflight-bytes.ts'
import type { ReceiverServices } from './services.ts'
import { problemOf, rpcCodes } from './status-codes.ts'

/** The part of grpc-js' call that is needed; its errors of its own go through `sendStatus` too. */
export type CallSide = { sendStatus(status: GrpcStatus): void }

/**
 * One gRPC call from its headers to the end of its stream. It counts the bytes as they come,
 * which grpc-js would gather unseen, and ends a call that falls silent.
 */
export class GrpcCall {
  readonly held: BodyBytes
  /** Bytes that came, packed. */
  received = 0
  key: ProjectKey | undefined
  readonly #services: ReceiverServices
  readonly #side: CallSide
  readonly #stream: Http2Stream
  readonly #timer: NodeJS.Timeout
  #result = ''

  /** The call is in `open` until its stream is closed. */
  constructor(services: ReceiverServices, side: CallSide, open: Set<GrpcCall>) {
    const { body_idle_timeout_ms } = services.settings
    const late = () => this.refuse(silent(body_idle_timeout_ms))
    this.held = new BodyBytes(services.inflight)
    this.#services = services
    this.#side = side
    this.#timer = setTimeout(late, body_idle_timeout_ms).unref()
    this.#stream = streamOf(side)
    services.began()
    open.add(this)
    this.#stream.once('close', () => open.delete(this))
    this.#noteStatuses()
    this.#watch(this.#stream)
  }

  /** Says how the call ends; what is said first counts. */
  settle(result: string): void {
    if (this.#result === '') this.#result = result
  }

  /** Ends the call with an error. */
  refuse(fault: Problem): void {
    this.settle(fault.code)
    if (fault.status >= 500) {
      this.#services.quietLog(`OTLP over gRPC: ${fault.code}`, { err: fault.cause ?? fault })
    }
    this.#side.sendStatus(statusOf(fault))
  }

  /** Closes the connection: there is no more time. */
  abandon(): void {
    this.#stream.session?.destroy()
  }

  #watch(stream: Http2Stream): void {
    stream.on('data', (chunk: Buffer) => this.#came(chunk.length))
    stream.once('end', () => clearTimeout(this.#timer))
    stream.once('close', () => this.#close())
  }

  #came(bytes: number): void {
    this.#timer.refresh()
    this.received += bytes
    if (this.#result !== '') return
    try {
      this.held.take(bytes)
    } catch (error) {
      this.refuse(problemOf(error))
    }
  }

  /**
   * grpc-js answers what it can't read by itself, with codes that say too little, and leaves the
   * stream to a client that may go on sending.
   */
  #noteStatuses(): void {
    const send = this.#side.sendStatus.bind(this.#side)
    this.#side.sendStatus = (status) => {
      const { sent, result } = resultOf(status)
      this.settle(this.#stream.aborted ? 'client_gone' : result)
      send(sent)
      if (status.code !== rpcCodes.ok) this.#stream.close(constants.NGHTTP2_NO_ERROR)
    }
  }

  #close(): void {
    clearTimeout(this.#timer)
    this.held.release()
    this.settle('client_gone')
    this.#services.ended({ transport: 'grpc', encoding: 'protobuf', result: this.#result })
  }
}

/** The calls that were let in, by their metadata: all that a handler gets of the call before it. */
export type AdmittedCalls = WeakMap<Metadata, GrpcCall>

/** grpc-js keeps the stream of a call to itself; without it nothing would bound what it gathers. */
function streamOf(side: CallSide): Http2Stream {
  const stream: unknown = Reflect.get(side, 'stream')
  if (!(stream instanceof Duplex)) throw new Error('grpc-js has changed: its calls have no stream')
  return stream as Http2Stream
}

function silent(idle_timeout_ms: number): Problem {
  const detail = `no byte of the request came for ${idle_timeout_ms} ms`
  return problem('request_timeout', { detail })
}
