import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import type { Outcome } from '../../../../model/observation.ts'
import type { ProviderAnswer } from '../call/bodies.ts'
import type { CallTarget } from '../call/call-target.ts'
import type { Ending } from '../contract.ts'
import type { Dialect, Endpoint } from '../formats.ts'

/** A call as its relay sees it: the request to send, and a sink for the answer. */
export type RelayedCall = RelayRequest & RelaySink

/** The client's request, completely read, and the response to write to. */
type RelayRequest = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  readonly target: CallTarget
  readonly headers: { readonly forwarded: string[] }
  readonly body: { readonly whole: Buffer }
  readonly start_ms: number
}

/** Reports of the relay to the call. */
type RelaySink = {
  /** True once the call has an ending. */
  readonly hasEnded: boolean
  /** True once the client's connection is closed. */
  readonly isClosed: boolean
  /** Milliseconds since the call began, with fractions. */
  elapsed_ms(): number
  /** Adds the headers that identify the call to the head of an answer. */
  addIdHeaders(head: string[], hasRequestId: boolean): void
  /** Marks whether the client lags behind, that is, has not taken all written bytes. */
  setBlocked(isBlocked: boolean): void
  /** Detaches the relay once nothing is left to stop at the provider. */
  detachRelay(): void
  /**
   * Sets the ending, records the call, and then sends the last bytes of its answer: in the next turn
   * of the event loop, or once a client that lags behind has caught up. Several sends keep their order.
   */
  finish(ending: Ending, send: () => void): void
  /** Answers with an error of Looptrace. No head may have been sent. */
  fail(outcome: Outcome, fault: Problem): void
}

/** The relay as its call sees it. */
export type CallRelay = {
  readonly answer: ProviderAnswer
  /** Stops the call to the provider at once. */
  abort(): void
  /** Ends an answer that has begun with an error, if its format can carry one. */
  breakOff(fault: Problem): void
}
