import { newId } from '../../kernel/ids.ts'

const sane = /^[\x21-\x7e]{1,128}$/

/** The client's own X-Request-ID when it is short and printable, else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && sane.test(header) ? header : newId()
}
