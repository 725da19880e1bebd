import { newId } from '../../kernel/ids.ts'

const sane = /^[\x21-\x7e]{1,128}$/

/** Returns the client's X-Request-ID if it is short and printable, otherwise a new id. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && sane.test(header) ? header : newId()
}
