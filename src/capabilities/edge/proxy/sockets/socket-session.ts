import { Socket } from 'node:net'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { formatSocketError } from '../call/provider-error.ts'
import { KeyMask } from '../relay/key-mask.ts'
import { AnswerTap } from './answer-tap.ts'
import { ClientMessages, type ClientUnit } from './client-messages.ts'
import { ClientWrites } from './client-writes.ts'
import { type FrameFault, guarded } from './frame-reader.ts'
import { closeCodes, closeFrame, textFrame } from './frames.ts'
import { isCallMessage, MessageHead } from './message-head.ts'
import type { SocketSessionOptions, Verdict } from './session-options.ts'
import { SocketCall } from './socket-call.ts'

/** Time that a side has to take the last bytes before its connection is closed. */
const lastWordsMs = 1_000

/**
 * Passes the frames of a socket both ways, as they came. Messages of the client go on when they are whole and
 * admitted; bytes of the provider go on at once. Each side waits while the other does not read.
 */
export class SocketSession {
  readonly #options: SocketSessionOptions
  readonly #calls: SocketCall[] = []
  readonly #messages: ClientMessages
  readonly #tap: AnswerTap
  readonly #mask: KeyMask | undefined
  readonly #toClient: ClientWrites
  #units: ClientUnit[] = []
  /** Frames of the proxy itself for the client, which wait until the provider's message is whole. */
  #own: Buffer[] = []
  #heldBytes = 0
  #isWaiting = false
  #isLeaving = false
  #isClosing = false
  #hasEnded = false
  /** The end of the calls, once a side has left; also of a call that was being admitted. */
  #endCall: ((call: SocketCall) => void) | undefined

  constructor(options: SocketSessionOptions) {
    this.#options = options
    const { settings } = options.services
    this.#messages = new ClientMessages(settings.body_bytes_max)
    this.#toClient = new ClientWrites(options.client)
    this.#tap = new AnswerTap({
      calls: this.#calls,
      held_bytes_max: settings.capture_response_bytes_max,
      onLastEvent: (call, type) => this.#finish(call, type),
      onClose: () => this.#providerLeft(),
    })
    const { own_key } = options.handshake.target
    if (own_key !== '') this.#mask = new KeyMask(own_key)
  }

  /** Begins to pass frames. */
  start(): void {
    const { client, upstream, services } = this.#options
    services.sockets.add(this)
    client.on('data', (chunk: Buffer) => {
      guarded(
        () => this.#fromClient(chunk),
        (fault) => this.#refuseFrames(fault),
      )
    })
    upstream.on('data', (chunk: Buffer) => {
      guarded(
        () => this.#fromProvider(chunk),
        (fault) => this.#providerBroke(fault),
      )
    })
    client.on('drain', () => this.#resumeProvider())
    upstream.on('drain', () => this.#resumeClient())
    for (const event of ['end', 'close', 'error']) {
      client.on(event, () => {
        this.#clientLeft()
        upstream.end()
      })
      upstream.on(event, () => {
        this.#providerLeft()
        this.#toClient.flush()
        client.end()
      })
    }
    const { idle_timeout_ms } = services.settings
    client.setTimeout(idle_timeout_ms, () => this.#idle())
    if (upstream instanceof Socket) upstream.setTimeout(idle_timeout_ms, () => this.#idle())
  }

  /** Closes the socket once its calls have ended. */
  leave(): void {
    this.#isLeaving = true
    if (this.#calls.length === 0) this.#close(closeCodes.going_away, 'the service stops')
  }

  /** Ends the calls and closes the socket, because the process stops. */
  stop(): void {
    this.#fail(problem('shutting_down', { retry_after_s: 1 }), closeCodes.going_away)
  }

  #refuseFrames({ message, close_code }: FrameFault): void {
    const isTooBig = close_code === closeCodes.too_big
    this.#fail(
      problem(isTooBig ? 'body_too_large' : 'invalid_request', { detail: message }),
      close_code,
    )
  }

  #providerBroke({ message }: FrameFault): void {
    const detail = `the provider ${this.#options.provider} sent invalid frames: ${message}`
    this.#endCalls((call) => call.cut('upstream_cut', problem('provider_cut', { detail })))
    this.#close(closeCodes.protocol_error, 'provider_cut')
  }

  #fromClient(chunk: Buffer): void {
    if (this.#isClosing) return
    const { services } = this.#options
    this.#release(-chunk.length)
    this.#units.push(...this.#messages.take(chunk))
    if (services.bodyBytesInFlight > services.settings.body_bytes_inflight_max) {
      this.#fail(problem('overloaded', { retry_after_s: 1 }), closeCodes.try_later)
    } else this.#forwardUnits()
  }

  #forwardUnits(): void {
    while (!this.#isWaiting && !this.#isClosing) {
      const unit = this.#units.shift()
      if (unit === undefined) return
      if (unit.payload === undefined) this.#forward(unit)
      else this.#judge(unit, unit.payload)
    }
  }

  #judge(unit: ClientUnit, payload: Buffer): void {
    const head = new MessageHead({ wantsStream: payload.includes('"stream_id"') })
    head.push(payload)
    const isCall = isCallMessage(head, payload)
    const { stream_id } = head
    const settle = (verdict: Verdict) => {
      const ended = this.#endCall
      if (ended !== undefined) {
        if (isCall) ended(this.#open({ payload, stream_id }))
      } else if (verdict === undefined) {
        if (isCall) this.#calls.push(this.#open({ payload, stream_id }))
        this.#forward(unit)
      } else this.#refuse(unit, { payload, stream_id }, { verdict, isCall })
    }
    const verdict = this.#options.admit({ isCall })
    if (!(verdict instanceof Promise)) {
      settle(verdict)
      return
    }
    this.#isWaiting = true
    this.#options.client.pause()
    void verdict.then((found) => {
      this.#isWaiting = false
      settle(found)
      this.#forwardUnits()
      this.#resumeClient()
    })
  }

  #open(message: { payload: Buffer; stream_id: string }): SocketCall {
    return new SocketCall(this.#options, message, () => this.stop())
  }

  #forward({ raw, isClose }: ClientUnit): void {
    const { upstream, client } = this.#options
    this.#release(raw.length)
    if (!upstream.write(raw)) client.pause()
    if (isClose) this.#clientLeft()
  }

  /** Answers a message that does not go on with an error event; the call is recorded as refused. */
  #refuse(
    unit: ClientUnit,
    message: { payload: Buffer; stream_id: string },
    { verdict, isCall }: { verdict: Problem; isCall: boolean },
  ): void {
    this.#release(unit.raw.length)
    if (isCall) this.#open(message).cut('refused', verdict)
    this.#send(textFrame(formatSocketError(verdict, message.stream_id)))
  }

  /** Counts bytes of the client that are no longer held. */
  #release(bytes: number): void {
    if (this.#hasEnded) return
    this.#heldBytes -= bytes
    this.#options.services.bodyBytesInFlight -= bytes
  }

  #fromProvider(chunk: Buffer): void {
    if (this.#isClosing) return
    const mask = this.#mask
    this.#pass(mask === undefined ? chunk : mask.push(chunk))
    // An end that may be a start of the key is not held back when it ends a frame.
    if (mask !== undefined && mask.held_bytes > 0 && mask.held_bytes === this.#tap.reader.missing) {
      this.#pass(mask.end())
    }
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0 || this.#isClosing) return
    this.#tap.push(bytes)
    const { boundary } = this.#tap
    if (this.#own.length > 0 && boundary >= 0) {
      this.#toClient.write(bytes.subarray(0, boundary))
      for (const frame of this.#own.splice(0)) this.#toClient.write(frame)
      this.#toClient.write(bytes.subarray(boundary))
    } else this.#toClient.write(bytes)
    const { client, upstream } = this.#options
    if (client.writableNeedDrain) upstream.pause()
    if (this.#isLeaving) this.leave()
  }

  /** Sends a frame of the proxy itself to the client, after the message that the provider is sending. */
  #send(frame: Buffer): void {
    if (this.#tap.reader.isAtBoundary) this.#toClient.write(frame)
    else this.#own.push(frame)
  }

  #resumeProvider(): void {
    this.#options.upstream.resume()
  }

  #resumeClient(): void {
    const { client, upstream } = this.#options
    if (!this.#isWaiting && !upstream.writableNeedDrain) client.resume()
  }

  #finish(call: SocketCall, type: string): void {
    this.#calls.splice(this.#calls.indexOf(call), 1)
    call.finish(type, this.#toClient.hold())
  }

  #clientLeft(): void {
    this.#endCalls((call) => call.clientGone())
    this.#end()
  }

  #providerLeft(): void {
    const { provider } = this.#options
    const detail = `the provider ${provider} closed the connection before the answer was complete`
    const fault = problem('provider_cut', { detail })
    this.#endCalls((call) => call.cut('upstream_cut', fault))
    this.#end()
  }

  /** Ends a socket on which nothing was sent or taken for too long. */
  #idle(): void {
    const { client } = this.#options
    if (client.writableNeedDrain) {
      client.destroy()
      return
    }
    const detail = `the provider ${this.#options.provider} sent nothing within the idle timeout`
    this.#endCalls((call) => call.cut('timeout', problem('provider_timeout', { detail })))
    this.#close(closeCodes.going_away, 'idle')
  }

  /** Ends the calls with an error of the proxy and closes the socket. */
  #fail(fault: Problem, close_code: number): void {
    if (this.#isClosing) return
    const isOurs = fault.code === 'shutting_down'
    this.#endCalls((call) => call.cut(isOurs ? 'upstream_cut' : 'refused', fault))
    if (this.#tap.reader.isAtBoundary) this.#toClient.write(textFrame(formatSocketError(fault, '')))
    this.#close(close_code, fault.code)
  }

  #endCalls(end: (call: SocketCall) => void): void {
    this.#endCall ??= end
    for (const call of this.#calls.splice(0)) end(call)
  }

  /** Sends close frames to both sides, then ends. */
  #close(code: number, reason: string): void {
    if (this.#isClosing) return
    this.#isClosing = true
    const { client, upstream } = this.#options
    this.#toClient.flush()
    if (this.#tap.reader.isAtBoundary) client.write(closeFrame(code, reason, 'server'))
    upstream.write(closeFrame(code, reason, 'client'))
    client.end()
    upstream.end()
    this.#end()
  }

  /** Leaves both sides; one that does not close its connection in time is closed. */
  #end(): void {
    if (this.#hasEnded) return
    this.#release(this.#heldBytes)
    this.#hasEnded = true
    const { client, upstream, services, onEnd } = this.#options
    services.sockets.delete(this)
    const timer = setTimeout(() => {
      client.destroy()
      upstream.destroy()
    }, lastWordsMs)
    timer.unref()
    onEnd()
  }
}
