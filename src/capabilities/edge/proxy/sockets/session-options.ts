import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Problem } from '../../../../kernel/problem.ts'
import type { SocketOwner } from './socket-call.ts'

/** A socket, from the switch of its protocol to its end. */
export type SocketSessionOptions = SocketOwner & {
  client: Socket
  /** The connection to the provider. */
  upstream: Duplex
  /** Decides whether a message may go on. */
  admit: (message: { isCall: boolean }) => Verdict | Promise<Verdict>
  onEnd: () => void
}

/** The refusal of a message; undefined when it goes on. */
export type Verdict = Problem | undefined
