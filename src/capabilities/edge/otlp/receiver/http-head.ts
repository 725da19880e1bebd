import type { IncomingMessage } from 'node:http'
import { problem } from '../../../../kernel/problem.ts'
import type { OtlpEncoding } from '../decode/answer/export-response.ts'
import type { ExportCredentials } from './admission.ts'
import { overloaded, tooLarge } from './inflight-bytes.ts'
import type { ReceiverServices } from './services.ts'

/** The encoding by the content type, of which parameters are ignored; undefined for any other. */
export function encodingOf({ headers }: IncomingMessage): OtlpEncoding | undefined {
  const type = headers['content-type'] ?? ''
  const end = type.indexOf(';')
  const media = (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
  if (media === 'application/x-protobuf') return 'protobuf'
  return media === 'application/json' ? 'json' : undefined
}

/** Where a project key may stand. */
export function credentialsOf({ headers }: Pick<IncomingMessage, 'headers'>): ExportCredentials {
  const api_key = headers['x-api-key']
  return {
    api_key: typeof api_key === 'string' ? api_key : undefined,
    authorization: headers.authorization,
  }
}

/** Throws `unsupported_media_type`, `body_too_large` or `overloaded` before any byte is read. */
export function checkHead(request: IncomingMessage, services: ReceiverServices): void {
  const { 'content-type': type = '', 'content-length': declared } = request.headers
  if (encodingOf(request) === undefined) {
    const detail = `content type ${quoted(type)}: expected application/x-protobuf or application/json`
    throw problem('unsupported_media_type', { detail })
  }
  const packing = packingOf(request)
  if (packing !== '' && packing !== 'identity' && packing !== 'gzip') {
    const detail = `content encoding ${quoted(packing)}: expected gzip, identity or none`
    throw problem('unsupported_media_type', { detail })
  }
  if (declared === undefined) return
  const { body_bytes_max, inflight_bytes_max } = services.settings
  const length = Number(declared)
  if (length > body_bytes_max) throw tooLarge(body_bytes_max)
  if (services.inflight.held_bytes + length > inflight_bytes_max) throw overloaded()
}

export function isGzip(request: IncomingMessage): boolean {
  return packingOf(request) === 'gzip'
}

function packingOf({ headers }: IncomingMessage): string {
  return (headers['content-encoding'] ?? '').trim().toLowerCase()
}

/** What a client sent, cut, so that an answer does not grow with it. */
export function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 100))
}
