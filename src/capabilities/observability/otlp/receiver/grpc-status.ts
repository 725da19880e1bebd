import { Metadata } from '@grpc/grpc-js'
import type { Problem } from '../../../../kernel/problem.ts'
import { encodeStatus } from '../decode/answer/status.ts'
import { messageOf, retryAfter_s, rpcCodeOf, rpcCodes } from './status-codes.ts'

/** How a call ends, as grpc-js takes it. */
export type GrpcStatus = { code: number; details: string; metadata?: Metadata | null }

/** An error as gRPC tells it: with RetryInfo in its details where the call may be repeated. */
export function statusOf(fault: Problem): GrpcStatus & { metadata: Metadata } {
  const code = rpcCodeOf(fault)
  const details = messageOf(fault)
  const metadata = new Metadata()
  const retry_s = retryAfter_s(fault)
  if (retry_s !== undefined) {
    const status = { code, message: details, retry_delay_ms: retry_s * 1000 }
    metadata.set('grpc-status-details-bin', encodeStatus('protobuf', status))
  }
  return { code, details, metadata }
}

/**
 * What a status counts as when nothing of ours said so before, and what is sent: grpc-js calls a
 * message that can't be unpacked an internal error, which is the client's.
 */
export function resultOf(status: GrpcStatus): { sent: GrpcStatus; result: string } {
  if (status.code === rpcCodes.internal && status.details === unpackFailure) {
    const details = 'the message is no gzip, or was cut off'
    return {
      sent: { ...status, code: rpcCodes.invalid_argument, details },
      result: 'invalid_request',
    }
  }
  return { sent: status, result: resultsByCode.get(status.code) ?? `grpc_${status.code}` }
}

const unpackFailure = 'Failed to decompress message'

const resultsByCode: ReadonlyMap<number, string> = new Map([
  [rpcCodes.ok, 'ok'],
  [rpcCodes.deadline_exceeded, 'request_timeout'],
  [rpcCodes.resource_exhausted, 'body_too_large'],
  [rpcCodes.unimplemented, 'invalid_request'],
  [rpcCodes.internal, 'internal_error'],
])
